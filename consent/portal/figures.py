"""What became of an app's requests, for its overview."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q

from common.clock import database_now
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.sandbox.models import SandboxPerson
from consent.states import RequestStatus
from developers.apps.models import App
from developers.tokens.queries import live_tokens

_SPAN = timedelta(days=30)


@dataclass(frozen=True)
class Decisions:
    """Of the last 30 days, but for what stands now: `waiting` requests and `live` grants."""

    asked: int
    approved: int
    denied: int
    waiting: int
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
    """From the app's own requests, grants and reads."""
    now = database_now()
    since = now - _SPAN
    requests = ConsentRequest.objects.filter(app=app).order_by()
    counted = requests.aggregate(
        asked=Count("pk", filter=Q(created_at__gt=since)),
        approved=Count("pk", filter=Q(status=RequestStatus.APPROVED, decided_at__gt=since)),
        denied=Count("pk", filter=Q(status=RequestStatus.DENIED, decided_at__gt=since)),
    )
    return Decisions(
        **counted,
        waiting=requests.pending(now).count(),
        live=Grant.objects.filter(app=app).live(now).count(),
        reads=_reads_of(app, since),
    )


def _reads_of(app: App, since: datetime) -> int:
    # a read cannot be older than its grant, nor younger than the grant's end
    grants = Grant.objects.filter(app=app).filter(Q(ended_at=None) | Q(ended_at__gt=since))
    return Read.objects.filter(grant__in=grants, at__gt=since).count()


def first_steps(app: App) -> list[Step]:
    """In the order in which they are taken; none where all were."""
    requests = ConsentRequest.objects.filter(app=app)
    steps = [
        Step("token", live_tokens().filter(app=app).exists()),
        Step("request", requests.exists()),
        Step("approve", Grant.objects.filter(app=app).exists()),
        Step("read", Grant.objects.filter(app=app, reads__gt=0).exists()),
    ]
    if app.is_test:
        steps.insert(1, Step("person", SandboxPerson.objects.filter(app=app).exists()))
    return [] if all(step.done for step in steps if step.name != "person") else steps
