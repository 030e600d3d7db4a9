"""The status of one request, from the one who asks."""

from typing import TYPE_CHECKING

from common.clock import database_now, process_now
from common.sql.statements import rows
from consent import status
from consent.errors import UnknownRequest
from consent.shapes import ConsentStatus

if TYPE_CHECKING:
    from accounts.models import User


def status_body(
    *,
    app_pk: int,
    request_id: str | None = None,
    user_id: str | None = None,
    scope: str | None = None,
) -> ConsentStatus:
    """The status body of one request of this app, or of its newest for a person and scope. One query."""
    if request_id is not None:
        found = rows(f"{status.SELECT} WHERE r.request_id = %s AND r.app_id = %s", [request_id, app_pk])
    else:
        found = rows(
            f"{status.SELECT} WHERE u.public_id = %s AND r.scope = %s AND r.app_id = %s ORDER BY r.id DESC LIMIT 1",
            [user_id, scope, app_pk],
        )
    if not found:
        raise UnknownRequest
    return status.body(found[0], process_now())


def status_for_owner(*, request_id: str, user: "User") -> ConsentStatus:
    """The same body for the person whom the request is about."""
    found = rows(f"{status.SELECT} WHERE r.request_id = %s AND r.user_id = %s", [request_id, user.pk])
    if not found:
        raise UnknownRequest
    return status.body(found[0], database_now())
