"""Every record of this room, for Django, which looks for them here; the features keep them."""

from pkm.history.models import Event, Index
from pkm.legacy.models import LegacyBlob, LegacyMetadata, MigrationState
from pkm.notes import VaultNotes
from pkm.registry.models import Domain, HiddenScope, RegistryVersion, ScopeEntry, StarterRecord
from pkm.reset.models import VaultReset
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.vault.models import KeyWrapper, RotationWrapper, VaultKey
