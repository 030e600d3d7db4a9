"""Requests of an app, and those that wait for a person."""

from typing import Any

from accounts.models import User
from common.admission.cursors import cursor_of, position_of
from common.clock import database_now
from common.sql.dialect import ClockTimestamp, timestamp
from common.sql.statements import rows
from consent import status
from consent.requests.models import ConsentRequest
from consent.shapes import ConsentRequests
from consent.states import RequestStatus, effective_request_status_sql


def requests_of_app(*, app_pk: int, status_is: str | None, cursor: str | None, limit: int) -> ConsentRequests:
    """Contract 1.6: status bodies, newest first, and the cursor of the next page."""
    now = database_now()
    where = ["r.app_id = %(app_pk)s", "NOT r.withheld"]
    parameters: dict[str, Any] = {"app_pk": app_pk, "most": limit + 1}
    if cursor is not None:
        where.append("r.id < %(before)s")
        parameters["before"] = position_of(cursor)
    if status_is is not None:
        where.append(effective_request_status_sql(RequestStatus(status_is)))
        parameters["now"] = timestamp(now)
    found = rows(f"{status.SELECT} WHERE {' AND '.join(where)} ORDER BY r.id DESC LIMIT %(most)s", parameters)
    page = found[:limit]
    following = cursor_of(page[-1]["id"]) if len(found) > limit else None
    return {"requests": [status.body(row, now) for row in page], "next_cursor": following}


def count_pending(user: User) -> int:
    """How many requests wait for this person's decision."""
    return ConsentRequest.objects.pending(ClockTimestamp()).filter(user=user).count()
