"""An app asks one person for one scope, for one purpose."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.db import transaction

import pkm.sealed
from common.clock import rfc3339
from common.limits import Count
from common.problems import Problem
from common.sql.statements import NAMED_LOCK, take_locks
from consent.connector_keys.actions import claim_key, fetch_published_keys
from consent.connector_keys.queries import usable_key
from consent.discovery import unknown_users
from consent.discovery.person_read import PersonRead, read_person
from consent.errors import (
    ConnectorKeyRequired,
    InvalidConnectorKey,
    InvalidScope,
    RequestPending,
    ScopeRegistryUnavailable,
    UnknownUser,
)
from consent.requests import digest, limits
from consent.requests.actions import close_request
from consent.requests.asked import AskedRequest, ConnectorKey
from consent.requests.models import ConsentRequest
from consent.requests.recent import RecentRequests, read_recent
from consent.schemas import RequestConsentBody
from consent.shapes import AskedConsent, FrozenRequest
from consent.states import Actor, RequestStatus
from consent.status import INTERVAL
from developers.authentication import AppContext
from developers.idempotency import claim_idempotency_key
from developers.people.actions import meet
from pkm.registry.copy import Entry, RegistryCopy

_REPEAT = timedelta(hours=24)  # how long an Idempotency-Key repeats the first answer
_KEY_MEMBERS = ("kty", "crv", "x", "y", "d")  # a refusal names these; what else a caller sends is not repeated

# One at a time for an app and a person, since the budget and "an identical one waits" are checked and then written;
# and no change of the entry or the app by staff meanwhile, who would cancel what waits but not what comes after.
_HOLD = f"""
SELECT {NAMED_LOCK} FROM pkm_scope_registry s, developer_apps a
 WHERE s.scope = %(scope)s AND a.id = %(app_pk)s FOR KEY SHARE OF s, a
"""  # noqa: S608  # made of constants


class Asked(NamedTuple):
    """The answer of contract 1.3, whether a request was made rather than found again, and the limits that were met."""

    answer: AskedConsent
    is_new: bool
    limits: list[Count]


def request_consent(*, app: AppContext, body: RequestConsentBody, idempotency_key: str | None, hint: str = "") -> Asked:
    """Ask; `hint` says on whose behalf the app does."""
    key = _connector_key(app, body)
    person = read_person(app_pk=app.app_pk, is_test=app.is_test, name=body.user_id, hint=hint)
    if person is None:
        raise ScopeRegistryUnavailable
    user_pk, guesses = unknown_users.admit(
        app_pk=app.app_pk, user_pk=person.user_pk, asked_before=person.asked_before, misses=person.misses, hint=hint
    )
    try:
        return _ask(app, body, key, user_pk, person, guesses, idempotency_key)
    except Problem as refusal:
        refusal.limits = (guesses, *refusal.limits)
        raise


def _ask(
    app: AppContext,
    body: RequestConsentBody,
    key: ConnectorKey,
    user_pk: int,
    person: PersonRead,
    guesses: Count,
    idempotency_key: str | None,
) -> Asked:
    with limits.spending_hourly_budget(app) as spend, transaction.atomic():
        claim = None
        if idempotency_key is not None:
            claim = claim_idempotency_key(
                app_pk=app.app_pk,
                operation="request-consent",
                key=idempotency_key,
                body=_repeated(body),
                lifetime=_REPEAT,
            )
            if claim.answer is not None:
                return Asked(claim.answer["body"], bool(claim.answer["created"]), [guesses])
        answer, is_new, met = _find_or_make(app, body, key, user_pk, person, spend)
        if claim is not None:
            claim.keep({"body": answer, "created": is_new})
    return Asked(answer, is_new, [guesses, *met])


def _connector_key(app: AppContext, body: RequestConsentBody) -> ConnectorKey:
    """The key that was sent; without one, the registered key of that name."""
    given = body.connector_public_key
    if given is None:
        given = usable_key(app_pk=app.app_pk, key_id=body.connector_key_id)
    if given is None:
        raise ConnectorKeyRequired("connector_public_key is missing, and no usable key is registered by this name.")
    try:
        jwk = pkm.sealed.check_connector_key(given)
    except pkm.sealed.InvalidHeader as unfit:
        member = f".{unfit.member}" if unfit.member in _KEY_MEMBERS else ""
        raise InvalidConnectorKey(f"connector_public_key{member}: {unfit.reason}.") from None
    return ConnectorKey(jwk, pkm.sealed.thumbprint(jwk))


def _repeated(body: RequestConsentBody) -> dict[str, Any]:
    """What makes a call a repetition. What the contract gains later counts where it is given, as in the digest: a call
    that knows nothing of it still repeats the one from before."""
    later = digest.LATER
    return {name: value for name, value in body.model_dump().items() if value is not None or name not in later}


def _find_or_make(
    app: AppContext,
    body: RequestConsentBody,
    key: ConnectorKey,
    user_pk: int,
    person: PersonRead,
    spend: Callable[[list[Count]], list[Count]],
) -> Asked:
    take_locks(_HOLD, {"name": f"ask:{app.app_pk}:{user_pk}", "scope": body.scope, "app_pk": app.app_pk})
    recent = read_recent(app_pk=app.app_pk, user_pk=user_pk)
    if recent is None:
        raise ScopeRegistryUnavailable
    entry = _find_entry(body.scope, person, recent)
    if entry is None:
        raise InvalidScope
    limits.check_terms(body=body, entry=entry)
    pairwise_id = meet(app_pk=app.app_pk, user_pk=user_pk, named=body.user_id)
    if pairwise_id is None:  # the sharing ID served another app a moment ago
        raise UnknownUser
    # staff may have renamed the app since its token was read; under the lock they cannot
    asked = AskedRequest(replace(app, app_name=recent.app_name), body, key, user_pk, pairwise_id, entry)
    for request in recent.undecided:
        if (request.scope, request.connector_thumbprint) == (body.scope, key.thumbprint):
            if request.is_pending(recent.now):
                return Asked(_find_same(asked, request.pk, recent.now), False, [])
            close_request(request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=recent.now)
    claim_key(app_pk=app.app_pk, thumbprint=key.thumbprint)
    met = spend(limits.check_recent(body, recent))
    made = asked.as_request(at=recent.now, handling=recent.handling)
    made.save(force_insert=True)
    if not app.is_test:
        fetch_published_keys(request_pk=made.pk, app_pk=app.app_pk)
    return Asked(_answer(asked, made, made.created_at), True, met)


def _find_entry(scope: str, person: PersonRead, recent: RecentRequests) -> Entry | None:
    """The scope's registry entry, or None for every reason why it cannot be asked of this person."""
    registry = RegistryCopy.for_version(recent.registry_version)
    entry = registry.by_scope.get(scope)
    if entry is None or recent.has_blocked:
        return None
    return entry if scope in registry.discovered_for(person.holdings, person.hidden).scopes else None


def _find_same(asked: AskedRequest, request_pk: int, now: datetime) -> AskedConsent:
    """The request that waits already, where this one asks the very same."""
    waiting = ConsentRequest.objects.get(pk=request_pk)
    theirs = asked.digested(waiting)
    ours = asked.digested(asked.as_request(at=waiting.created_at))
    if any(theirs.get(member) != ours.get(member) for member in digest.IDENTITY):
        raise RequestPending("A request that differs waits already; end it first.", request_id=waiting.request_id)
    return _answer(asked, waiting, now)


def _answer(asked: AskedRequest, request: ConsentRequest, now: datetime) -> AskedConsent:
    return {
        "request_id": request.request_id,
        "status": RequestStatus(request.status),
        "app_id": asked.app.app_id,
        "issuer": settings.ISSUER,
        "user_id": request.pairwise_id,
        "scope": request.scope,
        "scope_label": asked.entry.label,
        "approval_url": f"{settings.ISSUER}/consent/requests/{request.request_id}/",
        "interval": INTERVAL,
        "expires_in": max(0, round((request.expires_at - now).total_seconds())),
        "expires_at": rfc3339(request.expires_at),
        "access_duration": request.access_duration,
        "connector_key_id": request.connector_key_id,
        "connector_fingerprint": request.connector_thumbprint,
        "request": cast(FrozenRequest, asked.digested(request)),
        "request_digest": request.request_digest,
        "created_at": rfc3339(request.created_at),
    }
