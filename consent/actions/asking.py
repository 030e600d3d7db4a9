"""An app asks one person for one scope, for one purpose."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import DateTimeField, JSONField
from django.utils import timezone

import pkm.sealed
from accounts.database import database_now, rfc3339, rows, utc
from accounts.identifiers import new_identifier
from consent import digest, guessing, limits
from consent.actions.ending import close_request
from consent.errors import (
    InvalidConnectorKey,
    InvalidScope,
    RequestPending,
    ScopeRegistryUnavailable,
)
from consent.limits import Meter
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
SELECT CASE WHEN u.is_active THEN u.id END AS user_pk, i.summary_projection, v.version, {guesses},
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = u.id AND b.app_id = %(app_pk)s) AS blocked,
       (SELECT {join_text}(h.scope, ' ') FROM hidden_scopes h WHERE h.user_id = u.id) AS hidden
  FROM pkm_registry_version v
 CROSS JOIN {misses}
  LEFT JOIN users u ON u.public_id = %(user_id)s
  LEFT JOIN pkm_index i ON i.user_id = u.id
"""
# What may have changed since, read again once nobody can change it: what waits and what was asked lately, the registry,
# the app's name, a block.
_STANDING = """
SELECT {clock} AS now, v.version, a.name AS app_name,
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = %(user_pk)s AND b.app_id = %(app_pk)s) AS blocked,
       r.id, r.scope, r.connector_thumbprint, r.expires_at, d.made, d.first_at
  FROM pkm_registry_version v
  JOIN developer_apps a ON a.id = %(app_pk)s
 CROSS JOIN (SELECT count(*) AS made, min(n.created_at) AS first_at FROM consent_requests n
              WHERE n.user_id = %(user_pk)s AND n.app_id = %(app_pk)s AND n.created_at > %(since)s) d
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


@dataclass(frozen=True)
class _Asking:
    """One call: who asks, what, for which key, and what its limits said."""

    app: AppContext
    body: RequestConsentBody
    key: dict[str, str]
    thumbprint: str
    meter: Meter


def request_consent(
    *, app: AppContext, body: RequestConsentBody, idempotency_key: str | None, meter: Meter | None = None
) -> tuple[dict[str, Any], bool]:
    """The answer of contract 1.3, and whether a request was made (rather than found again).

    `meter` says on whose behalf the app asks, and takes note of every limit that the call meets.
    """
    key, thumbprint = _connector(body)
    asking = _Asking(app, body, key, thumbprint, meter or Meter())
    while True:
        context = _context(asking)  # outside the transaction: a miss is counted even though the call is refused
        try:
            return _ask(asking, context, idempotency_key)
        except _Changed as changed:
            asking = replace(asking, app=replace(app, app_name=str(changed)))
        except BaseException:
            limits.give_back(app=app, meter=asking.meter)
            raise


@transaction.atomic
def _ask(asking: _Asking, context: dict[str, Any], idempotency_key: str | None) -> tuple[dict[str, Any], bool]:
    claim = None
    if idempotency_key is not None:
        claim = claim_idempotency_key(
            app_pk=asking.app.app_pk,
            operation="request-consent",
            key=idempotency_key,
            body=asking.body.model_dump(),
            lifetime=_REPEAT,
        )
        if claim.answer is not None:
            return claim.answer["body"], bool(claim.answer["created"])
    answer, created = _find_or_make(asking, context)
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


def _context(asking: _Asking) -> dict[str, Any]:
    """What is known of the person whom the body names, or the refusal where there is none."""
    app_pk, meter = asking.app.app_pk, asking.meter
    join_text = "string_agg" if connection.vendor == "postgresql" else "group_concat"
    found = rows(
        _CONTEXT.format(join_text=join_text, misses=guessing.MISSES, guesses=guessing.COLUMNS),
        {"user_id": asking.body.user_id, **guessing.parameters(app_pk, meter.hint)},
    )
    if not found:
        raise ScopeRegistryUnavailable
    guessing.admit(found[0], app_pk=app_pk, meter=meter)
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


def _find_or_make(asking: _Asking, context: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    app, body, meter = asking.app, asking.body, asking.meter
    entry = _entry(body, context)
    held = _hold(app, body, context)
    now = held.now
    for row in held.waiting:
        if row["scope"] == body.scope and row["connector_thumbprint"] == asking.thumbprint:
            if row["deadline"] > now:
                return _same_or_refuse(asking, entry, row["id"], now), False
            close_request(request_pk=row["id"], to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now)
    deadlines = [row["deadline"] for row in held.waiting if row["deadline"] > now]
    limits.few_enough_pending(deadlines=deadlines, now=now, meter=meter)
    limits.not_just_denied(app_pk=app.app_pk, user_pk=context["user_pk"], scope=body.scope, now=now)
    limits.few_enough_today(made=held.made, first_at=held.first_at, now=now, meter=meter)
    request = _frozen(app, body, context["user_pk"], entry, asking.key, asking.thumbprint, now)
    limits.spend_hourly_budget(app=app, meter=meter)
    _insert(request)
    limits.note_new_request(meter)
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


@dataclass(frozen=True)
class _Held:
    """What no other call can change before this one ends: the app's requests of the person, and the time by then."""

    now: datetime  # by the database's clock
    waiting: list[dict[str, Any]]
    made: int  # new requests of the last 24 hours
    first_at: datetime | None  # when the first of those was made


def _hold(app: AppContext, body: RequestConsentBody, context: dict[str, Any]) -> _Held:
    """Keep everybody else from asking this person for this app, or changing what is asked, and look."""
    on_postgresql = connection.vendor == "postgresql"
    if on_postgresql:
        rows(_HOLD, [f"ask:{app.app_pk}:{context['user_pk']}", body.scope, app.app_pk])
    since = connection.ops.adapt_datetimefield_value(timezone.now() - limits.DAY)
    found = rows(
        _STANDING.format(clock="clock_timestamp()" if on_postgresql else "NULL"),
        {"user_pk": context["user_pk"], "app_pk": app.app_pk, "since": since},
    )
    if not found or found[0]["version"] != context["version"] or found[0]["app_name"] != app.app_name:
        raise _Changed(found[0]["app_name"] if found else app.app_name)
    if found[0]["blocked"]:
        raise InvalidScope
    return _Held(
        now=utc(found[0]["now"]) or database_now(),
        waiting=[{**row, "deadline": utc(row["expires_at"])} for row in found if row["id"] is not None],
        made=found[0]["made"],
        first_at=utc(found[0]["first_at"]),
    )


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


def _same_or_refuse(asking: _Asking, entry: Entry, request_pk: int, now: datetime) -> dict[str, Any]:
    """The request that waits already, where this one asks the very same."""
    app, body = asking.app, asking.body
    standing = ConsentRequest.objects.get(pk=request_pk)
    key, asked_at = standing.connector_public_key, standing.created_at
    wanted = _frozen(app, body, standing.user_id, entry, key, asking.thumbprint, asked_at)
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
