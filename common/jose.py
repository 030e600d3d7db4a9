"""Signing and checking with EdDSA, by the name that every JOSE library knows."""

from typing import Any

from joserfc.errors import UnsupportedAlgorithmError
from joserfc.jws import JWSRegistry

ALG = "EdDSA"


class _EdDSA(JWSRegistry):
    """EdDSA alone. RFC 9864's name for the same thing is younger, and joserfc warns of the old one at every use."""

    def get_alg(self, name: str) -> Any:
        if name != ALG:
            raise UnsupportedAlgorithmError(f"Algorithm of '{name}' is not allowed")
        return self.algorithms[name]


EDDSA = _EdDSA()
