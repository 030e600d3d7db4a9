"""The page of an app's limits, and what is left of each, by the counters that refuse."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count as CountOf
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from common import limits as counters
from common.clock import database_now
from common.durations import duration
from common.limits import Count
from common.text import StrOrPromise
from consent.discovery import directory, unknown_users
from consent.notices.long_polling import most_of_app
from consent.requests.budgets import PENDING_PER_PERSON, REQUESTS_PER_HOUR, REQUESTS_PER_PERSON, hourly_limit
from consent.requests.models import ConsentRequest
from consent.requests.recent import DAY
from developers.apps.models import App, AppMode
from developers.members.models import AppMember
from portal.shell import Tab, app_page, portal_page


@dataclass(frozen=True)
class Usage:
    """A limit in words, and what is used of it.

    `name` is its policy in `RateLimit-Policy`; 0 `allowed` is switched off; `used` is None where each process counts
    for itself, so that no page can say; `resets_in` is seconds, 0 for none.
    """

    name: str
    title: StrOrPromise
    rule: str
    allowed: int
    allowed_words: str = ""
    used: int | None = None
    used_words: str = ""
    resets_in: int = 0
    resets_words: str = ""

    @property
    def left(self) -> int | None:
        return None if self.used is None or not self.allowed else max(0, self.allowed - self.used)

    @property
    def minutes(self) -> int:
        """Until it begins again, rounded up."""
        return -(-self.resets_in // 60)

    @property
    def shown_used(self) -> int:
        """For a meter, which ends at what is allowed; refused tries count too."""
        return min(self.used or 0, self.allowed)


def usage_of(app: App) -> list[Usage]:
    """Every limit of the app, those first that are counted for all processes together."""
    counted = [_budget(app), _unknown_people(app), _searches(app)]
    return [*counted, *_per_person(app), _cooldown(app), _polls(), _streams(app)]


def _budget(app: App) -> Usage:
    found = counters.peek(hourly_limit(app.request_budget), str(app.pk))
    own = app.request_budget is not None
    return Usage(
        REQUESTS_PER_HOUR,
        gettext("New requests an hour"),
        gettext("Staff set this number for this app alone.")
        if own
        else gettext("The same for every app; staff can give an app a number of its own."),
        found.limit.allowed,
        **_counted(found),
    )  # fmt: skip


def _unknown_people(app: App) -> Usage:
    return Usage(
        unknown_users.UNKNOWN_USERS,
        gettext("Unknown people an hour"),
        gettext(
            "Asking about IDs that nobody has. People whom the app asked before are never refused for it. Where a call "
            "says on whose behalf it comes (X-Client-Hint), its misses count for that caller and not here."
        ),
        settings.UNKNOWN_USERS_PER_HOUR,
        **_counted(unknown_users.peek(app.pk, "")),
    )  # fmt: skip


def _searches(app: App) -> Usage:
    found = directory.peek(app.pk)
    return Usage(
        directory.PEOPLE_SEARCHES,
        gettext("Searches of the directory an hour"),
        gettext("Looking for people who let apps find them, a page of the list counting as a search."),
        settings.PEOPLE_SEARCHES_PER_HOUR,
        **_counted(found),
    )


def _counted(found: Count) -> dict[str, Any]:
    if not found.used:
        return {"used": 0, "resets_words": gettext("An hour after the first call")}
    return {"used": found.used, "resets_in": found.resets_in}


def _per_person(app: App) -> list[Usage]:
    requests = ConsentRequest.objects.filter(app=app, withheld=False)
    now = database_now()
    return [
        Usage(
            PENDING_PER_PERSON,
            gettext("Requests that wait for one person"),
            gettext("A new one is refused until the person decides, its time is over, or the app takes one back."),
            settings.PENDING_REQUESTS_PER_PERSON,
            **_most(requests.pending(now), settings.PENDING_REQUESTS_PER_PERSON),
            resets_words=gettext("With each decision"),
        ),
        Usage(
            REQUESTS_PER_PERSON,
            gettext("New requests for one person in 24 hours"),
            gettext("Those that the app took back count too; asking again for the same, while it waits, does not."),
            settings.REQUESTS_PER_PERSON_PER_DAY,
            **_most(requests.filter(created_at__gt=now - DAY), settings.REQUESTS_PER_PERSON_PER_DAY),
            resets_words=gettext("24 hours after each request"),
        ),
    ]


def _most(requests: QuerySet[ConsentRequest], allowed: int) -> dict[str, Any]:
    """The largest number of these for one person, and how many people have reached what is allowed."""
    of_people = list(
        requests.order_by().values("user").annotate(n=CountOf("pk")).order_by("-n").values_list("n", flat=True)[:1000]
    )
    full = sum(1 for n in of_people if allowed and n >= allowed)
    words = gettext("of the person asked most")
    if full:
        words = ngettext("%(n)s person has reached it", "%(n)s people have reached it", full) % {"n": full}
    return {"used": of_people[0] if of_people else 0, "used_words": words}


def _cooldown(app: App) -> Usage:
    seconds = settings.DENIAL_COOLDOWN_SECONDS
    since = database_now() - timedelta(seconds=seconds)
    denied = ConsentRequest.objects.filter(app=app, withheld=False, status="denied", decided_at__gt=since)
    people = denied.values("user").distinct().count()
    words = ngettext("%(n)s person denied just now", "%(n)s people denied just now", people) % {"n": people}
    return Usage(
        "",
        gettext("Pause after a denial"),
        gettext("What a person denied, or a part of it, cannot be asked of them again for this long."),
        seconds,
        allowed_words=duration(seconds) or gettext("No pause"),
        used_words=words if seconds else "",
        resets_words=gettext("After the pause of each denial"),
    )


def _polls() -> Usage:
    more = settings.STATUS_POLL_PER_SECOND
    each = ngettext("then %(n)s a second", "then %(n)s a second", more) % {"n": more}
    return Usage(
        "status-polls",
        gettext("Status polls of one request"),
        gettext("So many at once, %(each)s; with `wait` the answer is held instead, and nothing is counted.")
        % {"each": each},
        settings.STATUS_POLL_BURST if more else 0,
        resets_words=gettext("Continuously"),
    )  # fmt: skip


def _streams(app: App) -> Usage:
    return Usage(
        "streams-and-waits",
        gettext("Open streams and long polls"),
        gettext(
            "Event streams and calls with `wait` or `wait_seconds`, at one time in each server process. Beyond it a "
            "stream is refused and a status is answered at once."
        ),
        most_of_app(is_live=app.mode == AppMode.LIVE),
        resets_words=gettext("When one of them ends"),
    )  # fmt: skip


@require_safe
@app_page(Tab(_("Limits"), "clock"))
def limits(request: HttpRequest, member: AppMember) -> HttpResponse:
    context = {"limits": usage_of(member.app), "body_limit": settings.BODY_LIMIT}
    return portal_page(request, "portal/limits.html", context, member=member)
