"""Where a request or a grant stands: what is written of it, and the clock (pure).

From `expires_at` on, a pending request and a live grant are expired. A task writes that down only later, so nobody goes
by the written status alone. `pending`, `live` and `overdue` of the models' querysets and the SQL below say the same for
many rows at once; a test holds them against the two functions.
"""

from datetime import datetime

from consent.states import LIVE_GRANTS, GrantStatus, RequestStatus


def request_standing(status: str, expires_at: datetime, now: datetime) -> RequestStatus:
    """Where a request of this written status stands at `now`."""
    is_overdue = status == RequestStatus.PENDING and expires_at <= now
    return RequestStatus.EXPIRED if is_overdue else RequestStatus(status)


def grant_standing(status: str, expires_at: datetime, now: datetime) -> GrantStatus:
    """Where a grant of this written status stands at `now`."""
    is_overdue = status in LIVE_GRANTS and expires_at <= now
    return GrantStatus.EXPIRED if is_overdue else GrantStatus(status)


def requests_standing_sql(standing: RequestStatus) -> str:
    """A condition on `consent_requests r`: these stand there at `%(now)s`."""
    written = f"r.status = '{standing}'"
    if standing is RequestStatus.PENDING:
        return f"({written} AND r.expires_at > %(now)s)"
    if standing is RequestStatus.EXPIRED:
        return f"({written} OR (r.status = '{RequestStatus.PENDING}' AND r.expires_at <= %(now)s))"
    return f"({written})"
