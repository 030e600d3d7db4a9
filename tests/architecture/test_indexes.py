"""Indexes that cost each write and serve no read."""

from typing import Any

from django.apps import apps
from django.db import models

OURS = ("accounts", "pkm", "developers", "consent", "agents_proxy")


def begins(model: Any) -> set[str]:
    """The fields that an index of several columns over all rows begins with."""
    indexes = [index for index in model._meta.indexes if not index.condition]
    unique = [rule for rule in model._meta.constraints if isinstance(rule, models.UniqueConstraint)]
    listed = [rule.fields for rule in (*indexes, *(rule for rule in unique if not rule.condition))]
    return {fields[0].lstrip("-") for fields in listed if len(fields) > 1}


def test_no_foreign_key_has_an_index_that_another_one_begins_with() -> None:
    twice = [
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.local_fields
        if isinstance(field, models.ForeignKey) and not field.unique and field.db_index and field.name in begins(model)
    ]

    assert twice == [], "give these db_index=False"
