"""Base64url as JOSE writes it, and EdDSA by the name that every JOSE library knows."""

import base64
from typing import Any

from joserfc.errors import UnsupportedAlgorithmError
from joserfc.jws import JWSRegistry
from typing_extensions import Buffer

ALG = "EdDSA"


class _EdDSA(JWSRegistry):
    """EdDSA alone. RFC 9864's name for the same thing is younger, and joserfc warns of the old one at every use."""

    def get_alg(self, name: str) -> Any:
        if name != ALG:
            raise UnsupportedAlgorithmError(f"Algorithm of '{name}' is not allowed")
        return self.algorithms[name]


EDDSA = _EdDSA()


def base64url(octets: Buffer) -> str:
    """Without padding (RFC 7515, 2)."""
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """The octets; signs of no alphabet are passed over. Raises `ValueError` where the length is none."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
