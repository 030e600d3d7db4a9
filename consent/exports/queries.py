"""How often a person's data was read, for pages that draw it."""

from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import TruncDate

from accounts.models import User
from consent.exports.models import Read
from consent.grants.models import Grant


def reads_by_day(
    user: User, *, days: int, now: datetime, app_pks: Collection[int] | None = None
) -> dict[int, dict[date, int]]:
    """The key of an app → day (UTC) → how often it read that day, of the last `days`, today included. One query."""
    first = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    reads = Read.objects.filter(grant__user=user, at__gte=first)
    if app_pks is not None:
        reads = reads.filter(grant__app__in=app_pks)
    counted: Any = reads.annotate(day=TruncDate("at", tzinfo=UTC)).order_by().values("grant__app", "day")
    found: dict[int, dict[date, int]] = defaultdict(dict)
    for app_pk, day, count in counted.annotate(count=Count("pk")).values_list("grant__app", "day", "count"):
        found[app_pk][day] = count
    return found


def last_reads(user: User, app_pks: Collection[int]) -> dict[int, datetime]:
    """The key of an app → when it read anything last, of those that ever did. One query."""
    newest = Read.objects.filter(grant=OuterRef("pk")).order_by("-at").values("at")[:1]
    grants = Grant.objects.filter(user=user, app__in=app_pks, reads__gt=0).annotate(newest=Subquery(newest))
    by_app: Any = grants.order_by().values("app").annotate(last=Max("newest"))
    return {app_pk: at for app_pk, at in by_app.values_list("app", "last") if at is not None}
