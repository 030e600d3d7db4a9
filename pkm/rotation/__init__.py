"""The change of a vault's key: everything sealed again in the browser, while the present key goes on to be good."""
