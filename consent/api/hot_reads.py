"""Token and status in one read, written by hand because it pays.

A program that waits asks for the status of its request again and again, so this is by far the most frequent call. One
statement in place of two answers 16 % more of them a second; docs/adr/0012 has the measurement. Everything here has a
plain equivalent that gives the same answer: `developers.authentication.find_token`, then
`consent.status_queries.status_body`.

To use it, a view has `DeveloperToken` find the app by `token_and_status`, and calls `status_body` with the app that was
let in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from common.clock import process_now
from common.identifiers import is_identifier
from common.sql.statements import rows
from consent import status, status_queries
from consent.shapes import ConsentStatus
from developers.authentication import (
    COLUMNS,
    IS_VALID,
    TABLES,
    AppContext,
    accept,
    app_of,
    find_token,
    validity,
)
from developers.tokens.digests import digest, has_form

_STATUS = f"LEFT JOIN ({status.SELECT_WITH_OWNER}) s ON s.owner_pk = a.id"
_FIND = f"SELECT {COLUMNS}, s.* FROM {TABLES} {_STATUS} WHERE {IS_VALID}"  # noqa: S608  # constants of this program
_MOST_KNOWN = 10_000
_known: set[str] = set()  # digests of tokens that were good when this process last met them; none is let in for it


@dataclass(frozen=True, slots=True)
class AppWithStatus(AppContext):
    """The app that calls, with the status of its request that was read with the token."""

    status_row: Mapping[str, Any] | None = None


def token_and_status(token: str, request_id: object) -> AppContext | None:
    """As `find_token`, with the status of that request where it is one of the app's; an ID may be of any form."""
    if not (isinstance(request_id, str) and is_identifier(request_id) and has_form(token)):
        return find_token(token)
    clock, parameters = validity(token)
    found = rows(_find(clock), {**parameters, "request_id": request_id})
    if not found or not accept(found[0]):
        return None
    row = found[0]
    return AppWithStatus(**app_of(row), status_row=row if row["owner_pk"] is not None else None)


def token_and_status_of_body(token: str, request_id: Callable[[], object]) -> AppContext | None:
    """The same where the body names the request: nobody waits for the body of who was not let in before."""
    if not has_form(token):
        return None  # what has none may not even be text
    hashed = digest(token)
    app = token_and_status(token, request_id()) if hashed in _known else find_token(token)
    if app is None:
        _known.discard(hashed)
    else:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known.add(hashed)
    return app


@cache
def _find(clock: str) -> str:
    return _FIND.format(clock=clock)


def status_body(
    *, app: AppContext, request_id: str | None = None, user_id: str | None = None, scope: str | None = None
) -> ConsentStatus:
    """As `consent.status_queries.status_body`, without a read where the status came with the token."""
    row = app.status_row if isinstance(app, AppWithStatus) else None
    if row is not None and row["request_id"] == request_id:
        return status.body(row, process_now())
    return status_queries.status_body(app_pk=app.app_pk, request_id=request_id, user_id=user_id, scope=scope)
