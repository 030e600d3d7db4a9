"""The real application, an app's token, and a person whom Node can ask to decide: as for bridge-js."""

from tests.system.bridge_js.conftest import _process_forgets, owner, person, trip

__all__ = ["_process_forgets", "owner", "person", "trip"]
