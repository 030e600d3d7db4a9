"""What is asked about apps more than once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Max

from accounts.staff_lists import MOST_COUNTED
from developers.apps.models import App
from developers.signals import Count, apps_counted


@dataclass
class Numbers:
    """What staff see beside an app; `last_call` is by its tokens, to the hour, and `counts` is what other rooms say.

    A count above `most` says only that there are more.
    """

    owner: str = ""
    members: int = 0
    last_call: datetime | None = None
    most: int = MOST_COUNTED
    counts: list[tuple[Count, int]] = field(default_factory=list)


def app_by_id(app_id: str) -> App | None:
    return App.objects.select_related("application").filter(app_id=app_id).first()


def numbers_of(app_pks: Sequence[int], *, most: int = MOST_COUNTED) -> dict[int, Numbers]:
    """The numbers of each of these apps, in a handful of queries for all of them together; no count beyond `most`."""
    found = {app_pk: Numbers(most=most) for app_pk in app_pks}
    rows = App.objects.filter(pk__in=app_pks).order_by()
    for app_pk, members in rows.annotate(number=models.Count("members")).values_list("pk", "number"):
        found[app_pk].members = members
    for app_pk, last_call in rows.annotate(newest=Max("tokens__last_used_at")).values_list("pk", "newest"):
        found[app_pk].last_call = last_call
    owners = rows.filter(members__role="owner").order_by("-members__pk")
    for app_pk, email in owners.values_list("pk", "members__user__email"):
        found[app_pk].owner = email  # the first one last
    answers: list[tuple[Any, Any]] = apps_counted.send(sender=App, app_pks=list(app_pks), most=most) if found else []
    for line in (line for _receiver, lines in answers for line in lines or ()):
        for app_pk, numbers in found.items():
            numbers.counts.append((line, line.by_app.get(app_pk, 0)))
    return found
