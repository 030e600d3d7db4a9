"""The fixtures of the tests of restored databases, for those that take a dump."""

from tests.config.restored.conftest import mirror

__all__ = ["mirror"]
