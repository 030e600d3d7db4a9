"""What people keep, row by row. For somebody with a vault that really opens see `give_vault`."""

from datetime import timedelta

import factory
from django.utils import timezone

from accounts.models import User
from common import encryption
from consent_bridge.sealed import SegmentHeader, generate_recovery_code, generate_vault_key, seal_segment, wrap
from pkm import scopes
from pkm.history.models import Event, EventKind, Index
from pkm.registry.models import Domain, HiddenScope, RegistryVersion, ScopeEntry, StarterRecord
from pkm.reset.models import VaultReset
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.vault.models import KeyWrapper, RotationWrapper, VaultKey, VaultStatus, WrapperKind
from tests.factories.accounts import PersonFactory
from tests.factories.making import makes


class DomainFactory(makes(Domain)):
    domain_key = factory.Sequence(lambda number: f"hobby{number}")
    display_name = factory.Sequence(lambda number: f"Hobby {number}")


class ScopeEntryFactory(makes(ScopeEntry)):
    """The scope of one segment of a domain of its own."""

    domain = factory.SubFactory(DomainFactory)
    scope = factory.LazyAttribute(lambda made: f"attr.{made.domain.domain_key}.now.*")
    scope_label = factory.LazyAttribute(lambda made: f"{made.domain.display_name} now")
    segment_ids = factory.LazyAttribute(lambda made: [f"{made.domain.domain_key}.now"])
    attributes = factory.LazyAttribute(lambda made: [f"{made.domain.domain_key}.now.{name}" for name in ("one", "two")])


class RegistryVersionFactory(makes(RegistryVersion)):
    """The one row that there is; its version is the triggers' to change."""

    class Meta:
        django_get_or_create = ("id",)

    id = 1


class StarterRecordFactory(makes(StarterRecord)):
    """As if the starter list had written a scope once that it does not have any more."""

    key = factory.Sequence(lambda number: f"attr.hobby{number}.*")
    written = factory.LazyFunction(lambda: {"scope_label": "A hobby"})


class HiddenScopeFactory(makes(HiddenScope)):
    user = factory.SubFactory(PersonFactory)
    scope = "attr.lifestyle.food.*"


class VaultKeyFactory(makes(VaultKey)):
    """A vault whose wrappers are still to be made."""

    user = factory.SubFactory(PersonFactory)
    key_id = factory.LazyFunction(lambda: generate_vault_key().key_id)
    vault_status = VaultStatus.ABSENT


def _fresh_way_in(user: User) -> str:
    return encryption.sealed(wrap(generate_vault_key(), "recovery", generate_recovery_code(), user.public_id))


class KeyWrapperFactory(makes(KeyWrapper)):
    """A fresh vault key under a fresh recovery code, as it is kept: encrypted once more."""

    user = factory.SubFactory(PersonFactory)
    wrapper_id = factory.Sequence(lambda number: f"wrp_{number:026d}")
    kind = WrapperKind.RECOVERY
    label = "Recovery code"
    jwe = factory.LazyAttribute(lambda made: _fresh_way_in(made.user))


class RotationWrapperFactory(makes(RotationWrapper)):
    """A way into a vault whose key is changed."""

    vault = factory.SubFactory(VaultKeyFactory)
    wrapper_id = factory.Sequence(lambda number: f"wrp_next{number:022d}")
    kind = WrapperKind.RECOVERY
    label = "Recovery code"
    jwe = factory.LazyAttribute(lambda made: _fresh_way_in(made.vault.user))


class BlobFactory(makes(Blob)):
    """A segment sealed under a vault key that nobody has any more."""

    user = factory.SubFactory(PersonFactory)
    domain = "lifestyle"
    segment_id = "food"
    content_revision = 1
    manifest_revision = 1
    size_bytes = factory.LazyAttribute(lambda made: len(made.ciphertext))

    @factory.lazy_attribute
    def ciphertext(self) -> str:
        key = generate_vault_key()
        header = SegmentHeader(
            kid=key.key_id,
            sub=self.user.public_id,
            domain=self.domain,
            segment_id=self.segment_id,
            content_revision=self.content_revision,
        )
        return seal_segment({"favorite_cuisine": "Thai"}, key.secret, header)


class IndexFactory(makes(Index)):
    """Somebody with one attribute in one segment."""

    user = factory.SubFactory(PersonFactory)
    available_domains = factory.LazyFunction(lambda: ["lifestyle"])
    domain_freshness = factory.LazyFunction(lambda: {"lifestyle": "2026-11-20T10:00:00Z"})
    summary_projection = factory.LazyFunction(lambda: {"lifestyle": {"food": 1}})
    total_attributes = 1


class VaultResetFactory(makes(VaultReset)):
    vault = factory.SubFactory(VaultKeyFactory)
    asked_at = factory.LazyFunction(timezone.now)
    due_at = factory.LazyAttribute(lambda made: made.asked_at + timedelta(days=7))


class ManifestFactory(makes(Manifest)):
    user = factory.SubFactory(PersonFactory)
    domain = "lifestyle"
    manifest_revision = 1
    segment_ids = factory.LazyFunction(lambda: ["food"])
    path_count = 1


class ManifestPathFactory(makes(ManifestPath)):
    manifest = factory.SubFactory(ManifestFactory)
    path = "lifestyle.food.favorite_cuisine"
    segment_id = "food"
    scope_handle = factory.LazyAttribute(lambda made: scopes.handle(f"attr.{made.path}"))
    sensitivity_tier = "standard"
    exposure_eligible = True


class EventFactory(makes(Event)):
    user = factory.SubFactory(PersonFactory)
    sequence = factory.Sequence(lambda number: number + 1)
    kind = EventKind.SEGMENT_WRITTEN
    facts = factory.LazyFunction(lambda: {"domain": "lifestyle", "segment_id": "food", "content_revision": 1})
