"""What was asked, and what the vault signed of it, stays as it was kept, by the database's own rule."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from common.clock import database_now
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
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


APPROVED = [
    (Grant, {"approved_attributes": ["lifestyle.food.diet"]}),
    (Grant, {"starts_at": database_now}),
    (Grant, {"expires_at": database_now}),
    (Grant, {"max_reads": 1_000}),
    (ConsentRequest, {"request_digest": "A" * 43}),
    (ConsentRequest, {"connector_thumbprint": "A" * 43}),
    (ConsentRequest, {"connector_public_key": {"x": "another"}}),
    (ConsentRequest, {"attributes": ["lifestyle.food.diet"]}),
]


@pytest.mark.parametrize(("model", "other"), APPROVED, ids=lambda one: one.__name__ if callable(one) else "+".join(one))
def test_nor_does_what_was_asked_and_approved(export: Any, model: Any, other: dict[str, Any]) -> None:
    changed = {name: value() if callable(value) else value for name, value in other.items()}
    with pytest.raises(IntegrityError, match="what was written once does not change"), transaction.atomic():
        model.objects.update(**changed)
