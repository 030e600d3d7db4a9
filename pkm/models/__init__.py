"""What people keep, sealed."""

from pkm.models.blob import Blob
from pkm.models.event import Event, EventKind
from pkm.models.index import Index, Manifest, ManifestPath
from pkm.models.registry import Domain, HiddenScope, RegistryVersion, ScopeEntry, SensitivityTier
from pkm.models.vault import KeyWrapper, VaultKey, VaultStatus, WrapperKind

__all__ = [
    "Blob",
    "Domain",
    "Event",
    "EventKind",
    "HiddenScope",
    "Index",
    "KeyWrapper",
    "Manifest",
    "ManifestPath",
    "RegistryVersion",
    "ScopeEntry",
    "SensitivityTier",
    "VaultKey",
    "VaultStatus",
    "WrapperKind",
]
