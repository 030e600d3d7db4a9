"""The client's side of Consent Runtime: everything that holds a key runs here, never on the server."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consent_bridge.aio import AsyncClient
    from consent_bridge.client import Client
    from consent_bridge.errors import BadAnswer, BridgeError, Problem, Refused, Unreachable, WaitTimeout
    from consent_bridge.keys import generate_connector_key
    from consent_bridge.owner import Owner

__version__ = "0.1.0b1"
__all__ = [
    "AsyncClient", "BadAnswer", "BridgeError", "Client", "Owner", "Problem", "Refused", "Unreachable", "WaitTimeout",
    "generate_connector_key",
]  # fmt: skip
_FOUND_IN = {"AsyncClient": "aio", "Client": "client", "Owner": "owner", "generate_connector_key": "keys"}


def __getattr__(name: str) -> Any:
    """The names above, each from its module once it is asked for: a webhook's receiver loads no HTTP client."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FOUND_IN.get(name, 'errors')}"), name)
