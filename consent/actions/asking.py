"""An app asks one person for one scope, for one purpose."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import DateTimeField, JSONField
from django.utils import timezone

import pkm.sealed
from accounts.database import database_now, rfc3339, rows, utc
from accounts.identifiers import new_identifier
from consent import digest, limits
from consent.actions.discovery import MISSES, count_miss, misses_since, refuse_guessing
from consent.actions.ending import close_request
from consent.errors import (
    InvalidConnectorKey,
    InvalidScope,
    RequestPending,
    ScopeRegistryUnavailable,
    UnknownUser,
)
from consent.models import ConsentRequest
from consent.schemas import RequestConsentBody
from consent.states import Actor, RequestStatus
from consent.status import INTERVAL
from developers.authentication import AppContext
from developers.idempotency import claim_idempotency_key
from pkm.registry import Entry, RegistryCopy

_REPEAT = timedelta(hours=24)  # how long an Idempotency-Key repeats the first answer
_KEY_MEMBERS = ("kty", "crv", "x", "y", "d")  # a refusal names these; what else a caller sends is not repeated

# Everything that decides whether this may be asked, in one read.
_CONTEXT = """
SELECT u.id AS user_pk, i.summary_projection, v.version, ({misses}) AS misses,
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = u.id AND b.app_id = %(app_pk)s) AS blocked,
       (SELECT {join_text}(h.scope, ' ') FROM hidden_scopes h WHERE h.user_id = u.id) AS hidden
  FROM pkm_registry_version v
  LEFT JOIN users u ON u.public_id = %(user_id)s AND u.is_active
  LEFT JOIN pkm_index i ON i.user_id = u.id
"""
# What may have changed since, read again once nobody can change it: what waits, the registry, the app's name, a block.
_STANDING = """
SELECT {clock} AS now, v.version, a.name AS app_name,
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = %(user_pk)s AND b.app_id = %(app_pk)s) AS blocked,
       r.id, r.scope, r.connector_thumbprint, r.expires_at
  FROM pkm_registry_version v
  JOIN developer_apps a ON a.id = %(app_pk)s
  LEFT JOIN consent_requests r ON r.user_id = %(user_pk)s AND r.app_id = %(app_pk)s AND r.status = 'pending'
"""
# One at a time for an app and a person, since the budget and "an identical one waits" are checked and then written;
# and no change of the entry or the app by staff meanwhile, who would cancel what waits but not what comes after.
_HOLD = """
SELECT pg_advisory_xact_lock(hashtextextended(%s, 0)) FROM pkm_scope_registry s, developer_apps a
 WHERE s.scope = %s AND a.id = %s FOR KEY SHARE OF s, a
"""
_FIELDS = [field for field in ConsentRequest._meta.concrete_fields if not field.primary_key]
_COLUMNS = [str(field.column) for field in _FIELDS]
# texts and numbers are handed over as they are; each database has its own way with the others
_ADAPTED = [isinstance(field, JSONField | DateTimeField) for field in _FIELDS]
_INSERT = f"INSERT INTO consent_requests ({', '.join(_COLUMNS)}) VALUES ({', '.join(['%s'] * len(_COLUMNS))})"  # noqa: S608


class _Changed(Exception):
    """Staff changed the registry or the app between the look and the lock."""


def request_consent(
    *, app: AppContext, body: RequestConsentBody, idempotency_key: str | None
) -> tuple[dict[str, Any], bool]:
    """The answer of contract 1.3, and whether a request was made (rather than found again)."""
    key, thumbprint = _connector(body)
    while True:
        context = _context(app, body)  # outside the transaction: a miss is counted even though the call is refused
        try:
            return _ask(app, body, context, idempotency_key, key, thumbprint)
        except _Changed as changed:
            app = replace(app, app_name=str(changed))


@transaction.atomic
def _ask(
    app: AppContext,
    body: RequestConsentBody,
    context: dict[str, Any],
    idempotency_key: str | None,
    key: dict[str, str],
    thumbprint: str,
) -> tuple[dict[str, Any], bool]:
    claim = None
    if idempotency_key is not None:
        claim = claim_idempotency_key(
            app_pk=app.app_pk,
            operation="request-consent",
            key=idempotency_key,
            body=body.model_dump(),
            lifetime=_REPEAT,
        )
        if claim.answer is not None:
            return claim.answer["body"], bool(claim.answer["created"])
    answer, created = _find_or_make(app, body, context, key, thumbprint)
    if claim is not None:
        claim.keep({"body": answer, "created": created})
    return answer, created


def _connector(body: RequestConsentBody) -> tuple[dict[str, str], str]:
    try:
        key = pkm.sealed.check_connector_key(body.connector_public_key)
    except pkm.sealed.Unfit as unfit:
        member = f".{unfit.member}" if unfit.member in _KEY_MEMBERS else ""
        raise InvalidConnectorKey(f"connector_public_key{member}: {unfit.reason}.") from None
    return key, pkm.sealed.thumbprint(key)


def _context(app: AppContext, body: RequestConsentBody) -> dict[str, Any]:
    join_text = "string_agg" if connection.vendor == "postgresql" else "group_concat"
    found = rows(
        _CONTEXT.format(join_text=join_text, misses=MISSES),
        {
            "app_pk": app.app_pk,
            "user_id": body.user_id,
            "since": misses_since(timezone.now()),
        },
    )
    if not found:
        raise ScopeRegistryUnavailable
    refuse_guessing(app_pk=app.app_pk, misses=int(found[0]["misses"]))
    if found[0]["user_pk"] is None:
        count_miss(app_pk=app.app_pk)
        raise UnknownUser
    return found[0]


def _entry(body: RequestConsentBody, context: dict[str, Any]) -> Entry:
    """The scope's registry entry, or the one refusal for every reason why it cannot be asked of this person."""
    registry = RegistryCopy.for_version(context["version"])
    found = registry.discovered_for(context["summary_projection"] or "{}", context["hidden"] or "")
    entry = registry.by_scope.get(body.scope)
    if entry is None or context["blocked"] or entry.scope not in found.scopes:
        raise InvalidScope
    limits.fits_its_scope(body=body, entry=entry)
    return entry


def _find_or_make(
    app: AppContext, body: RequestConsentBody, context: dict[str, Any], key: dict[str, str], thumbprint: str
) -> tuple[dict[str, Any], bool]:
    entry = _entry(body, context)
    now, waiting = _standing(app, body, context)
    for row in waiting:
        if row["scope"] == body.scope and row["connector_thumbprint"] == thumbprint:
            if row["deadline"] > now:
                return _same_or_refuse(app, body, entry, row["id"], thumbprint, now), False
            close_request(request_pk=row["id"], to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now)
    limits.within_budget(deadlines=[row["deadline"] for row in waiting if row["deadline"] > now], now=now)
    limits.not_just_denied(app_pk=app.app_pk, user_pk=context["user_pk"], scope=body.scope, now=now)
    request = _frozen(app, body, context["user_pk"], entry, key, thumbprint, now)
    _insert(request)
    return _answer(app, body.user_id, entry, request, request.created_at), True


def _insert(request: ConsentRequest) -> None:
    """The row, without what the ORM spends on building the same statement every time."""
    values = [
        field.get_db_prep_save(getattr(request, field.attname), connection)
        if adapted
        else getattr(request, field.attname)
        for field, adapted in zip(_FIELDS, _ADAPTED, strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)


def _standing(
    app: AppContext, body: RequestConsentBody, context: dict[str, Any]
) -> tuple[datetime, list[dict[str, Any]]]:
    """The database's clock and what waits of this app for this person, with nobody else asking or changing it."""
    on_postgresql = connection.vendor == "postgresql"
    if on_postgresql:
        rows(_HOLD, [f"ask:{app.app_pk}:{context['user_pk']}", body.scope, app.app_pk])
    found = rows(
        _STANDING.format(clock="clock_timestamp()" if on_postgresql else "NULL"),
        {"user_pk": context["user_pk"], "app_pk": app.app_pk},
    )
    if not found or found[0]["version"] != context["version"] or found[0]["app_name"] != app.app_name:
        raise _Changed(found[0]["app_name"] if found else app.app_name)
    if found[0]["blocked"]:
        raise InvalidScope
    now = utc(found[0]["now"]) or database_now()
    return now, [{**row, "deadline": utc(row["expires_at"])} for row in found if row["id"] is not None]


def _frozen(
    app: AppContext,
    body: RequestConsentBody,
    user_pk: int,
    entry: Entry,
    key: dict[str, str],
    thumbprint: str,
    now: datetime,
) -> ConsentRequest:
    """The request as it will stand: defaults filled in, null where absent, whole seconds."""
    created_at = now.replace(microsecond=0)
    request = ConsentRequest(
        request_id=new_identifier("req"),
        app_id=app.app_pk,
        user_id=user_pk,
        scope_entry_id=entry.pk,
        scope=body.scope,
        app_name=app.app_name,
        attributes=list(entry.attributes),
        purpose=body.purpose,
        connector_public_key=key,
        connector_key_id=body.connector_key_id,
        connector_thumbprint=thumbprint,
        wrapping_alg=body.connector_wrapping_alg,
        access_duration=body.access_duration,
        expires_at=created_at + timedelta(seconds=body.requested_expiry),
        required_attributes=body.required_attributes,
        optional_attributes=body.optional_attributes,
        max_reads=body.max_reads,
        refresh_policy=body.refresh_policy,
        binding_message=body.binding_message,
        template_id=body.template_id,
        created_at=created_at,
    )
    request.request_digest = digest.sha256_canonical(digest.asked(request, app_id=app.app_id, user_id=body.user_id))
    return request


def _same_or_refuse(
    app: AppContext, body: RequestConsentBody, entry: Entry, request_pk: int, thumbprint: str, now: datetime
) -> dict[str, Any]:
    """The request that waits already, where this one asks the very same."""
    standing = ConsentRequest.objects.get(pk=request_pk)
    wanted = _frozen(app, body, standing.user_id, entry, standing.connector_public_key, thumbprint, standing.created_at)
    theirs = digest.asked(standing, app_id=app.app_id, user_id=body.user_id)
    ours = digest.asked(wanted, app_id=app.app_id, user_id=body.user_id)
    if any(theirs[member] != ours[member] for member in digest.IDENTITY):
        raise RequestPending("A request that differs waits already; end it first.", request_id=standing.request_id)
    return _answer(app, body.user_id, entry, standing, now)


def _answer(app: AppContext, user_id: str, entry: Entry, request: ConsentRequest, now: datetime) -> dict[str, Any]:
    return {
        "request_id": request.request_id,
        "status": request.status,
        "app_id": app.app_id,
        "issuer": settings.ISSUER,
        "user_id": user_id,
        "scope": request.scope,
        "scope_label": entry.label,
        "approval_url": f"{settings.ISSUER}/consent/requests/{request.request_id}/",
        "interval": INTERVAL,
        "expires_in": max(0, round((request.expires_at - now).total_seconds())),
        "expires_at": rfc3339(request.expires_at),
        "access_duration": request.access_duration,
        "connector_key_id": request.connector_key_id,
        "connector_fingerprint": request.connector_thumbprint,
        "request_digest": request.request_digest,
        "created_at": rfc3339(request.created_at),
    }
