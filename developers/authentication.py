"""Developer tokens at the developers' addresses (contract 1.1)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import cast

import orjson
from django.db import connection
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from common.admission.requests import JSONRequest
from common.problems import InvalidRequest
from common.sql.dialect import clock, timestamp
from common.sql.statements import rows
from developers.apps.models import AppMode, AppStatus
from developers.errors import AppSuspended, InvalidToken
from developers.tokens.digests import digest, has_form

_USE_WRITTEN_EVERY = timedelta(hours=1)

# One joined read: the token and its app, valid by the database's clock. A rotated token may be revoked in the future.
_TABLES = "developer_tokens t JOIN developer_apps a ON a.id = t.app_id"
_IS_VALID = "a.status <> 'closed' AND t.expires_at > {clock} AND (t.revoked_at IS NULL OR t.revoked_at > {clock})"
_FIND = f"""
SELECT t.id AS token_pk, t.permissions, t.header_only, a.id AS app_pk, a.app_id, a.name AS app_name,
       a.status AS app_status, a.mode, a.verified, a.request_budget,
       (t.last_used_at IS NULL OR t.last_used_at < %(used_before)s) AS use_unwritten
  FROM {_TABLES} WHERE t.digest = %(digest)s AND {_IS_VALID}
"""  # noqa: S608  # constants of this program
_APP_STATUS = f"SELECT a.status FROM {_TABLES} WHERE t.id = %(token_pk)s AND {_IS_VALID}"  # noqa: S608  # as above
_WRITE_USE = """
UPDATE developer_tokens SET last_used_at = {clock}
 WHERE id = %(token_pk)s AND (last_used_at IS NULL OR last_used_at < %(used_before)s)
"""


@dataclass(frozen=True, slots=True)
class AppContext:
    """The app that calls, and what the token it called with may do."""

    app_pk: int
    app_id: str
    app_name: str
    token_pk: int
    permissions: frozenset[str]
    suspended: bool
    verified: bool
    header_only: bool
    is_test: bool = False  # reaches sandbox people and members who agreed alone (contract 5.2)
    request_budget: int | None = None  # an hour, where the app has one of its own; 0 is no limit


class DeveloperToken(BaseAuthentication):
    """The token of the Authorization header, or of the query. There is no user; `request.auth` is the `AppContext`."""

    def authenticate(self, request: Request) -> tuple[None, AppContext]:
        """Raises `InvalidRequest` where a token is given twice, `InvalidToken` for every other reason to refuse it."""
        asked = cast("JSONRequest", request)
        in_query = [value for name, value in asked.query_pairs if name == "token"]
        in_header = bearer(asked)
        if len(in_query) + (in_header is not None) > 1 or (in_header and "," in in_header):
            raise InvalidRequest(
                "Send the developer token once: in the Authorization header, or as `token` in the query."
            )
        token = in_header if in_header is not None else in_query[0] if in_query else ""
        if not token:
            raise InvalidToken("Send your developer token as `Authorization: Bearer …`.")
        app = find_token(token)
        if app is None or (app.header_only and in_header is None):
            raise InvalidToken(
                "The developer token is unknown, expired or revoked, or it may only travel in the header."
            )
        return None, app

    def authenticate_header(self, request: Request) -> str:  # as REST framework calls it
        return "Bearer"


def find_token(token: str) -> AppContext | None:
    """The app that `token` belongs to, or None where the token is unknown, expired, revoked or its app closed.

    Notes the use of the token, at most once an hour.
    """
    if not has_form(token):
        return None  # never reaches the database, whatever bytes it holds
    at, used_before = clock(), timestamp(datetime.now(UTC) - _USE_WRITTEN_EVERY)
    given = {**at.parameters, "digest": digest(token), "used_before": used_before}
    found = rows(_with_clock(_FIND, at.sql), given)
    if not found:
        return None
    row = found[0]
    if row["use_unwritten"]:
        given = {**at.parameters, "token_pk": row["token_pk"], "used_before": used_before}
        with connection.cursor() as cursor:
            cursor.execute(_with_clock(_WRITE_USE, at.sql), given)
    return AppContext(
        app_pk=row["app_pk"],
        app_id=row["app_id"],
        app_name=row["app_name"],
        token_pk=row["token_pk"],
        permissions=frozenset(orjson.loads(row["permissions"])),
        suspended=row["app_status"] != AppStatus.ACTIVE,
        verified=bool(row["verified"]),
        header_only=bool(row["header_only"]),
        is_test=row["mode"] == AppMode.TEST,
        request_budget=row["request_budget"],
    )


@cache
def _with_clock(statement: str, clock_sql: str) -> str:
    return statement.format(clock=clock_sql)


def still_lets_in(token_pk: int) -> bool:
    """Whether the token that let a held call in is good yet, and its app is active."""
    return _app_status_of(token_pk) == AppStatus.ACTIVE


def require_still_let_in(token_pk: int) -> None:
    """Raise `InvalidToken` or `AppSuspended` where the token let a call in that was held, and does not any more."""
    status = _app_status_of(token_pk)
    if status is None:
        raise InvalidToken("The developer token ended while this call was held.")
    if status != AppStatus.ACTIVE:
        raise AppSuspended("The app was suspended while this call was held.")


def _app_status_of(token_pk: int) -> str | None:
    """The status of the app of this token; None where the token ended, or the app was closed."""
    at = clock()
    found = rows(_with_clock(_APP_STATUS, at.sql), {**at.parameters, "token_pk": token_pk})
    return str(found[0]["status"]) if found else None


def bearer(request: JSONRequest) -> str | None:
    """What follows `Bearer` in the Authorization header; None where there is no such header."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
