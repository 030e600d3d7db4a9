"""What is asked about an app's calls more than once."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Q, QuerySet

from common.clock import rfc3339
from developers.apps.models import App
from developers.request_log.models import LoggedRequest

FAILED = Q(status__gte=400) | ~Q(code="")  # a tool that refuses answers 200, with the code
_HUNDREDS = {f"{digit}xx": Q(status__gte=digit * 100, status__lt=digit * 100 + 100) for digit in (2, 3, 4, 5)}
_CLASSES = {"failed": FAILED, **_HUNDREDS}
STATUS_CLASSES = tuple(_CLASSES)
_RECENT = 2000  # calls in which routes and codes are looked for that somebody may want to pick


@dataclass(frozen=True)
class Filters:
    """Which calls somebody wants to see; empty is all. `status` is one of STATUS_CLASSES, `route` a beginning.

    `code` is a refusal's or, of calls that have none, the status, as figures.py counts them.
    """

    status: str = ""
    route: str = ""
    code: str = ""
    trace_id: str = ""

    def given(self) -> dict[str, str]:
        """Those that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value}


def calls_of(app: App, filters: Filters = Filters()) -> QuerySet[LoggedRequest]:
    """The calls of this app, newest first."""
    found = LoggedRequest.objects.filter(app=app).order_by("-id")
    if filters.status:
        found = found.filter(_CLASSES[filters.status])
    if filters.route:
        found = found.filter(route__startswith=filters.route)
    if filters.code.isdigit():
        found = found.filter(code="", status=filters.code)
    elif filters.code:
        found = found.filter(code=filters.code)
    if filters.trace_id:
        found = found.filter(trace_id=filters.trace_id)
    return found


def page_of(
    app: App, filters: Filters, *, before: int | None = None, limit: int = 50
) -> tuple[list[LoggedRequest], int | None]:
    """At most `limit` calls, older than the row `before`, if any, and the row that the next page is before."""
    found = calls_of(app, filters)
    if before is not None:
        found = found.filter(pk__lt=before)
    some = list(found[: limit + 1])
    return some[:limit], some[limit - 1].pk if len(some) > limit else None


def newer_than(app: App, filters: Filters, *, after: int, limit: int) -> list[LoggedRequest]:
    """The newest calls, newest first, that came after the row `after`."""
    return list(calls_of(app, filters).filter(pk__gt=after)[:limit])


def newest_of(app: App) -> int:
    """The row of the app's newest call, whatever is filtered; 0 where there is none."""
    newest = LoggedRequest.objects.filter(app=app).order_by("-id").values_list("pk", flat=True).first()
    return newest or 0


def recent_names(app: App) -> tuple[list[str], list[str]]:
    """The routes and the codes of the app's recent calls, for whoever wants to pick one."""
    recent = list(calls_of(app).values_list("route", "code")[:_RECENT])
    return sorted({route for route, _ in recent}), sorted({code for _, code in recent if code})


def log_row(call: LoggedRequest) -> dict[str, Any]:
    """A call as programs are told it."""
    return {
        "at": rfc3339(call.at),
        "method": call.method,
        "route": call.route,
        "status": call.status,
        "code": call.code or None,
        "trace_id": call.trace_id,
        "ms": call.ms,
    }
