"""An app asks one person for one scope, for one purpose."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db import transaction

import pkm.sealed
from common.clock import rfc3339
from common.sql.inserts import insert_row
from common.sql.statements import NAMED_LOCK, take_locks
from consent.discovery import unknown_users
from consent.discovery.person_read import PersonRead, read_person
from consent.errors import (
    InvalidConnectorKey,
    InvalidScope,
    RequestPending,
    ScopeRegistryUnavailable,
)
from consent.meter import Meter
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
from pkm.registry.copy import Entry, RegistryCopy

_REPEAT = timedelta(hours=24)  # how long an Idempotency-Key repeats the first answer
_KEY_MEMBERS = ("kty", "crv", "x", "y", "d")  # a refusal names these; what else a caller sends is not repeated

# One at a time for an app and a person, since the budget and "an identical one waits" are checked and then written;
# and no change of the entry or the app by staff meanwhile, who would cancel what waits but not what comes after.
_HOLD = f"""
SELECT {NAMED_LOCK} FROM pkm_scope_registry s, developer_apps a
 WHERE s.scope = %(scope)s AND a.id = %(app_pk)s FOR KEY SHARE OF s, a
"""  # noqa: S608  # made of constants


class _Changed(Exception):
    """Staff changed the registry or the app between the look and the lock."""

    def __init__(self, app_name: str) -> None:
        super().__init__()
        self.app_name = app_name


def request_consent(
    *,
    app: AppContext,
    body: RequestConsentBody,
    idempotency_key: str | None,
    person: PersonRead | None = None,
    meter: Meter | None = None,
) -> tuple[AskedConsent, bool]:
    """The answer of contract 1.3, and whether a request was made (rather than found again).

    `person` is what `read_person` gives of the ID in `body`, where that was read already; `meter` says on whose behalf
    the app asks, and takes note of every limit that the call meets.
    """
    key, meter = _connector_key(body), meter or Meter()
    while True:
        asked = _look_up(app, body, key, person, meter)  # before the transaction: a miss counts though it is refused
        try:
            return _ask(asked, idempotency_key)
        except _Changed as changed:
            app = replace(app, app_name=changed.app_name)
            person = None
        except BaseException:
            limits.give_back(app=app, meter=meter)
            raise


def _connector_key(body: RequestConsentBody) -> ConnectorKey:
    try:
        jwk = pkm.sealed.check_connector_key(body.connector_public_key)
    except pkm.sealed.InvalidHeader as unfit:
        member = f".{unfit.member}" if unfit.member in _KEY_MEMBERS else ""
        raise InvalidConnectorKey(f"connector_public_key{member}: {unfit.reason}.") from None
    return ConnectorKey(jwk, pkm.sealed.thumbprint(jwk))


def _look_up(
    app: AppContext, body: RequestConsentBody, key: ConnectorKey, person: PersonRead | None, meter: Meter
) -> AskedRequest:
    """The request with the person and the scope that it names, or the refusal where there is no such person."""
    person = person or read_person(app_pk=app.app_pk, is_test=app.is_test, user_id=body.user_id, hint=meter.hint)
    if person is None:
        raise ScopeRegistryUnavailable
    user_pk = unknown_users.admit(app_pk=app.app_pk, user_pk=person.user_pk, guesses=person.guesses, meter=meter)
    entry = _find_entry(body.scope, person)
    return AskedRequest(app, body, key, user_pk, person.registry_version, entry, meter)


def _find_entry(scope: str, person: PersonRead) -> Entry | None:
    """The scope's registry entry, or None for every reason why it cannot be asked of this person."""
    registry = RegistryCopy.for_version(person.registry_version)
    entry = registry.by_scope.get(scope)
    if entry is None or person.has_blocked:
        return None
    return entry if scope in registry.discovered_for(person.holdings, person.hidden).scopes else None


@transaction.atomic
def _ask(asked: AskedRequest, idempotency_key: str | None) -> tuple[AskedConsent, bool]:
    claim = None
    if idempotency_key is not None:
        claim = claim_idempotency_key(
            app_pk=asked.app.app_pk,
            operation="request-consent",
            key=idempotency_key,
            body=_repeated(asked.body),
            lifetime=_REPEAT,
        )
        if claim.answer is not None:
            return claim.answer["body"], bool(claim.answer["created"])
    answer, created = _find_or_make(asked)
    if claim is not None:
        claim.keep({"body": answer, "created": created})
    return answer, created


def _repeated(body: RequestConsentBody) -> dict[str, Any]:
    """What makes a call a repetition. What the contract gains later counts where it is given, as in the digest: a call
    that knows nothing of it still repeats the one from before."""
    later = digest.LATER
    return {name: value for name, value in body.model_dump().items() if value is not None or name not in later}


def _find_or_make(asked: AskedRequest) -> tuple[AskedConsent, bool]:
    entry = asked.entry
    if entry is None:
        raise InvalidScope
    limits.check_terms(body=asked.body, entry=entry)
    recent = _hold(asked)
    for request in recent.undecided:
        if (request.scope, request.connector_thumbprint) == (asked.body.scope, asked.key.thumbprint):
            if request.is_pending(recent.now):
                return _find_same(asked, entry, request.pk, recent.now), False
            close_request(request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=recent.now)
    limits.check_recent(asked, recent)
    made = asked.as_request(entry, at=recent.now, handling=recent.handling)
    limits.spend_hourly_budget(app=asked.app, meter=asked.meter)
    insert_row(made)
    limits.note_new_request(asked.meter)
    return _answer(asked, entry, made, made.created_at), True


def _hold(asked: AskedRequest) -> RecentRequests:
    """Keep everybody else from asking this person for this app, or changing what is asked, and look."""
    name = f"ask:{asked.app.app_pk}:{asked.user_pk}"
    take_locks(_HOLD, {"name": name, "scope": asked.body.scope, "app_pk": asked.app.app_pk})
    recent = read_recent(app_pk=asked.app.app_pk, user_pk=asked.user_pk)
    if recent is None:
        raise _Changed(asked.app.app_name)
    if (recent.registry_version, recent.app_name) != (asked.registry_version, asked.app.app_name):
        raise _Changed(recent.app_name)
    if recent.has_blocked:
        raise InvalidScope
    return recent


def _find_same(asked: AskedRequest, entry: Entry, request_pk: int, now: datetime) -> AskedConsent:
    """The request that waits already, where this one asks the very same."""
    waiting = ConsentRequest.objects.get(pk=request_pk)
    theirs = asked.digested(waiting)
    ours = asked.digested(asked.as_request(entry, at=waiting.created_at))
    if any(theirs.get(member) != ours.get(member) for member in digest.IDENTITY):
        raise RequestPending("A request that differs waits already; end it first.", request_id=waiting.request_id)
    return _answer(asked, entry, waiting, now)


def _answer(asked: AskedRequest, entry: Entry, request: ConsentRequest, now: datetime) -> AskedConsent:
    return {
        "request_id": request.request_id,
        "status": RequestStatus(request.status),
        "app_id": asked.app.app_id,
        "issuer": settings.ISSUER,
        "user_id": asked.body.user_id,
        "scope": request.scope,
        "scope_label": entry.label,
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
