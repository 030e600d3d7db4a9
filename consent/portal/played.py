"""What a sandbox person sees of the app that plays them, and what the app was told of it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from accounts.models import User
from common.clock import database_now
from common.durations import duration
from consent.grants.models import Grant
from consent.notices.models import Notice, WebhookDelivery
from consent.requests.models import ConsentRequest
from consent.states import LIVE_GRANTS
from developers.apps.models import App
from pkm.registry import labels

_NEWEST = 20
_SHORTER = (300, 3600, 86400)


@dataclass(frozen=True)
class Waiting:
    """A request that this person has not decided; its values are opened in the browser."""

    request_id: str
    label: str
    purpose: str
    until: datetime
    required: list[str]
    durations: list[tuple[int, str]]  # seconds and their words, the longest first: what was asked for


@dataclass(frozen=True)
class Played:
    waiting: list[Waiting]
    shared: list[Grant]
    notices: list[Notice]

    @property
    def state(self) -> str:
        """Another text whenever anything of it is another: the page looks for that, and shows what is new."""
        told = [(notice.sequence, [sent.status for sent in notice.deliveries.all()]) for notice in self.notices]
        shared = [(grant.grant_id, grant.status, grant.reads) for grant in self.shared]
        seen = repr(([asked.request_id for asked in self.waiting], shared, told))
        return hashlib.sha256(seen.encode()).hexdigest()[:16]


def played_by(of: User, *, app: App) -> Played:
    """Everything between this app and the sandbox person; five queries."""
    now = database_now()
    requests = ConsentRequest.objects.select_related("scope_entry").filter(app=app, user=of).order_by("-pk")
    pending = requests.pending(now)
    grants = Grant.objects.select_related("request__scope_entry").filter(app=app, user=of).order_by("-pk")
    live = [grant for grant in grants.filter(status__in=LIVE_GRANTS)[:_NEWEST] if grant.is_live(now)]
    return Played(
        waiting=[_waiting(request) for request in pending[:_NEWEST]],
        shared=live,
        notices=list(_notices(of, app)[:_NEWEST]),
    )


def _waiting(request: ConsentRequest) -> Waiting:
    asked = request.access_duration
    shorter = [seconds for seconds in _SHORTER if seconds < asked]
    return Waiting(
        request_id=request.request_id,
        label=labels.translated(request.scope_entry.scope_label),
        purpose=request.purpose,
        until=request.expires_at,
        required=request.required_attributes or [],
        durations=[(seconds, duration(seconds)) for seconds in (asked, *reversed(shorter))],
    )


def _notices(of: User, app: App) -> Any:
    """What the app was told, the newest first, with each delivery to its endpoints."""
    deliveries = Prefetch("deliveries", WebhookDelivery.objects.select_related("endpoint").order_by("pk"))
    return Notice.objects.filter(app=app, request__user=of).prefetch_related(deliveries).order_by("-sequence")
