"""Reads of the consent runtime, each starting from the one who asks."""

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

import pkm.queries
from accounts.database import database_now, rfc3339, rows
from accounts.errors import FieldError, InvalidRequest
from consent import audit, digest, guessing, status
from consent.actions.discovery import note_discovery
from consent.errors import ScopeRegistryUnavailable, UnknownReceipt, UnknownRequest
from consent.limits import Meter
from consent.models import AuditPending, ConsentRequest, Grant, Receipt
from consent.schemas import is_identifier
from consent.states import RequestStatus
from developers.authentication import AppContext, Beside
from pkm.registry import RegistryCopy, current_version
from pkm.sealed import CONNECTOR_CURVES, EXPORT_ALG

if TYPE_CHECKING:
    from accounts.models import User

_DISCOVERY = """
SELECT v.version, CASE WHEN u.is_active THEN u.id END AS user_pk, i.summary_projection, k.vault_status,
       (SELECT {join_text}(h.scope, ' ') FROM hidden_scopes h WHERE h.user_id = u.id) AS hidden,
       {guesses}
  FROM pkm_registry_version v
 CROSS JOIN {misses}
  LEFT JOIN users u ON u.public_id = %(user_id)s
  LEFT JOIN pkm_index i ON i.user_id = u.id
  LEFT JOIN vault_keys k ON k.user_id = u.id
"""


_RUNTIME = {
    can_approve: orjson.dumps(
        {
            "can_approve": can_approve,
            "wrapping_algorithms": [EXPORT_ALG],
            "connector_curves": list(CONNECTOR_CURVES),
            "refresh_policies": ["snapshot", "continuous"],
            "access_duration": {"default": 86400, "min": 300, "max": 31536000},
            "interval": status.INTERVAL,
        }
    )
    for can_approve in (True, False)
}


def user_scopes(*, app: AppContext, user_id: str, meter: Meter | None = None) -> bytes:
    """The body of contract 1.2, and the discovery written down. One query beside those of a first discovery.

    `meter` says on whose behalf the app asks, and takes note of the limit on guessing.
    """
    meter = meter or Meter()
    join_text = "string_agg" if connection.vendor == "postgresql" else "group_concat"
    found = rows(
        _DISCOVERY.format(join_text=join_text, misses=guessing.MISSES, guesses=guessing.COLUMNS),
        {"user_id": user_id, **guessing.parameters(app.app_pk, meter.hint)},
    )
    if not found:
        raise ScopeRegistryUnavailable
    row = found[0]
    guessing.admit(row, app_pk=app.app_pk, meter=meter)
    discovered = _registry(row["version"]).discovered_for(row["summary_projection"] or "{}", row["hidden"] or "")
    note_discovery(app_pk=app.app_pk, user_pk=row["user_pk"])
    return b'{"user_id":%b,%b,"runtime":%b}' % (
        orjson.dumps(user_id),
        discovered.members,
        _RUNTIME[row["vault_status"] == "active"],
    )


def scope_catalog() -> bytes:
    """The deployment's exposable entries."""
    try:
        return _registry(current_version()).catalog
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # a registry without its version row is as unreadable as a broken one
        raise ScopeRegistryUnavailable from error


def _registry(version: str) -> RegistryCopy:
    try:
        return RegistryCopy.for_version(version)
    except (OperationalError, InterfaceError):
        raise  # the database is away: temporarily_unavailable
    except (DatabaseError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScopeRegistryUnavailable from error


def database_now_cheap() -> datetime:
    """This process's clock, where a second more or less decides nothing."""
    from django.utils import timezone

    return timezone.now()


def status_beside(request_id: Any) -> Beside | None:
    """The read of one request's status, for whichever app asks; None for what cannot be the name of a request."""
    if not isinstance(request_id, str) or not is_identifier(request_id):
        return None
    return Beside(status.BESIDE, {"request_id": request_id})


def status_body(
    *,
    app_pk: int,
    request_id: str | None = None,
    user_id: str | None = None,
    scope: str | None = None,
    beside: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The status body of one request of this app, or of its newest for a person and scope.

    One query, or none where the row of `status_beside` is given and is the one that is asked for.
    """
    if beside is not None and (beside["owner_pk"], beside["request_id"]) == (app_pk, request_id):
        found = [dict(beside)]
    elif request_id is not None:
        found = rows(f"{status.SELECT} WHERE r.request_id = %s AND r.app_id = %s", [request_id, app_pk])
    else:
        found = rows(
            f"{status.SELECT} WHERE u.public_id = %s AND r.scope = %s AND r.app_id = %s ORDER BY r.id DESC LIMIT 1",
            [user_id, scope, app_pk],
        )
    if not found:
        raise UnknownRequest
    return status.body(found[0], database_now_cheap())


def status_for_owner(*, request_id: str, user: "User") -> dict[str, Any]:
    """The same body for the person whom the request is about."""
    found = rows(f"{status.SELECT} WHERE r.request_id = %s AND r.user_id = %s", [request_id, user.pk])
    if not found:
        raise UnknownRequest
    return status.body(found[0], database_now())


def requests_of_app(*, app_pk: int, status_is: str | None, cursor: str | None, limit: int) -> dict[str, Any]:
    """Contract 1.6: status bodies, newest first, and the cursor of the next page."""
    now = database_now()
    parameters: list[Any] = [app_pk]
    where = ["r.app_id = %s"]
    if cursor is not None:
        where.append("r.id < %s")
        parameters.append(_position(cursor))
    if status_is is not None:
        where.append(_STATUS_BY_CLOCK[status_is])
        parameters.extend([connection.ops.adapt_datetimefield_value(now)] * _STATUS_BY_CLOCK[status_is].count("%s"))
    found = rows(f"{status.SELECT} WHERE {' AND '.join(where)} ORDER BY r.id DESC LIMIT %s", [*parameters, limit + 1])
    page = found[:limit]
    following = _cursor(page[-1]["id"]) if len(found) > limit else None
    return {"requests": [status.body(row, now) for row in page], "next_cursor": following}


# pending and expired are told by the clock, since a task writes expiry down only later
_STATUS_BY_CLOCK = {
    "pending": "r.status = 'pending' AND r.expires_at > %s",
    "expired": "(r.status = 'expired' OR (r.status = 'pending' AND r.expires_at <= %s))",
    "approved": "r.status = 'approved'",
    "denied": "r.status = 'denied'",
    "cancelled": "r.status = 'cancelled'",
}


def _cursor(position: int) -> str:
    return base64.urlsafe_b64encode(f"r{position}".encode()).decode().rstrip("=")


def _position(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        position = int(text.removeprefix("r"))
    except (binascii.Error, ValueError):
        position = -1
    if not 0 < position < 2**63 or _cursor(position) != cursor:
        error: FieldError = {"field": "cursor", "code": "unknown", "message": "use the next_cursor of an answer"}
        raise InvalidRequest("The cursor is not one of ours.", errors=[error])
    return position


def receipt_for_app(*, app_pk: int, receipt_id: str) -> dict[str, Any]:
    """The app's copy of a receipt: {"receipt_id", "jws", "claims"}."""
    receipt = (
        Receipt.objects.filter(receipt_id=receipt_id, request__app_id=app_pk).only("app_jws", "receipt_id").first()
    )
    if receipt is None:
        raise UnknownReceipt
    return {"receipt_id": receipt.receipt_id, "jws": receipt.app_jws, "claims": _claims(receipt.app_jws)}


def receipt_for_owner(*, user: "User", receipt_id: str) -> dict[str, Any]:
    """The person's own copy of a receipt."""
    receipt = Receipt.objects.filter(receipt_id=receipt_id, request__user=user).only("jws", "receipt_id").first()
    if receipt is None:
        raise UnknownReceipt
    return {"receipt_id": receipt.receipt_id, "jws": receipt.jws, "claims": _claims(receipt.jws)}


def _claims(jws: str) -> Any:
    payload = jws.split(".")[1]
    return orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def entry_follows(*, user: "User", request_id: str) -> bool:
    """Whether what happened to this request still waits to enter the person's history."""
    return AuditPending.objects.filter(request__user=user, request__request_id=request_id).exists()


def count_entries_that_follow(user: "User") -> int:
    """How much still waits to enter this person's history."""
    return AuditPending.objects.filter(chain=audit.person_chain(user.public_id)).count()


def count_pending(user: "User") -> int:
    """How many requests wait for this person's decision."""
    return ConsentRequest.objects.filter(user=user, status=RequestStatus.PENDING, expires_at__gt=database_now()).count()


def request_data(*, user: "User", request_id: str) -> dict[str, Any]:
    """Contract §2, `data`: what the person's browser needs to check, show and seal."""
    request = (
        ConsentRequest.objects.select_related("app__application", "user", "scope_entry__domain")
        .filter(user=user, request_id=request_id)
        .first()
    )
    if request is None:
        raise UnknownRequest
    application = request.app.application
    return {
        "request": digest.asked(request, app_id=request.app.app_id, user_id=user.public_id),
        "request_digest": request.request_digest,
        "status": status.request_status({"status": request.status, "expires_at": request.expires_at}, database_now()),
        "connector_public_key": request.connector_public_key,
        "connector_key_id": request.connector_key_id,
        "app": {
            "app_id": request.app.app_id,
            "name": request.app.name,
            "legal_name": application.legal_name,
            "verified": request.app.verified,
            "website": application.website,
            "privacy_policy": application.privacy_policy,
        },
        "scope_entry": pkm.queries.entry_body(request.scope_entry),
        "issuer": settings.ISSUER,
        "export_revision": 1,
        "known_connector_key": is_known_connector(request),
    }


def is_known_connector(request: ConsentRequest) -> bool:
    """Whether this app used this key with this person in an earlier approval."""
    return (
        Grant.objects.filter(
            app_id=request.app_id,
            user_id=request.user_id,
            request__connector_thumbprint=request.connector_thumbprint,
        )
        .exclude(request=request)
        .exists()
    )


def is_first_time_app(request: ConsentRequest) -> bool:
    """Whether this person never approved anything for this app."""
    return not Grant.objects.filter(app_id=request.app_id, user_id=request.user_id).exclude(request=request).exists()


def grant_before(request: ConsentRequest) -> Grant | None:
    """The newest approval of the same scope by the same person for the same app, whatever became of it."""
    same = Grant.objects.filter(app_id=request.app_id, user_id=request.user_id, scope=request.scope)
    return same.exclude(request=request).select_related("request").order_by("-pk").first()


def owner_times(grant: Grant) -> dict[str, str | None]:
    """A grant's beginning and end for the person's own programs."""
    return {"starts_at": rfc3339(grant.starts_at), "expires_at": rfc3339(grant.expires_at)}
