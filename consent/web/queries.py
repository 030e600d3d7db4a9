"""What the consent app's pages show, from the one who asks: nobody sees a row of someone else."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pkm.scopes
from common.clock import database_now
from consent.decisions.blocked_apps import met_app
from consent.decisions.models import BlockedApp
from consent.errors import UnknownRequest
from consent.exports import policies as export_policies
from consent.grants.models import Grant
from consent.requests import digest as request_digest
from consent.requests.models import ConsentRequest, ConsentRequestQuerySet, RefreshPolicy
from consent.states import Actor, RequestStatus
from consent.web import places
from consent.web.cautions import of_words
from developers.models import App
from pkm.registry import labels
from pkm.segments import queries as segment_queries

if TYPE_CHECKING:
    from accounts.models import User

RECENT = 8
WAITING_SHOWN = 40
_APP = ("app__application", "scope_entry")
_LABEL = "request__scope_entry__scope_label"


def own_requests(user: "User") -> ConsentRequestQuerySet:
    return ConsentRequest.objects.filter(user=user).select_related(*_APP)


def inbox(user: "User", older: str = "") -> dict[str, Any]:
    """What waits, newest first, a page that goes on at `older`, and what was decided lately."""
    now, place = database_now(), places.read(older)
    some = _waiting(user, now, place)
    if not some and place is not None:  # what was there has been decided meanwhile
        place, some = None, _waiting(user, now, None)
    last = some[WAITING_SHOWN - 1] if len(some) > WAITING_SHOWN else None
    decided = own_requests(user).exclude(status=RequestStatus.PENDING).order_by("-decided_at", "-id")
    # what apps took back themselves would push out what this person decided; the history tells of it
    decided = decided.exclude(status=RequestStatus.CANCELLED, decided_by=Actor.APP)
    return {
        "waiting": some[:WAITING_SHOWN],
        "decided": list(decided[:RECENT]) if place is None else [],
        **places.pages(places.place_of(last.created_at, last.pk) if last else None, is_newest=place is None),
    }


def _waiting(user: "User", now: datetime, place: places.Place | None) -> list[ConsentRequest]:
    waiting = places.older(own_requests(user).pending(now), "created_at", place)
    return list(waiting.order_by("-created_at", "-id")[: WAITING_SHOWN + 1])


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
    stays out until they say otherwise. Where the app's words press, or borrow a name, what is required alone is ticked.
    """
    held = segment_queries.held_segments(user)
    present = {f"{domain}.{segment}.{name}" for (domain, segment), names in held.items() for name in names}
    required = set(request.required_attributes or [])
    before = set(older.approved_attributes) if older else None
    unticked = is_beyond_registered(request) or of_words(request) is not None

    def row(attribute: labels.Attribute) -> Asked:
        there = attribute.path in present
        must = attribute.path in required
        new = before is not None and attribute.path not in before
        ticked = must or (there and not (attribute.sensitive or attribute.own or unticked or new))
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


def app_and_person(user: "User", app_id: str) -> dict[str, Any]:
    """An app that this person met, and what is between the two. Raises `UnknownApp`."""
    app_pk = met_app(app_id, user)
    now = database_now()
    live = Grant.objects.live(now).filter(user=user, app_id=app_pk).order_by("-starts_at", "-id")
    waiting = ConsentRequest.objects.pending(now).filter(user=user, app_id=app_pk)
    return {
        "app": App.objects.select_related("application").get(pk=app_pk),
        "blocked": BlockedApp.objects.filter(user=user, app_id=app_pk).first(),
        "live": [
            labels.translated(label) for label in live.order_by("-starts_at", "-id").values_list(_LABEL, flat=True)
        ],
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
