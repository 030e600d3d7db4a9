"""Developer tokens at the developers' addresses (contract 1.1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl

import orjson
from django.db import connection
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.database import database_now, rows
from accounts.errors import InvalidRequest
from developers.errors import InvalidToken
from developers.models import AppStatus
from developers.tokens import digest, has_form

_USE_WRITTEN_EVERY = timedelta(hours=1)

# One joined read: the token and its app, valid by the database's clock. A rotated token may be revoked in the future.
_FIND = """
SELECT t.id AS token_pk, t.permissions, t.header_only, a.id AS app_pk, a.app_id, a.name AS app_name,
       a.status AS app_status, a.verified, a.request_budget,
       (t.last_used_at IS NULL OR t.last_used_at < %(used_before)s) AS use_unwritten {columns}
  FROM developer_tokens t JOIN developer_apps a ON a.id = t.app_id {join}
 WHERE t.digest = %(digest)s AND t.expires_at > {clock} AND (t.revoked_at IS NULL OR t.revoked_at > {clock})
"""
_WRITE_USE = """
UPDATE developer_tokens SET last_used_at = {clock}
 WHERE id = %(token_pk)s AND (last_used_at IS NULL OR last_used_at < %(used_before)s)
"""


@dataclass(frozen=True, slots=True)
class Beside:
    """One thing of the calling app that is read by the statement that finds its token: a hot address makes one read.

    `select` finds it by `parameters`, which come from outside and have been checked; its column `owner_pk` is the app
    that it belongs to. The other columns have names that the read of a token does not use.
    """

    select: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AppContext:
    """The app that calls, and what the token it called with may do; `beside` is the row that was read beside it."""

    app_pk: int
    app_id: str
    app_name: str
    token_pk: int
    permissions: frozenset[str]
    suspended: bool
    verified: bool
    header_only: bool
    beside: Mapping[str, Any] | None = None
    request_budget: int | None = None  # an hour, where the app has one of its own; 0 is no limit


LookAhead = Callable[[HttpRequest], Beside | None]

# Digests of tokens that were good when this process last met them. None is let in for it: it says for whose requests
# it is worth looking ahead, and that may mean to wait for a body, which a stranger would never send.
_met: set[str] = set()
_MOST_MET = 10_000


def query_pairs(request: HttpRequest) -> list[tuple[str, str]]:
    """The members of the query string in order, repeated ones too. Bytes that are no UTF-8 become lone surrogates."""
    known: list[tuple[str, str]] | None = getattr(request, "query_pairs", None)
    if known is None:
        query = request.META.get("QUERY_STRING", "")
        known = parse_qsl(query, keep_blank_values=True, errors="surrogateescape") if query else []
        request.query_pairs = known  # type: ignore[attr-defined]  # parsed once, asked for by several checks
    return known


def authenticate(request: HttpRequest, beside: LookAhead | None = None) -> AppContext:
    """The app behind the token of `request`, with what `beside` wants read; that is only asked for a token met before.

    Raises `InvalidRequest` where a token is given twice, `InvalidToken` for every other reason not to let it in.
    """
    in_query = [value for name, value in query_pairs(request) if name == "token"]
    in_header = _bearer(request)
    if len(in_query) + (in_header is not None) > 1 or (in_header and "," in in_header):
        raise InvalidRequest("Send the developer token once: in the Authorization header, or as `token` in the query.")
    token = in_header if in_header is not None else in_query[0] if in_query else ""
    if not token:
        raise InvalidToken("Send your developer token as `Authorization: Bearer …`.")
    app = find_token(token, partial(beside, request) if beside else None)
    if app is None or (app.header_only and in_header is None):
        raise InvalidToken("The developer token is unknown, expired or revoked, or it may only travel in the header.")
    return app


def find_token(token: str, look_ahead: Callable[[], Beside | None] | None = None) -> AppContext | None:
    """The app that `token` belongs to, or None where the token is unknown, expired, revoked or its app closed.

    Notes the use of the token, at most once an hour.
    """
    if not has_form(token):
        return None  # never reaches the database, whatever bytes it holds
    hashed = digest(token)
    beside = look_ahead() if look_ahead and hashed in _met else None
    clock, parameters = _clock()
    sql = _find(clock, beside.select if beside else None)
    found = rows(sql, {**parameters, "digest": hashed, **(beside.parameters if beside else {})})
    if not found or found[0]["app_status"] == AppStatus.CLOSED:
        _met.discard(hashed)
        return None
    if len(_met) >= _MOST_MET:
        _met.clear()
    _met.add(hashed)
    row = found[0]
    if row["use_unwritten"]:
        with connection.cursor() as cursor:
            cursor.execute(_WRITE_USE.format(clock=clock), {**parameters, "token_pk": row["token_pk"]})
    return AppContext(
        app_pk=row["app_pk"],
        app_id=row["app_id"],
        app_name=row["app_name"],
        token_pk=row["token_pk"],
        permissions=frozenset(orjson.loads(row["permissions"])),
        suspended=row["app_status"] != AppStatus.ACTIVE,
        verified=bool(row["verified"]),
        header_only=bool(row["header_only"]),
        beside=row if beside is not None and row["owner_pk"] is not None else None,
        request_budget=row["request_budget"],
    )


@cache
def _find(clock: str, select: str | None) -> str:
    """The statement that finds a token, and what `select` of a `Beside` finds; both are constants of this program."""
    if select is None:
        return _FIND.format(clock=clock, columns="", join="")
    return _FIND.format(clock=clock, columns=", b.*", join=f"LEFT JOIN ({select}) b ON b.owner_pk = a.id")


class DeveloperToken(BaseAuthentication):
    """The same for views that take DRF's own path; `request.auth` is the `AppContext`. There is no user."""

    def authenticate(self, request: Request) -> tuple[None, AppContext]:
        return None, authenticate(request._request)

    def authenticate_header(self, request: Request) -> str:  # as DRF calls it
        return "Bearer"


def _bearer(request: HttpRequest) -> str | None:
    """What follows `Bearer` in the Authorization header; None where there is no such header."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _clock() -> tuple[str, dict[str, Any]]:
    """The database's clock as SQL, with the parameters that go with it."""
    used_before = datetime.now(UTC) - _USE_WRITTEN_EVERY
    if connection.vendor == "postgresql":
        return "clock_timestamp()", {"used_before": used_before}
    adapt = connection.ops.adapt_datetimefield_value
    return "%(now)s", {"used_before": adapt(used_before), "now": adapt(database_now())}
