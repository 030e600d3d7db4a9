"""Every rule that the database itself is to hold is there, and refuses; on SQLite and on PostgreSQL alike."""

import itertools
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

import tests.factories as factories
from accounts.rules import RULES as ACCOUNTS_RULES
from agents_proxy.rules import RULES as AGENTS_RULES
from common.sql.triggers import Rule, install_rules
from consent.rules import RULES as CONSENT_RULES
from consent.states import GRANT_MOVES, REQUEST_MOVES, GrantStatus, RequestStatus
from developers.rules import RULES as DEVELOPERS_RULES
from pkm.rules import RULES as PKM_RULES
from tests.database import missing_rules

RULES = [*ACCOUNTS_RULES, *CONSENT_RULES, *DEVELOPERS_RULES, *PKM_RULES, *AGENTS_RULES]
# Of the trigger alone, on a row whose other columns never fit the state that is tried.
OTHER_VALUES: dict[Any, Any] = {
    models.URLField: "https://other.example/",
    models.CharField: "another",
    models.TextField: "another",
    models.JSONField: ["another"],
    models.BooleanField: True,
    models.DateTimeField: datetime(2001, 1, 1, tzinfo=UTC),
    models.PositiveIntegerField: 4242,
    models.PositiveBigIntegerField: 4242,
    models.PositiveSmallIntegerField: 4242,
    models.BinaryField: b"another",
    models.ForeignKey: 4242,
    models.OneToOneField: 4242,
}
FACTORIES = {
    factory._meta.model._meta.db_table: factory
    for factory in vars(factories).values()
    if isinstance(factory, type) and hasattr(factory, "_meta") and hasattr(factory._meta, "model")
}


def model_of(table: str) -> type[models.Model]:
    return next(model for model in apps.get_models() if model._meta.db_table == table)


def refused(rule: Rule) -> Any:
    return pytest.raises(DatabaseError, match=re.escape(rule.message))


def frozen_columns(rule: Rule) -> list[str]:
    return re.findall(r'OLD\."(\w+)" IS DISTINCT', rule.condition)


def other_value(model: type[models.Model], column: str) -> dict[str, Any]:
    field = next(field for field in model._meta.local_fields if field.column == column)
    return {field.attname: OTHER_VALUES[type(field)]}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.trigger)
def test_rule_speaks_of_a_table_that_exists(rule: Rule, db: None) -> None:
    assert rule.table in connection.introspection.table_names()


def test_all_rules_are_installed(db: None) -> None:
    assert missing_rules(connection, RULES) == []


def test_a_rule_that_is_gone_is_noticed_and_comes_back(db: None) -> None:
    rule = RULES[0]
    on = f' ON "{rule.table}"' if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f'DROP TRIGGER "{rule.trigger}"{on}')

    assert missing_rules(connection, RULES) == [rule.trigger]
    install_rules(connection, RULES)
    assert missing_rules(connection, RULES) == []


def test_a_rule_holds_also_while_it_is_installed_again(db: None) -> None:
    """`migrate` runs beside a version that serves."""
    broken = replace(RULES[0], condition="no condition", columns=())

    with pytest.raises(DatabaseError):
        install_rules(connection, [broken])

    assert missing_rules(connection, RULES) == []


KEEPING = [rule for rule in RULES if rule.name in ("frozen", "no_update")]


@pytest.mark.parametrize("rule", KEEPING, ids=lambda rule: rule.trigger)
def test_frozen_columns_and_append_only_rows_are_not_updated(rule: Rule, db: None) -> None:
    model = model_of(rule.table)
    row = model.objects.filter(pk=FACTORIES[rule.table]().pk)
    every = [field.column for field in model._meta.local_fields if not field.primary_key]

    for column in every if rule.name == "no_update" else frozen_columns(rule):
        with refused(rule), transaction.atomic():
            row.update(**other_value(model, column))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.event == "DELETE"], ids=lambda rule: rule.trigger)
def test_append_only_rows_are_not_deleted(rule: Rule, db: None) -> None:
    model = model_of(rule.table)
    row = model.objects.filter(pk=FACTORIES[rule.table]().pk)

    with refused(rule), transaction.atomic():
        row._raw_delete(row.db)
    assert row.count() == 1


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.event == "TRUNCATE"], ids=lambda rule: rule.trigger)
def test_append_only_tables_are_not_truncated(rule: Rule, db: None) -> None:
    FACTORIES[rule.table]()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE" if connection.vendor == "postgresql" else "SELECT 1")

    statement = "TRUNCATE" if connection.vendor == "postgresql" else "DELETE FROM"  # SQLite's way of emptying a table
    with refused(rule), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f'{statement} "{rule.table}"' + (" CASCADE" if statement == "TRUNCATE" else ""))


def test_ciphertext_of_an_export_may_go_but_not_change(db: None) -> None:
    rule = next(rule for rule in RULES if rule.trigger == "consent_exports_ciphertext")
    row = model_of(rule.table).objects.filter(pk=factories.ExportFactory().pk)

    with refused(rule), transaction.atomic():
        row.update(ciphertext="another")
    assert row.update(ciphertext=None) == 1
    with refused(rule), transaction.atomic():
        row.update(ciphertext="another")


def test_a_read_is_chained_once(db: None) -> None:
    rule = next(rule for rule in RULES if rule.trigger == "consent_reads_batch")
    row = model_of(rule.table).objects.filter(pk=factories.ReadFactory().pk)

    assert row.update(batch="first") == 1
    with refused(rule), transaction.atomic():
        row.update(batch="second")


def decided(status: RequestStatus | GrantStatus) -> dict[str, Any]:
    """The columns that a status brings with it, so that only the lifecycle can refuse."""
    moment = datetime(2026, 11, 20, tzinfo=UTC)
    if isinstance(status, RequestStatus):
        open_ = status is RequestStatus.PENDING
        return {"status": status, "decided_at": None if open_ else moment, "decided_by": "" if open_ else "person"}
    live = status in (GrantStatus.ACTIVE, GrantStatus.PAUSED)
    return {"status": status, "ended_at": None if live else moment, "ended_by": "" if live else "person"}


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(RequestStatus, 2)))
def test_a_request_moves_only_as_its_lifecycle_says(old: RequestStatus, new: RequestStatus, db: None) -> None:
    try_move("consent_requests", factories.ConsentRequestFactory(status=old), old, new)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(GrantStatus, 2)))
def test_a_grant_moves_only_as_its_lifecycle_says(old: GrantStatus, new: GrantStatus, db: None) -> None:
    try_move("consent_grants", factories.GrantFactory(status=old), old, new)


MOVES: dict[Any, Any] = {RequestStatus: REQUEST_MOVES, GrantStatus: GRANT_MOVES}


def try_move(table: str, made: models.Model, old: Any, new: Any) -> None:
    row = type(made).objects.filter(pk=made.pk)  # type: ignore[attr-defined]  # every model has it
    if new in MOVES[type(old)][old]:
        assert row.update(**decided(new)) == 1
        return
    rule = next(rule for rule in RULES if rule.trigger == f"{table}_lifecycle")
    with refused(rule), transaction.atomic():
        row.update(**decided(new))
    assert row.get().status == old
