"""The rules that a person sets for all apps, and how often each refused one. `recent.py` reads which are on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from django.db import transaction
from django.db.models import F

from accounts.models import User
from common.clock import database_now
from common.problems import Problem
from consent.requests.models import OwnRules

Rule = Literal["only_checked", "weekly"]


def rules_of(user: User) -> OwnRules:
    """Theirs; without a row, none is on."""
    return OwnRules.objects.filter(user=user).first() or OwnRules(user=user)


@transaction.atomic
def save_rules(*, by: User, only_checked: bool, weekly: bool) -> None:
    """Switch the rules on or off; one that stays on goes on counting."""
    OwnRules.objects.get_or_create(user=by)
    row = OwnRules.objects.select_for_update().get(user=by)
    now = database_now()
    if only_checked != (row.only_checked_since is not None):
        row.only_checked_since, row.only_checked_count = (now if only_checked else None), 0
    if weekly != (row.weekly_since is not None):
        row.weekly_since, row.weekly_count = (now if weekly else None), 0
    row.save()


@contextmanager
def counting(user_pk: int) -> Iterator[Callable[[Rule], None]]:
    """Around the transaction that asks this person: yields `note(rule)`, to be called with the rule that refuses.

    After the rollback each noted rule's counter goes up, since an update inside would be undone.
    """
    broken: list[Rule] = []
    try:
        yield broken.append
    except Problem:
        for rule in broken:
            on = OwnRules.objects.filter(user=user_pk, **{f"{rule}_since__isnull": False})
            on.update(**{f"{rule}_count": F(f"{rule}_count") + 1})
        raise
