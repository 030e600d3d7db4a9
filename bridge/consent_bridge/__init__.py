"""The client's side of Consent Runtime: everything that holds a key runs here, never on the server."""

__version__ = "0.1.0b1"
