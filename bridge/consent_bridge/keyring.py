"""The connector keys of one machine: the one that new requests name, and the earlier ones, which older requests named.

Each is a file that only this user can read. Only public halves and thumbprints ever leave this module's callers.
"""

from __future__ import annotations

from pathlib import Path

from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.keys import CURVES, Curve, Jwk, generate_connector_key, thumbprint
from consent_bridge.state import read_key_file, write_private_file

_CURRENT = "connector-key.json"
_EARLIER = "earlier-keys"


class Keyring:
    """The keys in a state directory; `chosen` is a key file of the user's own in place of the one kept there."""

    def __init__(self, directory: Path, chosen: Path | None = None) -> None:
        self.path = chosen or directory / _CURRENT
        self._earlier = directory / _EARLIER

    def current(self) -> Jwk:
        """The key for new requests, made now if there is none yet."""
        if not self.path.exists():
            try:
                write_private_file(self.path, generate_connector_key())
            except Refused:
                # Another process may have made it a moment ago; if not, reading it says what is wrong.
                if not self.path.exists():
                    raise
        return read_key_file(self.path)

    def find(self, fingerprint: str) -> Jwk:
        """The key with this thumbprint, current or earlier."""
        earlier = self._earlier / f"{fingerprint}.json"
        for path in (self.path, earlier):
            if path.exists():
                key = read_key_file(path)
                if thumbprint(key) == fingerprint:
                    return key
        raise KeyRefused("the key that the request named is not on this machine", member="connector_fingerprint")

    def rotate(self, curve: Curve = CURVES[0]) -> tuple[str | None, Jwk]:
        """Make another key the current one: the earlier one's thumbprint, if there was one, and the new key."""
        new, retired = generate_connector_key(curve), None
        if self.path.exists():
            old = read_key_file(self.path)
            retired = thumbprint(old)
            # Kept before it is replaced: what was sealed to it stays readable, whatever happens in between.
            write_private_file(self._earlier / f"{retired}.json", old, force=True)
        write_private_file(self.path, new, force=True)
        return retired, new
