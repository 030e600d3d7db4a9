"""The fixtures of the tools' tests, for those that reach them as hosts do."""

from tests.consent.tools.conftest import _process_forgets, any_host, host, vault

__all__ = ["_process_forgets", "any_host", "host", "vault"]
