"""The sharing ID: an invitation that a person gives out, so that one app may ask them."""
