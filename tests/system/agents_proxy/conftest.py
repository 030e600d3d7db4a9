"""The fixtures of family B's tests, for those that start processes."""

from tests.agents_proxy.conftest import _nobody_called_yet, agents, carrier, crm, destination, received, shop

__all__ = ["_nobody_called_yet", "agents", "carrier", "crm", "destination", "received", "shop"]
