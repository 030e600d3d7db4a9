"""The two lifecycles, as tables (pure). Every change of a status goes through them, and so does the database."""

from datetime import datetime
from enum import StrEnum


class RequestStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class GrantStatus(StrEnum):
    """Where an approval stands."""

    ACTIVE = "active"
    PAUSED = "paused"
    REVOKED = "revoked"
    RELEASED = "released"
    TERMINATED = "terminated"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    SUPERSEDED = "superseded"


class ConnectionStatus(StrEnum):
    PENDING = "pending"
    CONNECTED = "connected"
    DECLINED = "declined"
    EXPIRED = "expired"


class Actor(StrEnum):
    """Who may cause a move: the person, the app, a member of staff, or the service itself."""

    PERSON = "person"
    APP = "app"
    STAFF = "staff"
    SYSTEM = "system"


REQUEST_MOVES: dict[RequestStatus, frozenset[RequestStatus]] = {
    RequestStatus.PENDING: frozenset(
        {RequestStatus.APPROVED, RequestStatus.DENIED, RequestStatus.CANCELLED, RequestStatus.EXPIRED}
    ),
    RequestStatus.APPROVED: frozenset(),
    RequestStatus.DENIED: frozenset(),
    RequestStatus.CANCELLED: frozenset(),
    RequestStatus.EXPIRED: frozenset(),
}

_ENDED_FROM_BOTH = frozenset(
    {
        GrantStatus.REVOKED,
        GrantStatus.RELEASED,
        GrantStatus.TERMINATED,
        GrantStatus.EXPIRED,
        GrantStatus.SUPERSEDED,
    }
)

GRANT_MOVES: dict[GrantStatus, frozenset[GrantStatus]] = {
    GrantStatus.ACTIVE: _ENDED_FROM_BOTH | {GrantStatus.PAUSED, GrantStatus.EXHAUSTED},
    GrantStatus.PAUSED: _ENDED_FROM_BOTH | {GrantStatus.ACTIVE},
    GrantStatus.REVOKED: frozenset(),
    GrantStatus.RELEASED: frozenset(),
    GrantStatus.TERMINATED: frozenset(),
    GrantStatus.EXPIRED: frozenset(),
    GrantStatus.EXHAUSTED: frozenset(),
    GrantStatus.SUPERSEDED: frozenset(),
}

LIVE_GRANTS = frozenset({GrantStatus.ACTIVE, GrantStatus.PAUSED})
ENDED_GRANTS = frozenset(GrantStatus) - LIVE_GRANTS


def effective_request_status(status: str, expires_at: datetime, now: datetime) -> RequestStatus:
    """Where a request of this written status stands at `now`."""
    is_overdue = status == RequestStatus.PENDING and expires_at <= now
    return RequestStatus.EXPIRED if is_overdue else RequestStatus(status)


def effective_grant_status(status: str, expires_at: datetime, now: datetime) -> GrantStatus:
    """Where a grant of this written status stands at `now`."""
    is_overdue = status in LIVE_GRANTS and expires_at <= now
    return GrantStatus.EXPIRED if is_overdue else GrantStatus(status)


def effective_request_status_sql(status: RequestStatus) -> str:
    """A condition on `consent_requests r`: these stand there at `%(now)s`."""
    written = f"r.status = '{status}'"
    if status is RequestStatus.PENDING:
        return f"({written} AND r.expires_at > %(now)s)"
    if status is RequestStatus.EXPIRED:
        return f"({written} OR (r.status = '{RequestStatus.PENDING}' AND r.expires_at <= %(now)s))"
    return f"({written})"
