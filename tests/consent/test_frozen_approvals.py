"""What the vault signed of an export stays as it was kept, by the database's own rule."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from consent.exports.models import Export
from tests.factories import ExportFactory

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
