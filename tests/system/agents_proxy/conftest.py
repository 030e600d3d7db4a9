"""The fixtures of family B's tests, for those that start processes."""

from tests.agents_proxy.conftest import agents, carrier, crm, destination, received, shop

__all__ = ["agents", "carrier", "crm", "destination", "received", "shop"]
