"""Requests of an app, and those that wait for a person."""

import base64
import binascii
from typing import TYPE_CHECKING, Any

from common.clock import database_now
from common.problems import FieldError, InvalidRequest
from common.sql.dialect import timestamp
from common.sql.statements import rows
from consent import status
from consent.requests.models import ConsentRequest
from consent.shapes import ConsentRequests
from consent.standing import requests_standing_sql
from consent.states import RequestStatus

if TYPE_CHECKING:
    from accounts.models import User


def requests_of_app(*, app_pk: int, status_is: str | None, cursor: str | None, limit: int) -> ConsentRequests:
    """Contract 1.6: status bodies, newest first, and the cursor of the next page."""
    now = database_now()
    where = ["r.app_id = %(app_pk)s"]
    parameters: dict[str, Any] = {"app_pk": app_pk, "most": limit + 1}
    if cursor is not None:
        where.append("r.id < %(before)s")
        parameters["before"] = _position(cursor)
    if status_is is not None:
        where.append(requests_standing_sql(RequestStatus(status_is)))
        parameters["now"] = timestamp(now)
    found = rows(f"{status.SELECT} WHERE {' AND '.join(where)} ORDER BY r.id DESC LIMIT %(most)s", parameters)
    page = found[:limit]
    following = _cursor(page[-1]["id"]) if len(found) > limit else None
    return {"requests": [status.body(row, now) for row in page], "next_cursor": following}


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


def count_pending(user: "User") -> int:
    """How many requests wait for this person's decision."""
    return ConsentRequest.objects.pending(database_now()).filter(user=user).count()
