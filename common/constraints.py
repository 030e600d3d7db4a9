"""CHECK constraints of models, each by its name and what holds of every row."""

from collections.abc import Iterable

from django.db.models import CheckConstraint, Q


def check(name: str, condition: Q) -> CheckConstraint:
    return CheckConstraint(condition=condition, name=name)


def value_in(name: str, field: str, values: Iterable[str]) -> CheckConstraint:
    return check(name, Q(**{f"{field}__in": [str(value) for value in values]}))


def set_while(name: str, condition: Q, *fields: str) -> CheckConstraint:
    """All of these fields where `condition` holds, and none where it does not."""
    return check(name, (condition & _null(fields, are=False)) | (~condition & _null(fields, are=True)))


def all_or_none(name: str, *fields: str) -> CheckConstraint:
    return check(name, _null(fields, are=True) | _null(fields, are=False))


def _null(fields: Iterable[str], *, are: bool) -> Q:
    return Q(**{f"{field}__isnull": are for field in fields})
