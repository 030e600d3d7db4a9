"""The overview of an app: its traffic, what people decided, and the first steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from common.clock import database_now
from common.text import StrOrPromise
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.sandbox.models import SandboxPerson
from consent.states import RequestStatus
from developers.apps.models import App
from developers.members.models import AppMember
from developers.request_log import figures
from developers.request_log.figures import Slot, Traffic
from developers.tokens.queries import live_tokens
from portal.shell import Tab, app_page, portal_page

_SPAN = timedelta(days=30)
_WIDTH, _HEIGHT = 600, 120  # of the drawing, without its axes
_GAP = 0.2  # of a column


@dataclass(frozen=True)
class Column:
    """A slot as two bars, the failed part at the foot; places and lengths are units of the drawing."""

    slot: Slot
    x: float
    width: float
    y: float
    height: float
    failed_y: float
    failed_height: float


@dataclass(frozen=True)
class Span:
    """A span of time with its traffic; `unit` is `hours` or `days`."""

    title: StrOrPromise
    unit: str
    traffic: Traffic

    @property
    def most(self) -> int:
        """Calls at the full height of the drawing."""
        return max(slot.calls for slot in self.traffic.slots) or 1

    @property
    def columns(self) -> list[Column]:
        step = _WIDTH / len(self.traffic.slots)
        drawn = []
        for number, slot in enumerate(self.traffic.slots):
            height, failed = (_HEIGHT * part / self.most for part in (slot.calls, slot.failed))
            x, width = step * (number + _GAP / 2), step * (1 - _GAP)
            drawn.append(Column(slot, x, width, _HEIGHT - height, height, _HEIGHT - failed, failed))
        return drawn

    @property
    def failed_share(self) -> int:
        """Per cent of the calls that were refused or failed."""
        return round(100 * self.traffic.failed / self.traffic.calls) if self.traffic.calls else 0


@dataclass(frozen=True)
class Decisions:
    """Of the last 30 days, but for the `pending` requests and `live` grants of now."""

    requested: int
    approved: int
    denied: int
    pending: int
    live: int
    reads: int

    @property
    def approved_share(self) -> int | None:
        """Per cent of what people decided; None where they decided nothing."""
        decided = self.approved + self.denied
        return round(100 * self.approved / decided) if decided else None


@dataclass(frozen=True)
class Step:
    """One of the first steps with an app, and whether it was ever done; `name` says which."""

    name: str
    done: bool


def decisions_of(app: App) -> Decisions:
    """From the app's own requests, grants and reads, as far as it knows of them."""
    now = database_now()
    since = now - _SPAN
    requests = ConsentRequest.objects.filter(app=app, withheld=False).order_by()
    counted = requests.aggregate(
        requested=Count("pk", filter=Q(created_at__gt=since)),
        approved=Count("pk", filter=Q(status=RequestStatus.APPROVED, decided_at__gt=since)),
        denied=Count("pk", filter=Q(status=RequestStatus.DENIED, decided_at__gt=since)),
    )
    return Decisions(
        **counted,
        pending=requests.pending(now).count(),
        live=Grant.objects.filter(app=app).known().live(now).count(),
        reads=_reads_of(app, since),
    )


def _reads_of(app: App, since: datetime) -> int:
    # a read cannot be older than its grant, nor younger than the grant's end
    grants = Grant.objects.filter(app=app).filter(Q(ended_at=None) | Q(ended_at__gt=since))
    return Read.objects.filter(grant__in=grants, at__gt=since).count()


def first_steps(app: App) -> list[Step]:
    """In the order in which they are taken; none where all were."""
    requests = ConsentRequest.objects.filter(app=app, withheld=False)
    steps = [
        Step("token", live_tokens().filter(app=app).exists()),
        Step("request", requests.exists()),
        Step("approve", Grant.objects.filter(app=app).known().exists()),
        Step("read", Grant.objects.filter(app=app, reads__gt=0).exists()),
    ]
    if app.is_test:
        steps.insert(1, Step("person", SandboxPerson.objects.filter(app=app).exists()))
    return [] if all(step.done for step in steps if step.name != "person") else steps


@require_safe
@app_page(Tab(_("Overview"), "monitor"))
def app(request: HttpRequest, member: AppMember) -> HttpResponse:
    now = database_now()
    context = {
        "spans": [
            Span(gettext("Last 24 hours"), "hours", figures.last_day(member.app, now)),
            Span(gettext("Last 30 days"), "days", figures.last_month(member.app, now)),
        ],
        "steps": first_steps(member.app),
        "decisions": decisions_of(member.app),
    }
    return portal_page(request, "portal/app.html", context, member=member)
