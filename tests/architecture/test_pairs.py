"""What belongs together is tied by the database: walked over every record, so that a new field cannot be forgotten."""

import re
from collections.abc import Iterator

from django.apps import apps
from django.db import models

ROOMS = ("accounts", "pkm", "developers", "consent", "agents_proxy")
# Of a pair: the moment, and who or how. `decided_at` goes with `decided_by`, `reviewed_at` with `reviewer`.
PARTNERS = ("{stem}_by", "{stem}_by_id", "{agent}", "{stem}_reason", "end_reason")


def records() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in ROOMS]


def names_in(condition: models.Q) -> Iterator[str]:
    """The fields that a condition speaks of."""
    for child in condition.children:
        if isinstance(child, models.Q):
            yield from names_in(child)
        elif isinstance(child, tuple):
            yield child[0].split("__")[0]


def checks_of(model: type[models.Model]) -> list[set[str]]:
    return [
        set(names_in(rule.condition)) for rule in model._meta.constraints if isinstance(rule, models.CheckConstraint)
    ]


def pairs_of(model: type[models.Model]) -> Iterator[tuple[str, str]]:
    """Moments that may be absent, with the field that says who or why."""
    fields = {field.name: field for field in model._meta.local_fields}
    for name, field in fields.items():
        if not (name.endswith("_at") and isinstance(field, models.DateTimeField) and field.null):
            continue
        stem = name.removesuffix("_at")
        agent = re.sub(r"ed$", "er", stem)
        for pattern in PARTNERS:
            partner = pattern.format(stem=stem, agent=agent)
            if partner in fields and (partner != "end_reason" or stem == "ended"):
                yield name, partner
    for first in ("first_login_at", "started_at"):
        last = {"first_login_at": "last_login_at", "started_at": "finished_at"}[first]
        if first in fields and last in fields and first == "first_login_at":
            yield first, last


def test_moments_and_their_reasons_are_tied_by_a_check() -> None:
    untied = [
        f"{model._meta.label}: {moment} and {partner}"
        for model in records()
        for moment, partner in pairs_of(model)
        if not any({moment, partner} <= named for named in checks_of(model))
    ]

    assert untied == []


def test_the_walk_finds_the_pairs_that_there_are() -> None:
    found = {f"{model.__name__}.{moment}+{partner}" for model in records() for moment, partner in pairs_of(model)}

    assert {
        "ConsentRequest.decided_at+decided_by",
        "Grant.ended_at+ended_by",
        "Grant.ended_at+end_reason",
        "DeveloperApplication.reviewed_at+reviewer",
        "VaultKey.first_login_at+last_login_at",
    } <= found


def test_every_choice_is_held_by_a_check() -> None:
    """Choices are only a form's rule until the database has them too."""
    loose = [
        f"{model._meta.label}.{field.name}"
        for model in records()
        for field in model._meta.local_fields
        if field.choices and not any(field.name in named for named in checks_of(model))
    ]

    assert loose == []


def test_every_foreign_key_says_what_happens_on_delete() -> None:
    silent = [
        f"{model._meta.label}.{field.name}"
        for model in records()
        for field in model._meta.local_fields
        if isinstance(field, models.ForeignKey) and field.remote_field.on_delete is models.DO_NOTHING
    ]

    assert silent == []
