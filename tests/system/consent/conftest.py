"""The fixtures of consent's tests, for those that start processes."""

from tests.consent.conftest import grant, hub, vault
from tests.consent.log.conftest import grow, unprotected

__all__ = ["grant", "grow", "hub", "unprotected", "vault"]
