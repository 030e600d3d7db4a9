"""What the consent app's pages show, from the one who asks: nobody sees a row of someone else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

import pkm.scopes
from accounts.models import User
from common.clock import database_now
from consent.decisions.sensitivity import tiers_of_answers
from consent.errors import UnknownRequest
from consent.exports import policies as export_policies
from consent.grants.models import Grant
from consent.requests import digest as request_digest
from consent.requests.models import ConsentRequest, ConsentRequestQuerySet, RefreshPolicy
from consent.requests.queries import count_pending
from consent.web.cautions import caution_about_wording
from pkm.registry import copy as registry_copy
from pkm.registry import labels
from pkm.registry.derived import KINDS
from pkm.registry.models import SensitivityTier
from pkm.segments import queries as segment_queries

MOST_IN_QUEUE = 1000  # of what waits, a sheet counts no further
_APP = ("app__application", "scope_entry")
_EVERYDAY = SensitivityTier.STANDARD


def own_requests(user: User) -> ConsentRequestQuerySet:
    return ConsentRequest.objects.filter(user=user).select_related(*_APP)


@dataclass(frozen=True)
class Queue:
    """Where a request stands among those that wait, newest first, and the one that comes after it, in a circle."""

    at: int
    count: int
    next: str


def queue_of(user: User, request_id: str) -> Queue:
    """Of a request that was decided, `at` is 0 and `next` the newest that waits; empty where none does."""
    pending = own_requests(user).pending(database_now()).order_by("-created_at", "-id")
    ids = list(pending.select_related(None).values_list("request_id", flat=True)[:MOST_IN_QUEUE])
    at = ids.index(request_id) + 1 if request_id in ids else 0
    return Queue(at=at, count=len(ids), next=ids[at % len(ids)] if ids else "")


def own_request(user: User, request_id: str) -> ConsentRequest:
    """Raises `UnknownRequest` for another person's, too."""
    found = own_requests(user).filter(request_id=request_id).first()
    if found is None:
        raise UnknownRequest
    return found


@dataclass(frozen=True)
class RequestedAttribute:
    """One attribute on the review page, as its row shows it."""

    attribute: labels.Attribute
    required: bool
    is_stored: bool
    ticked: bool
    changed: bool
    is_answer: bool  # in place of a value
    coarser: list[labels.Attribute]  # answers that would do in its place, the one that tells least last
    chosen: str  # the path of the form that is shared unless the person chooses another


@dataclass(frozen=True)
class RequestedGroup:
    """The asked attributes of one domain."""

    group: labels.Group
    rows: list[RequestedAttribute]


def requested_groups(request: ConsentRequest, user: User, older: Grant | None) -> list[RequestedGroup]:
    """Every attribute that could be approved, grouped by domain; what is new since `older` is marked.

    Ticked from the start is what is required. Beside it what is there, everyday and not the person's own, provided
    that the app registered for it and, in a renewal, that the person shared it last time: what they left out then
    stays out until they say otherwise. Where the app's words press, or borrow a name, what is required alone is ticked.
    """
    stored = segment_queries.stored_attributes(user)
    present = {f"{domain}.{segment}.{name}" for (domain, segment), names in stored.items() for name in names}
    required = set(request.required_attributes or [])
    before = set(older.approved_attributes) if older else None
    answers, tiers = _accepted(request), tiers_of_answers(request)
    unticked = is_beyond_registered(request) or caution_about_wording(request) is not None

    def row(attribute: labels.Attribute) -> RequestedAttribute:
        [source] = request.source_attributes([attribute.path])
        there = source in present
        must = attribute.path in required
        coarser = answers.get(attribute.path, [])
        last = next((path for path in request.accepted_for(attribute.path) if before and path in before), None)
        new = before is not None and last is None
        everyday = not attribute.sensitive and tiers.get(attribute.path, _EVERYDAY) == _EVERYDAY
        ticked = must or (there and everyday and not (attribute.own or unticked or new))
        chosen = last or attribute.path
        return RequestedAttribute(attribute, must, there, ticked, new, source != attribute.path, coarser, chosen)

    groups = labels.described(_requested_paths(request, present))
    # what can be shared comes first: a phone's first screen has room for three rows
    return [
        RequestedGroup(group, sorted(map(row, group.attributes), key=lambda one: not one.is_stored)) for group in groups
    ]


def _accepted(request: ConsentRequest) -> dict[str, list[labels.Attribute]]:
    """Of each value the answers that the app accepts in its place, from the one that tells most to the one that tells
    least; a request that was frozen keeps to its own definitions."""
    accepts, derived = request.accepts or {}, request.derived or {}
    rows = [one for group in labels.described(chain.from_iterable(accepts.values())) for one in group.attributes]
    rows.sort(key=lambda one: KINDS.index(derived[one.path]["rule"]["kind"]))
    return {source: [one for one in rows if one.path in paths] for source, paths in accepts.items()}


def answers_about(
    request: ConsentRequest, rows: Iterable[RequestedAttribute], *, first_time: bool
) -> list[labels.Attribute]:
    """The request's answers about the values of these rows; every one, where the app may know some from before."""
    sources = set(request.source_attributes(row.attribute.path for row in rows))
    made = {**({} if first_time else registry_copy.entries().answers), **(request.derived or {})}
    groups = labels.described(path for path, definition in made.items() if definition["from"] in sources)
    return [one for group in groups for one in group.attributes]


def _requested_paths(request: ConsentRequest, present: set[str]) -> list[str]:
    """What the app listed; where it listed nothing, its scope's attributes and the person's own in it."""
    listed = [*(request.required_attributes or []), *(request.optional_attributes or [])]
    if request.required_attributes is not None or request.optional_attributes is not None:
        return list(dict.fromkeys(listed))
    scope = pkm.scopes.parse(request.scope)
    inside = [path for path in sorted(present) if scope and scope.takes_own_attributes and scope.covers(path)]
    own = [path for path in inside if path not in request.attributes]
    if own:  # without what only passes for an answer
        own = [path for path in own if path not in registry_copy.entries().answers]
    return [*request.attributes, *own]


def further_terms(request: ConsentRequest) -> list[tuple[str, str, str]]:
    """(member, its words, its value) of what the app gave beyond the terms that have a place of their own."""
    columns = {field.name: field for field in ConsentRequest._meta.concrete_fields}
    given = request_digest.optional_members_of(request)
    placed = ("derived", "accepts", "required_because")  # have their place beside the values
    return [(name, str(columns[name].verbose_name), str(value)) for name, value in given.items() if name not in placed]


def is_beyond_registered(request: ConsentRequest) -> bool:
    """Whether the app asks for more than it said it would when it enrolled."""
    wanted = pkm.scopes.parse(request.scope)
    registered = [pkm.scopes.parse(scope) for scope in request.app.needed_scopes]
    return wanted is None or not any(scope is not None and scope.covers_scope(wanted) for scope in registered)


def grant_of(request: ConsentRequest) -> Grant | None:
    return Grant.objects.filter(request=request).first()


def proof_of(request: ConsentRequest) -> dict[str, Any]:
    """The receipt of what happened last, or that it and the entry in the person's history will follow."""
    if request.pending_entries.exists():
        return {"receipt_id": None, "entry_follows": True}
    newest = request.receipts.order_by("-id").values_list("receipt_id", flat=True).first()
    return {"receipt_id": newest, "entry_follows": False}


def exports_to_refresh(user: User, *, all_kept: bool = False) -> list[dict[str, Any]]:
    """Active grants that are refreshed and whose newest export was made from older segments than there are now.

    `all_kept` for those, too, whose export is as new as the segments, and those that are paused.

    Each: {"grant_id", "request_id", "app_name", "approved_attributes", "next_revision", "renewed" (in words)}.
    """
    now = database_now()
    live = Grant.objects.live(now) if all_kept else Grant.objects.live(now).active()
    refreshed = live.filter(user=user, kept_current=True)
    refreshed = refreshed.filter(request__refresh_policy=RefreshPolicy.CONTINUOUS).select_related("request", "user")
    stored = segment_queries.stored_attributes(user)
    found = []
    for grant in refreshed.order_by("id"):
        newest: Any = grant.exports.order_by("-revision").values("revision", "sources", "sealed_at").first() or {}
        renewed = _outdated(grant, newest, stored, now)
        if all_kept or renewed is not None:
            found.append(
                {
                    "grant_id": grant.grant_id,
                    "request_id": grant.request.request_id,
                    "app_name": grant.request.app_name,
                    "approved_attributes": grant.approved_attributes,
                    "next_revision": newest.get("revision", 0) + 1,
                    "renewed": _labels(renewed or []),
                }
            )
    return found


def _outdated(
    grant: Grant, newest: Mapping[str, Any], stored: export_policies.StoredAttributes, now: datetime
) -> list[str] | None:
    """The attributes that the newest export has from older segments than there are now; None where it is not outdated.

    Answers in place of values are made anew in the first unlock of each month, changed or not. No edit makes one
    outdated: the time of a change would tell of the value.
    """
    sources = export_policies.segments_with(grant.request.source_attributes(grant.approved_attributes), stored)
    if not sources:
        return None
    made_from = {(one["domain"], one["segment_id"]): one["content_revision"] for one in newest.get("sources", [])}
    there = segment_queries.current_revisions(grant.user, sources)
    answers = [path for path in grant.approved_attributes if path in (grant.request.derived or {})]
    values = [path for path in grant.approved_attributes if path not in answers]
    of_values = {tuple(path.split(".")[:2]) for path in values}
    changed = {place for place in {*there, *made_from} & of_values if there.get(place) != made_from.get(place)}
    is_due = bool(answers) and _month(newest.get("sealed_at", now)) < _month(now)
    if not (changed or is_due):
        return None
    return [*(path for path in values if tuple(path.split(".")[:2]) in changed), *(answers if is_due else ())]


def _month(at: datetime) -> tuple[int, int]:
    return at.astimezone(UTC).year, at.astimezone(UTC).month


def _labels(paths: list[str]) -> list[str]:
    """What these paths are called."""
    return [attribute.label for group in labels.described(paths) for attribute in group.attributes]


def pending_count(request: HttpRequest) -> dict[str, object]:
    """The number of requests that wait for this person's decision, counted only where a template asks."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"pending_count": 0}
    return {"pending_count": SimpleLazyObject(lambda: count_pending(user=user))}
