"""What the vault signed of an export stays as it was kept, by the database's own rule, which a migration brings."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from common.sql.triggers import frozen
from consent.exports.models import Export
from consent.rules import RULES
from tests.factories import ExportFactory

MIGRATION = import_module("consent.migrations.0019_frozen_approvals")
EDITOR = SimpleNamespace(connection=connection)
OTHERS = [
    {"approval": "another", "owner_key": {"x": "another"}},
    {"approval": None, "owner_key": None},
    {"owner_key": {"x": "another"}},
    {"owner_key_reset": True},
    {"approved_attributes": ["lifestyle.food.diet"]},
]


@pytest.fixture
def export(db: None) -> Any:
    made = ExportFactory(approval="signed", owner_key={"x": "theirs"}, approved_attributes=["lifestyle.food.allergies"])
    return Export.objects.filter(pk=made.pk)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: "+".join(other))
def test_what_the_vault_signed_does_not_change(export: Any, other: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="what was written once does not change"), transaction.atomic():
        export.update(**other)
    export.update(ciphertext=None)  # the end of a grant takes nothing else
    assert export.values_list("approval", "owner_key").get() == ("signed", {"x": "theirs"})


def test_a_database_from_before_gets_the_rule_with_the_migration(export: Any) -> None:
    forward = MIGRATION.Migration.operations[0]
    forward.reverse_code(None, EDITOR)
    assert export.update(approval="another") == 1
    forward.code(None, EDITOR)
    with pytest.raises(IntegrityError), transaction.atomic():
        export.update(approval="a third")


def test_the_migration_brings_the_rule_as_it_stands() -> None:
    rule = frozen("consent_exports", [*MIGRATION._COLUMNS, *MIGRATION._SIGNED], erasable=True)
    assert rule in RULES
