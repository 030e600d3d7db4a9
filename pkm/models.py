"""Every record of this room, for Django, which looks for them here; the features keep them."""

from pkm.history.models import Event, Index
from pkm.registry.models import Domain, HiddenScope, RegistryVersion, ScopeEntry, StarterRecord
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.vault.models import KeyWrapper, VaultKey

__all__ = [
    "Blob",
    "Domain",
    "Event",
    "HiddenScope",
    "Index",
    "KeyWrapper",
    "Manifest",
    "ManifestPath",
    "RegistryVersion",
    "ScopeEntry",
    "StarterRecord",
    "VaultKey",
]
