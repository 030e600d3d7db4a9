"""The tools of the tests themselves."""

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models
from factory.django import DjangoModelFactory

import tests.factories as factories
from consent.exports.models import Read
from consent.ledger.models import AuditEntry
from consent_bridge import sealed
from pkm.registry.models import ScopeEntry

ONE_ROW = (factories.RegistryVersionFactory, factories.LogStateFactory, factories.ForgottenReadsFactory)
ROOMS = ("accounts", "pkm", "developers", "consent", "agents_proxy")
FACTORIES = [
    made for made in vars(factories).values() if isinstance(made, type) and issubclass(made, DjangoModelFactory)
]


def records() -> set[type[models.Model]]:
    return {model for model in apps.get_models() if model._meta.app_label in ROOMS}


def test_every_record_has_a_factory() -> None:
    made = {factory._meta.model for factory in FACTORIES}

    assert records() - made == set()


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda factory: factory.__name__)
def test_factory_makes_two_rows_that_the_database_takes(factory: type[DjangoModelFactory], db: None) -> None:
    first, second = factory(), factory()

    first.refresh_from_db()
    assert second.pk == first.pk if factory in ONE_ROW else second.pk != first.pk
    connection.check_constraints()


def test_export_of_a_factory_opens_with_the_requests_key(db: None) -> None:
    export = factories.ExportFactory()
    request = export.grant.request

    content = sealed.open_export_where(export.ciphertext, request.connector, sealed.equal({"sub": request.pairwise_id}))

    assert content.data == {
        "lifestyle": {"food": {"diet_preference": "Thai", "favorite_cuisine": "Thai", "coffee_or_tea": "Thai"}}
    }


def test_vault_of_a_factory_opens_with_its_recovery_code(db: None) -> None:
    from pkm.segments import queries as segment_queries
    from pkm.vault import queries as vault_queries

    vault = factories.give_vault(factories.PersonFactory())

    (wrapper,) = vault_queries.vault_keys(vault.user)["wrappers"]
    (segment,) = segment_queries.sealed_segments(vault.user)
    key = sealed.unwrap(wrapper["jwe"], "recovery", vault.recovery_code, user_id=vault.user.public_id)
    header = sealed.SegmentHeader(key.key_id, vault.user.public_id, "lifestyle", "food", 1)
    assert sealed.open_segment(segment["jwe"], key.secret, header) == vault.segments["lifestyle", "food"]


# In pairs: whichever runs first leaves rows behind that the other must not meet, and takes away what it must find.
@pytest.mark.parametrize("turn", [1, 2])
# both commit, since the flush after them is what is tested
def test_flush_empties_append_only_tables_and_keeps_the_registry(turn: int, transactional_db: None) -> None:
    assert (AuditEntry.objects.count(), Read.objects.count()) == (0, 0)
    assert ScopeEntry.objects.filter(scope="attr.lifestyle.food.*").count() == 1

    factories.AuditEntryFactory()
    factories.ReadFactory()
    ScopeEntry.objects.filter(consent_requests=None).delete()


@pytest.mark.parametrize("turn", [1, 2])
def test_append_only_tables_still_refuse_after_a_flush(turn: int, transactional_db: None) -> None:
    factories.AuditEntryFactory(kept=None)

    with pytest.raises(DatabaseError, match="append-only"):
        AuditEntry.objects.all().delete()
