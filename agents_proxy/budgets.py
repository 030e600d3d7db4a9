"""How many analyses, sendings and messages one person, and one app for all people, may ask for in an hour.

What is under way is bounded apart from this; a budget bounds what can be asked for in a row. It is spent by the
transaction that writes what was asked for, as the last thing that may refuse it: a refusal gives it back.
"""

from enum import StrEnum

from django.conf import settings

from common import limits
from common.limits import Count, Limit

_HOUR = 3600  # seconds


class Budget(StrEnum):
    """What is counted; its value begins the names of the limits and of what `settings.A2A_BUDGETS` has for them."""

    ANALYSES = "analyses"
    ACTIVATIONS = "activations"
    MESSAGES = "messages"


def usage(budget: Budget, *, person_pk: int, app_pk: int | None) -> list[Count]:
    """Where the person stands, and the app where a token of its site asks, without counting."""
    return [limits.peek(limit, key) for limit, key in _limits(budget, person_pk, app_pk)]


def spend(budget: Budget, *, person_pk: int, app_pk: int | None) -> Count | None:
    """Count one; the first limit that is exceeded by it, or None where it may go on.

    What one person asks too often is not counted against the app.
    """
    for limit, key in _limits(budget, person_pk, app_pk):
        found = limits.count(limit, key)
        if found.exceeded:
            return found
    return None


def _limits(budget: Budget, person_pk: int, app_pk: int | None) -> list[tuple[Limit, str]]:
    owners = [("person", person_pk)] if app_pk is None else [("person", person_pk), ("app", app_pk)]
    return [(_limit(budget, who), str(pk)) for who, pk in owners]


def _limit(budget: Budget, who: str) -> Limit:
    allowed = settings.A2A_BUDGETS[f"{budget}_PER_{who}_PER_HOUR".upper()]
    return Limit(f"{budget}-per-{who}", allowed, _HOUR, in_database=True)  # or a refusal would undo no count of Redis
