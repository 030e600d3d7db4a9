"""An app asks one person for one scope, for one purpose."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, cast

from django.conf import settings
from django.db import transaction

import pkm.sealed
from common.clock import rfc3339
from common.limits import Count
from common.problems import Problem
from common.sql.statements import NAMED_LOCK, take_locks
from consent.connector_keys.actions import claim_key, schedule_key_fetch
from consent.discovery.person_read import PersonRead, admit_person, reading_registry
from consent.errors import (
    ConnectorKeyRequired,
    InvalidConnectorKey,
    InvalidScope,
    RequestPending,
    ScopeRegistryUnavailable,
    UnknownUser,
)
from consent.requests import budgets, digest, own_rules
from consent.requests.actions import close_request
from consent.requests.draft import ConnectorKey, RequestDraft
from consent.requests.models import ConsentRequest
from consent.requests.named_keys import find_or_fetch_vouched_key
from consent.requests.recent import RecentRequests, read_recent
from consent.requests.return_addresses import require_registered
from consent.requests.terms import check_terms
from consent.schemas import RequestConsentBody
from consent.shapes import FrozenRequest, MadeRequest
from consent.states import Actor, RequestStatus
from consent.status import INTERVAL
from developers.authentication import AppContext
from developers.idempotency import claim_idempotency_key
from developers.people import pairwise_id_for
from pkm.registry.copy import Entry, RegistryCopy, entries

_REPEAT = timedelta(hours=24)  # how long an Idempotency-Key repeats the first answer
_KEY_MEMBERS = ("kty", "crv", "x", "y", "d")  # a refusal names these; what else a caller sends is not repeated

# of a request that rides on a connection: whether the app hears of it at once, or once it completes the connection
_Disclosure = Literal["open", "withheld"]

# One at a time for an app and a person, since the budget and "an identical one waits" are checked and then written;
# and no change of the entry or the app by staff meanwhile, who would cancel what waits but not what comes after.
_LOCKS = f"""
SELECT {NAMED_LOCK} FROM pkm_scope_registry s, developer_apps a
 WHERE s.scope = %(scope)s AND a.id = %(app_pk)s FOR KEY SHARE OF s FOR SHARE OF a
"""  # noqa: S608  # made of constants


class Outcome(NamedTuple):
    """What a call to ask comes to."""

    body: MadeRequest  # contract 1.3
    is_new: bool  # whether the request was made now, rather than found again
    limits: list[Count]  # those that were met


def request_consent(
    *, app: AppContext, body: RequestConsentBody, idempotency_key: str | None, hint: str = ""
) -> Outcome:
    """Ask; `hint` says on whose behalf the app does."""
    key = resolve_connector_key(app, body)
    person, user_pk, unknown_count = admit_person(app, name=body.user_id, hint=hint)
    try:
        return _make_request(app, body, key, user_pk, person, unknown_count, idempotency_key)
    except Problem as refusal:
        refusal.limits = (unknown_count, *refusal.limits)
        raise


def check_riding_request(*, app: AppContext, body: RequestConsentBody) -> ConnectorKey:
    """Refuse now what could be asked of nobody: an unfit key, a scope that there is not, terms beyond it.

    Returns the key as it is now.
    """
    key = resolve_connector_key(app, body)
    with reading_registry():
        entry = entries().by_scope.get(body.scope)
    if entry is None:
        raise InvalidScope
    check_terms(body=body, entry=entry)
    return key


def request_with_connection(
    *,
    app: AppContext,
    body: RequestConsentBody,
    key: ConnectorKey,
    person: PersonRead,
    user_pk: int,
    withheld: bool,
) -> ConsentRequest:
    """The request that rides on a connection which this person has just accepted. Inside a transaction.

    `key` is what `resolve_connector_key` found before it. What the app asked them before for the same key, and waits,
    is cancelled: they began anew. `withheld`: nothing of it is told to the app yet, and what it knows of stays as it
    is. Raises the refusals of `request_consent`.
    """
    riding: _Disclosure = "withheld" if withheld else "open"
    made, _, _ = _make_request(app, body, key, user_pk, person, person.misses, None, riding)
    return ConsentRequest.objects.get(request_id=made["request_id"])


def _make_request(
    app: AppContext,
    body: RequestConsentBody,
    key: ConnectorKey,
    user_pk: int,
    person: PersonRead,
    unknown_count: Count,
    idempotency_key: str | None,
    riding: _Disclosure | None = None,
) -> Outcome:
    with (
        own_rules.counting(user_pk) as note_rule,
        budgets.spending_hourly_budget(app) as spend,
        transaction.atomic(),
    ):
        claim = None
        if idempotency_key is not None:
            claim = claim_idempotency_key(
                app_pk=app.app_pk,
                operation="request-consent",
                key=idempotency_key,
                body=_idempotency_body(body),
                lifetime=_REPEAT,
            )
            if claim.answer is not None:
                return Outcome(claim.answer["body"], bool(claim.answer["created"]), [unknown_count])
        made, is_new, met = _find_or_make(app, body, key, user_pk, person, spend, note_rule, riding)
        if claim is not None:
            claim.keep({"body": made, "created": is_new})
    return Outcome(made, is_new, [unknown_count, *met])


def resolve_connector_key(app: AppContext, body: RequestConsentBody) -> ConnectorKey:
    """The key that was sent; without one, the key of that name that the app registered or publishes.

    May fetch from the app's site: outside `atomic`.

    A host that acts for somebody's app brings no other: what a model says, others may have put into its mouth.
    """
    given, only_vouched = body.connector_public_key, app.is_host and not app.is_personal
    vouched = None
    if given is None or only_vouched:
        vouched = find_or_fetch_vouched_key(app=app, key_id=body.connector_key_id)
    given = vouched if given is None else given
    if given is None:
        raise ConnectorKeyRequired("connector_public_key is missing, and no usable key is registered by this name.")
    try:
        jwk = pkm.sealed.check_connector_key(given)
    except pkm.sealed.InvalidHeader as unfit:
        member = f".{unfit.member}" if unfit.member in _KEY_MEMBERS else ""
        raise InvalidConnectorKey(f"connector_public_key{member}: {unfit.reason}.") from None
    if only_vouched and jwk != vouched:
        raise InvalidConnectorKey("connector_public_key: a host uses keys that its app registered or publishes.")
    return ConnectorKey(jwk, pkm.sealed.thumbprint(jwk))


def _idempotency_body(body: RequestConsentBody) -> dict[str, Any]:
    """What makes a call a repetition. What the contract gains later counts where it is given, as in the digest: a call
    that knows nothing of it still repeats the one from before."""
    later = digest.OPTIONAL
    return {name: value for name, value in body.model_dump().items() if value is not None or name not in later}


def _find_or_make(
    app: AppContext,
    body: RequestConsentBody,
    key: ConnectorKey,
    user_pk: int,
    person: PersonRead,
    spend: Callable[[list[Count]], list[Count]],
    note_rule: Callable[[own_rules.Rule], None],
    riding: _Disclosure | None,
) -> Outcome:
    take_locks(_LOCKS, {"name": f"ask:{app.app_pk}:{user_pk}", "scope": body.scope, "app_pk": app.app_pk})
    recent = read_recent(app_pk=app.app_pk, user_pk=user_pk)
    if recent is None:
        raise ScopeRegistryUnavailable()
    entry = _find_entry(body.scope, person, recent, riding)
    if entry is not None and recent.is_kept_away and not app.is_personal:
        note_rule("only_checked")
        entry = None
    if entry is None:
        raise InvalidScope
    check_terms(body=body, entry=entry)
    require_registered(body.return_url if riding is None else None, app_pk=app.app_pk)
    pairwise_id = pairwise_id_for(app_pk=app.app_pk, user_pk=user_pk, named=body.user_id)
    if pairwise_id is None:  # the sharing ID served another app a moment ago
        raise UnknownUser
    # staff may have renamed the app since its token was read; under the lock they cannot
    draft = RequestDraft(replace(app, app_name=recent.app_name), body, key, user_pk, pairwise_id, entry)
    if (same := _close_or_find_same(draft, recent, riding)) is not None:
        return Outcome(same, False, [])
    if riding is None and (refusal := budgets.week_refusal(recent)) is not None:
        note_rule("weekly")
        raise refusal
    claim_key(app_pk=app.app_pk, thumbprint=key.thumbprint)
    met = spend(budgets.check_recent(body, recent))
    made = draft.as_request(at=recent.now, handling=recent.handling)
    made.withheld = riding == "withheld"
    made.save(force_insert=True)
    if not app.is_test:
        schedule_key_fetch(request_pk=made.pk, app_pk=app.app_pk)
    return Outcome(created_body(made, app_id=app.app_id, label=entry.label, at=made.created_at), True, met)


def _close_or_find_same(draft: RequestDraft, recent: RecentRequests, riding: _Disclosure | None) -> MadeRequest | None:
    """What the same request that is pending is answered with; one that gives way to the new one is closed."""
    for request in recent.undecided:
        if (request.scope, request.connector_thumbprint) != (draft.body.scope, draft.key.thumbprint):
            continue
        if not request.is_pending(recent.now):
            close_request(request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=recent.now)
        elif riding == "withheld" and not request.withheld:
            # its end would tell the app who connected, before they came back to it
            raise RequestPending("The app asked for this before, and it waits.")
        elif riding is not None or request.withheld:
            close_request(request_pk=request.pk, to=RequestStatus.CANCELLED, actor=Actor.APP, at=recent.now)
        else:
            return _find_same(draft, request.pk, recent.now)
    return None


def _find_entry(scope: str, person: PersonRead, recent: RecentRequests, riding: _Disclosure | None) -> Entry | None:
    """The scope's registry entry, or None for every reason why it cannot be asked of this person.

    What rides along on a connection they see first, and enter there what they do not keep yet: only hiding counts.
    """
    with reading_registry():
        registry = RegistryCopy.for_version(recent.registry_version)
    entry = registry.by_scope.get(scope)
    if entry is None or recent.has_blocked:
        return None
    if riding is not None:
        return None if registry.hides(entry, person.hidden.split()) else entry
    return entry if scope in registry.discovered_for(person.holdings, person.hidden).scopes else None


def _find_same(draft: RequestDraft, request_pk: int, now: datetime) -> MadeRequest:
    """The request that waits already, where this one asks the very same."""
    pending = ConsentRequest.objects.get(pk=request_pk)
    theirs = draft.digested(pending)
    ours = draft.digested(draft.as_request(at=pending.created_at))
    if any(theirs.get(member) != ours.get(member) for member in digest.IDENTITY):
        raise RequestPending("A request that differs waits already; end it first.", request_id=pending.request_id)
    return created_body(pending, app_id=draft.app.app_id, label=draft.entry.label, at=now)


def created_body(request: ConsentRequest, *, app_id: str, label: str, at: datetime) -> MadeRequest:
    """What asking for this is answered with at this moment (contract 1.3); `label` is the scope's."""
    return {
        "request_id": request.request_id,
        "status": RequestStatus(request.status),
        "app_id": app_id,
        "issuer": settings.ISSUER,
        "user_id": request.pairwise_id,
        "scope": request.scope,
        "scope_label": label,
        "approval_url": f"{settings.ISSUER}/consent/requests/{request.request_id}/",
        "interval": INTERVAL,
        "expires_in": max(0, round((request.expires_at - at).total_seconds())),
        "expires_at": rfc3339(request.expires_at),
        "access_duration": request.access_duration,
        "connector_key_id": request.connector_key_id,
        "connector_fingerprint": request.connector_thumbprint,
        "request": cast(FrozenRequest, digest.members_of(request, app_id=app_id)),
        "request_digest": request.request_digest,
        "created_at": rfc3339(request.created_at),
    }
