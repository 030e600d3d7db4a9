"""The directory: whom an app finds among those who let apps find them (contract 1.6).

The names are in plain text and each person typed them to be seen. The limit on searches bounds how fast the directory
can be copied; who is listed may be listed whole, page by page.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.db.models import Q, QuerySet

from accounts.public_profile.queries import listed_profiles
from common import limits
from common.admission.cursors import cursor_of, position_of
from common.limits import Count, Limit
from common.problems import TooManyRequests
from consent.discovery.models import DirectoryFind
from consent.shapes import FoundPeople, FoundPerson
from developers.authentication import AppContext
from developers.members import queries as member_queries

PEOPLE_SEARCHES = "people-searches"
_HOUR = 3600
_SHOWN = ("handle", "display_name", "headline", "location_hint")


def people_found(*, app: AppContext, beginning: str | None, cursor: str | None, limit: int) -> FoundPeople:
    """Those whose handle or name begins so, the longest listed first, and the cursor of the next page."""
    found = _reached(app, beginning)
    if cursor is not None:
        found = found.filter(pk__gt=position_of(cursor))
    rows = list(found.order_by("pk").values_list("pk", "user_id", *_SHOWN)[: limit + 1])
    page = rows[:limit]
    _note_finds(app, [user_pk for _, user_pk, *_ in page])
    people: list[FoundPerson] = [
        {"handle": handle, "display_name": name, "headline": headline, "location_hint": place}
        for _, _, handle, name, headline, place in page
    ]
    return {"people": people, "next_cursor": cursor_of(page[-1][0]) if len(rows) > limit else None}


def _note_finds(app: AppContext, user_pks: list[int]) -> None:
    """Whom an app found sees it in their history, once a day; before the answer, so that no find goes unseen."""
    now = datetime.now(UTC)
    rows = [DirectoryFind(app_id=app.app_pk, user_id=pk, day=now.date(), at=now) for pk in user_pks]
    DirectoryFind.objects.bulk_create(rows, ignore_conflicts=True)


def _reached(app: AppContext, beginning: str | None) -> QuerySet:  # type: ignore[type-arg]  # of another room's record
    """Contract 5.2: to a test app all others do not exist, to a live one no sandbox person; nor who blocked the app."""
    listed = listed_profiles(beginning).exclude(user__blocked_apps__app_id=app.app_pk)
    if app.is_personal:
        return listed.none()
    if not app.is_test:
        return listed.filter(user__sandbox_person__isnull=True)
    agreed = member_queries.agreed_to_tests(app_pk=app.app_pk).values("user")
    return listed.filter(Q(user__sandbox_person__app_id=app.app_pk) | Q(user__in=agreed))


def admit_search(*, app_pk: int) -> Count:
    """Count one search; refuse it where the app made too many."""
    found = limits.count(_limit(), str(app_pk))
    found.require(TooManyRequests)
    return found


def peek(app_pk: int) -> Count:
    """Where the app stands, without counting."""
    return limits.peek(_limit(), str(app_pk))


def _limit() -> Limit:
    return Limit(PEOPLE_SEARCHES, settings.PEOPLE_SEARCHES_PER_HOUR, _HOUR)
