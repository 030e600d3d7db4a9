"""`manage.py verify_restore`: a database that is whole holds, and each kind of fault is found and named."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

import tests.factories as factories
from config.restored.keys import SEALED_COLUMNS
from consent.ledger import receipts
from consent.log import keys
from consent.notices.models import NoticeCounter
from tests.config.restored.command import faults, quick, whole
from tests.consent.verification.world import World
from tests.fresh import signing_key
from tests.test_factories import ONE_ROW

POSTGRESQL = connection.vendor == "postgresql"


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_whole_database_holds_line_by_line(world: World) -> None:
    output = whole()

    parts = [line[10:].partition(":")[0] for line in output.splitlines() if line.startswith("holds")]
    sequences = ["sequences"] if POSTGRESQL else []
    assert parts == [
        "migrations", "constraints", "rules", *sequences, "encryption", "receipts", "log keys", "signer", "mirror",
        "epochs", "notices", "age", "audit", "index",
    ]  # fmt: skip
    assert output.endswith(f"Left out: {'nothing' if POSTGRESQL else 'sequences'}.\n")


def test_what_reads_every_row_can_be_left_out_and_is_said_to_be(world: World) -> None:
    run_unprotected("UPDATE consent_grants SET expires_at = '2099-01-01 00:00:00'")

    assert "left out  audit: run `verify_audit` by itself" in whole(quick=True)
    (found,) = faults()
    assert found.startswith("audit: `verify_audit`: ")


def run_unprotected(statement: str) -> None:
    """As whoever restores can: triggers stand in nobody's way who writes rows of a backup."""
    if POSTGRESQL:
        connection.check_constraints()
        run("SET LOCAL session_replication_role = replica")
        run(statement)
        run("SET LOCAL session_replication_role = DEFAULT")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
    for name, _ in triggers:
        run(f'DROP TRIGGER "{name}"')
    for again in (statement, *(sql for _, sql in triggers)):
        run(again)


def test_nothing_is_written(world: World) -> None:
    before = {model: list(model._base_manager.order_by("pk").values_list()) for model in apps.get_models()}
    whole()
    assert {model: list(model._base_manager.order_by("pk").values_list()) for model in apps.get_models()} == before


# --- schema -----------------------------------------------------------------------------------------------------------


def test_a_migration_that_is_missing_and_one_too_many(db: None) -> None:
    MigrationRecorder(connection).record_unapplied("pkm", "0001_initial")
    MigrationRecorder(connection).record_applied("pkm", "9999_to_come")

    assert quick() == [
        "migrations: pkm.0001_initial is not applied: run `migrate` as the owner of the tables",
        "migrations: pkm.9999_to_come is of another version: start the version that made the backup",
    ]


@pytest.mark.parametrize(
    ("trigger", "table"),
    [
        ("consent_audit_no_update", "consent_audit"),
        ("activations_lifecycle", "activations"),  # each room has its own list
        ("pkm_scope_registry_version" + ("" if POSTGRESQL else "_update"), "pkm_scope_registry"),
    ],
)
def test_a_trigger_that_is_missing(db: None, trigger: str, table: str) -> None:
    run(f"DROP TRIGGER {trigger}" + (f" ON {table}" if POSTGRESQL else ""))

    assert quick() == [f"rules: {trigger} is missing or switched off: run `migrate` as the owner of the tables"]


def test_a_trigger_that_is_switched_off(db: None) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite has no such switch")
    run("ALTER TABLE consent_audit DISABLE TRIGGER consent_audit_no_update")
    assert [each.partition(" is ")[0] for each in quick()] == ["rules: consent_audit_no_update"]


def test_a_function_that_erases_is_missing(db: None) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite has no functions in the database")
    run("DROP FUNCTION erase_vault_rows(bigint)")
    assert [each.partition(" is ")[0] for each in quick()] == ["rules: erase_vault_rows(bigint)"]


def test_an_index_and_a_table_that_are_missing(db: None) -> None:
    run("DROP INDEX webhook_delivery_due")
    run("DROP TABLE hidden_scopes")

    found = [each.partition(" is ")[0] for each in quick()]
    assert "constraints: webhook_deliveries.webhook_delivery_due" in found
    assert "constraints: hidden_scopes" in found


@pytest.mark.parametrize(
    ("table", "constraint", "expected"),
    [
        ("webhook_deliveries", "webhook_delivery_finish_together", "webhook_delivery_finish_together"),
        ("connector_keys", "connector_keys_thumbprint_key", "thumbprint as unique"),
        ("consent_log_leaves", "consent_log_leaves_pkey", "log_index as primary key"),
    ],
)
def test_a_constraint_that_is_missing(db: None, table: str, constraint: str, expected: str) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite's constraints are part of the table and do not go by themselves")
    run(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
    assert [each.partition(" is ")[0] for each in quick()] == [f"constraints: {table}.{expected}"]


def test_a_foreign_key_that_is_missing_or_not_looked_through(world: World) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite's constraints are part of the table and do not go by themselves")
    connection.check_constraints()
    (name,) = foreign_keys("consent_receipts")
    run(f"ALTER TABLE consent_receipts DROP CONSTRAINT {name}")
    assert [each.partition(" is ")[0] for each in quick()] == [
        "constraints: consent_receipts.request_id as foreign key"
    ]
    run(
        f"ALTER TABLE consent_receipts ADD CONSTRAINT {name} FOREIGN KEY (request_id) REFERENCES consent_requests "
        "DEFERRABLE INITIALLY DEFERRED NOT VALID"
    )
    assert [each.partition(" is ")[0] for each in quick()] == [f"constraints: consent_receipts.{name} (not valid)"]


def foreign_keys(table: str) -> list[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
    return [name for name, each in found.items() if each["foreign_key"]]


@pytest.mark.sqlite  # PostgreSQL makes no foreign key over such a row
def test_a_row_that_leads_nowhere(world: World) -> None:
    run("INSERT INTO consent_notice_counters (app_id, sequence) VALUES (424242, 0)")
    (found,) = quick()
    assert found.startswith("constraints: ")
    assert "consent_notice_counters" in found
    run("DELETE FROM consent_notice_counters WHERE app_id = 424242")  # the test's own end looks for it too


def test_a_sequence_that_is_behind(world: World) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite takes the next number from the rows")
    sequence = "consent_audit_id_seq"
    run(f"SELECT setval('{sequence}', 2)")

    (found,) = quick()
    repair = found.partition("run `")[2].removesuffix("`")
    assert found.startswith(f"sequences: {sequence} goes on with 3, and consent_audit has ")
    run(repair)
    whole(quick=True)


def test_tables_of_one_row_take_no_number(world: World) -> None:
    """Those of which the factories make one row: that row is there, whatever its sequence would hand out."""
    for factory in ONE_ROW:
        factory()
    assert "sequences" in whole(quick=True)


def test_a_sequence_that_is_missing(db: None) -> None:
    if not POSTGRESQL:
        pytest.skip("SQLite takes the next number from the rows")
    run("ALTER TABLE consent_audit ALTER COLUMN id DROP IDENTITY")
    (found,) = quick()
    assert found.startswith("sequences: consent_audit.id has none")


# --- keys -------------------------------------------------------------------------------------------------------------


def test_another_encryption_key_is_named_with_the_columns(world: World, settings: Any) -> None:
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    (found,) = quick()
    assert found.startswith("encryption: pkm.KeyWrapper.jwe: ")


def test_the_oldest_rows_are_looked_at_too(world: World, settings: Any) -> None:
    newer = Fernet.generate_key().decode()
    settings.DATA_ENCRYPTION_KEYS = [newer, *settings.DATA_ENCRYPTION_KEYS]
    factories.give_vault(factories.PersonFactory())
    whole(quick=True)
    settings.DATA_ENCRYPTION_KEYS = [newer]
    (found,) = quick()
    assert "are under another key than DATA_ENCRYPTION_KEYS has" in found


@pytest.fixture
def other_receipt_keys(settings: Any) -> Iterator[None]:
    settings.RECEIPT_KEYS = [signing_key()]
    receipts.signing_keys.cache_clear()
    yield
    receipts.signing_keys.cache_clear()


@pytest.fixture
def other_log_keys(settings: Any) -> Iterator[None]:
    settings.LOG_KEYS = [signing_key()]
    keys.signing_keys.cache_clear()
    yield
    keys.signing_keys.cache_clear()


def test_other_receipt_keys(world: World, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("other_receipt_keys")
    found = quick()
    assert found
    assert all(each.startswith("receipts: no key of RECEIPT_KEYS verifies rct_") for each in found)


def test_other_log_keys(world: World, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("other_log_keys")
    assert [each.partition(":")[0] for each in quick()] == ["log keys", "mirror"]


def test_keys_that_are_not_here_are_left_out_and_said_to_be(world: World, settings: Any) -> None:
    public = [str(key) for key in keys.verifier_keys()]
    settings.DATA_ENCRYPTION_KEYS, settings.LOG_KEYS, settings.LOG_MIRROR = [], [], ""
    settings.LOG_VERIFIER_KEYS = public
    Path(settings.LOG_SIGNER_FILE).unlink()
    output = whole(quick=True)
    assert output.endswith("encryption, signer, mirror, audit, index.\n")
    settings.LOG_VERIFIER_KEYS = []
    assert "left out  log keys" in whole(quick=True)


def test_no_column_that_is_encrypted_at_rest_is_forgotten(world: World, settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path
    call_command("sample_data", stdout=StringIO())
    factory_of = {each._meta.model: each for each in vars(factories).values() if hasattr(each, "_meta")}
    assert len(factory_of) > 20
    found = set()
    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if isinstance(field, models.CharField | models.TextField):
                texts = model._base_manager.exclude(**{f"{field.name}__isnull": True}).values_list(
                    field.name, flat=True
                )
                if any(str(text).startswith("gAAAAA") for text in texts):
                    found.add(f"{model._meta.label}.{field.name}")
    assert {"pkm.KeyWrapper.jwe", "agents_proxy.PhoneNumber.number"} <= found
    assert found <= set(SEALED_COLUMNS)


# --- numbers of events, and what cannot be asked ----------------------------------------------------------------------


def test_a_counter_that_is_behind_its_notices(world: World) -> None:
    NoticeCounter.objects.filter(app=world.shop).update(sequence=1)
    NoticeCounter.objects.filter(app=world.stopped.app_id).delete()
    found = quick()
    assert found[0].startswith(f"notices: {world.shop.app_id} counted 1 and has the notice ")
    assert found[1].startswith(f"notices: {world.stopped.app.app_id} counted 0 and has the notice ")


def test_a_table_that_is_gone_fails_its_part_and_the_others_are_looked_at(db: None) -> None:
    run("DROP TABLE consent_notice_counters")
    found = faults()
    assert any(each.startswith("notices: the database cannot answer: ") for each in found)
    assert {each.partition(":")[0] for each in found} <= {"constraints", "notices", "audit", "rules"}
