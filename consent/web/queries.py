"""What the consent app's pages show, from the one who asks: nobody sees a row of someone else."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Max

import pkm.scopes
from common.clock import database_now
from consent.decisions.blocked_apps import met_app
from consent.decisions.models import BlockedApp
from consent.errors import UnknownRequest
from consent.exports import policies as export_policies
from consent.grants.models import Grant
from consent.ledger.models import Receipt
from consent.requests import digest as request_digest
from consent.requests.models import ConsentRequest, ConsentRequestQuerySet, RefreshPolicy
from consent.states import Actor, GrantStatus, RequestStatus
from developers.models import App
from pkm.registry import labels
from pkm.segments import queries as segment_queries

if TYPE_CHECKING:
    from accounts.models import User

RECENT = 8
ENDED_SHOWN = 20
_APP = ("app__application", "scope_entry")


def own_requests(user: "User") -> ConsentRequestQuerySet:
    return ConsentRequest.objects.filter(user=user).select_related(*_APP)


def inbox(user: "User") -> dict[str, Any]:
    """What waits, newest first, and what was decided lately; two queries."""
    now = database_now()
    waiting = own_requests(user).pending(now)
    decided = own_requests(user).exclude(status=RequestStatus.PENDING).order_by("-decided_at", "-id")
    # what apps took back themselves would push out what this person decided; the history tells of it
    decided = decided.exclude(status=RequestStatus.CANCELLED, decided_by=Actor.APP)
    return {"waiting": list(waiting), "decided": list(decided[:RECENT])}


def own_request(user: "User", request_id: str) -> ConsentRequest:
    """Raises `UnknownRequest` for another person's, too."""
    found = own_requests(user).filter(request_id=request_id).first()
    if found is None:
        raise UnknownRequest
    return found


@dataclass(frozen=True)
class Asked:
    """One attribute on the review page, as its row shows it."""

    attribute: labels.Attribute
    required: bool
    held: bool
    ticked: bool
    changed: bool


@dataclass(frozen=True)
class AskedGroup:
    """The asked attributes of one domain."""

    group: labels.Group
    rows: list[Asked]


def asked_groups(request: ConsentRequest, user: "User", older: Grant | None) -> list[AskedGroup]:
    """Every attribute that could be approved, grouped by domain; what is new since `older` is marked.

    Ticked from the start is what is required. Beside it what is there, everyday and not the person's own, provided
    that the app registered for it and, in a renewal, that the person shared it last time: what they left out then
    stays out until they say otherwise.
    """
    held = segment_queries.held_segments(user)
    present = {f"{domain}.{segment}.{name}" for (domain, segment), names in held.items() for name in names}
    required = set(request.required_attributes or [])
    before = set(older.approved_attributes) if older else None
    beyond = is_beyond_registered(request)

    def row(attribute: labels.Attribute) -> Asked:
        there = attribute.path in present
        must = attribute.path in required
        new = before is not None and attribute.path not in before
        ticked = must or (there and not (attribute.sensitive or attribute.own or beyond or new))
        return Asked(attribute, must, there, ticked, new)

    groups = labels.described(_asked_paths(request, present))
    # what can be shared comes first: a phone's first screen has room for three rows
    return [AskedGroup(group, sorted(map(row, group.attributes), key=lambda one: not one.held)) for group in groups]


def _asked_paths(request: ConsentRequest, present: Iterable[str]) -> list[str]:
    """What the app listed; where it listed nothing, its scope's attributes and the person's own in it."""
    listed = [*(request.required_attributes or []), *(request.optional_attributes or [])]
    if request.required_attributes is not None or request.optional_attributes is not None:
        return list(dict.fromkeys(listed))
    scope = pkm.scopes.parse(request.scope)
    own = [path for path in sorted(present) if scope and scope.takes_own_attributes and scope.covers(path)]
    return list(dict.fromkeys([*request.attributes, *own]))


def further_terms(request: ConsentRequest) -> list[tuple[str, str, str]]:
    """(member, its words, its value) of what the app gave beyond the terms that have a place of their own."""
    columns = {field.name: field for field in ConsentRequest._meta.concrete_fields}
    return [
        (name, str(columns[name].verbose_name), str(value)) for name, value in request_digest.later(request).items()
    ]


def is_beyond_registered(request: ConsentRequest) -> bool:
    """Whether the app asks for more than it said it would when it enrolled."""
    wanted = pkm.scopes.parse(request.scope)
    said = [pkm.scopes.parse(scope) for scope in request.app.needed_scopes]
    return wanted is None or not any(scope is not None and scope.covers_scope(wanted) for scope in said)


def grant_of(request: ConsentRequest) -> Grant | None:
    return Grant.objects.filter(request=request).first()


def proof_of(request: ConsentRequest) -> dict[str, Any]:
    """The receipt of what happened last, or that it and the entry in the person's history will follow."""
    if request.pending_entries.exists():
        return {"receipt_id": None, "entry_follows": True}
    newest = request.receipts.order_by("-id").values_list("receipt_id", flat=True).first()
    return {"receipt_id": newest, "entry_follows": False}


@dataclass(frozen=True)
class Shared:
    """One grant on the sharing page; `source_is_gone` where an export to be refreshed has nothing to be made from."""

    grant: Grant
    status: GrantStatus
    groups: list[labels.Group]
    last_read: datetime | None
    sealed_at: datetime | None
    receipt_id: str | None
    source_is_gone: bool

    @property
    def reads_left(self) -> int | None:
        return None if self.grant.max_reads is None else self.grant.max_reads - self.grant.reads


def grants(user: "User") -> dict[str, Any]:
    """What is shared now and what ended lately, newest first, which apps are blocked, and which read several things."""
    now = database_now()
    own = Grant.objects.filter(user=user).select_related("request", "app__application", "request__scope_entry")
    own = own.annotate(last_read=Max("read_log__at"), sealed_at=Max("exports__sealed_at"))
    own = own.order_by("-starts_at", "-id")
    live = list(own.live(now))
    count = Counter(grant.app for grant in live)
    past = own.exclude(pk__in=[grant.pk for grant in live]).order_by("-ended_at", "-id")
    return {
        "has_paused": any(grant.status == GrantStatus.PAUSED for grant in live),
        "live": _shared(live, now, segment_queries.held_segments(user) if live else {}),
        "several": [{"app": app, "count": n} for app, n in count.items() if n > 1],
        "ended": _shared(list(past[:ENDED_SHOWN]), now, {}),
        "blocked": list(BlockedApp.objects.filter(user=user).select_related("app").order_by("app__name", "pk")),
    }


def app_and_person(user: "User", app_id: str) -> dict[str, Any]:
    """An app that this person met, and what is between the two. Raises `UnknownApp`."""
    app_pk = met_app(app_id, user)
    now = database_now()
    live = Grant.objects.live(now).filter(user=user, app_id=app_pk)
    live = live.select_related("request__scope_entry").order_by("-starts_at", "-id")
    waiting = ConsentRequest.objects.pending(now).filter(user=user, app_id=app_pk)
    return {
        "app": App.objects.select_related("application").get(pk=app_pk),
        "blocked": BlockedApp.objects.filter(user=user, app_id=app_pk).first(),
        "live": [labels.translated(grant.request.scope_entry.scope_label) for grant in live],
        "waiting": waiting.count(),
    }


def exports_to_refresh(user: "User") -> list[dict[str, Any]]:
    """Live grants that are refreshed and whose newest export was made from older segments than there are now.

    Each: {"grant_id", "request_id", "app_name", "approved_attributes", "next_revision", "renewed" (in words)}.
    """
    now = database_now()
    refreshed = Grant.objects.live(now).filter(user=user, kept_current=True)
    refreshed = refreshed.filter(request__refresh_policy=RefreshPolicy.CONTINUOUS).select_related("request")
    held = segment_queries.held_segments(user)
    found = []
    for grant in refreshed.order_by("id"):
        newest: Any = grant.exports.order_by("-revision").values("revision", "sources").first() or {}
        sources = export_policies.holding(grant.approved_attributes, held)
        made_from = {(one["domain"], one["segment_id"]): one["content_revision"] for one in newest.get("sources", [])}
        there = segment_queries.current_revisions(user, sources)
        if sources and made_from != there:
            changed = {pair for pair in {*there, *made_from} if there.get(pair) != made_from.get(pair)}
            found.append(
                {
                    "grant_id": grant.grant_id,
                    "request_id": grant.request.request_id,
                    "app_name": grant.request.app_name,
                    "approved_attributes": grant.approved_attributes,
                    "next_revision": newest.get("revision", 0) + 1,
                    "renewed": _in_segments(grant.approved_attributes, changed),
                }
            )
    return found


def _in_segments(paths: list[str], segments: set[tuple[str, str]]) -> list[str]:
    """What these paths are called, of those that lie in these segments."""
    inside = [path for path in paths if tuple(path.split(".")[:2]) in segments]
    return [attribute.label for group in labels.described(inside) for attribute in group.attributes]


def _shared(found: list[Any], now: datetime, held: export_policies.Held) -> list[Shared]:
    receipts = dict(
        Receipt.objects.filter(request__in=[grant.request_id for grant in found])
        .order_by("id")
        .values_list("request_id", "receipt_id")
    )
    return [
        Shared(
            grant,
            grant.standing(now),
            labels.described(grant.approved_attributes),
            grant.last_read,
            grant.sealed_at,
            receipts.get(grant.request_id),
            grant.request.refresh_policy == RefreshPolicy.CONTINUOUS
            and grant.kept_current
            and not export_policies.holding(grant.approved_attributes, held),
        )
        for grant in found
    ]
