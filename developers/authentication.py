"""Developer tokens at the developers' addresses (contract 1.1)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, cast

import orjson
from django.db import connection
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from common.admission.requests import JSONRequest
from common.identifiers import secret_digest
from common.problems import InvalidRequest
from common.sql.dialect import clock, timestamp
from common.sql.statements import rows
from developers.apps.models import AppMode, AppStatus
from developers.errors import AppSuspended, InvalidToken
from developers.oauth.resources import challenge, resource_at, server_metadata
from developers.tokens.format import has_form, host_kind
from developers.tokens.models import Permission

_USE_WRITTEN_EVERY = timedelta(hours=1)

# One joined read: the token and its app, valid by the database's clock. A rotated token may be revoked in the future.
_TABLES = "developer_tokens t JOIN developer_apps a ON a.id = t.app_id"
_IS_IT = "t.digest = %(digest)s"
_IS_OF_HOST = """
t.id = (SELECT s.token_id FROM oauth_secrets s
         WHERE s.digest = %(digest)s AND s.kind = 'access' AND s.expires_at > {clock})
"""
_IS_VALID = """
a.status <> 'closed' AND t.expires_at > {clock} AND (t.revoked_at IS NULL OR t.revoked_at > {clock})
AND (t.client_id IS NULL OR EXISTS (SELECT 1 FROM users u WHERE u.id = t.created_by_id AND u.is_active))
"""  # a host acts for somebody, and not once their account is closed
_FIND = f"""
SELECT t.id AS token_pk, t.permissions, t.header_only, a.id AS app_pk, a.app_id, a.name AS app_name,
       a.status AS app_status, a.mode, a.verified, a.request_budget, t.resource,
       (t.last_used_at IS NULL OR t.last_used_at < %(used_before)s) AS use_unwritten
  FROM {_TABLES} WHERE {{is_it}} AND {_IS_VALID}
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
    resource: str = ""  # the one address that a host's token opens; "" for a developer token, which opens all
    is_personal: bool = False  # reaches the one person who connected it

    @property
    def is_live(self) -> bool:
        """Whether staff let it reach everybody; the others anybody makes."""
        return not (self.is_test or self.is_personal)

    @property
    def is_host(self) -> bool:
        return bool(self.resource)


class DeveloperTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """Either of the two ways in which a token travels; or a host's token, which it gets by OAuth."""

    target_class = "developers.authentication.DeveloperToken"
    name = ["bearer", "query", "oauth"]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        server = server_metadata()
        return [
            {
                "type": "http",
                "scheme": "bearer",
                "description": "Your developer token, `cr_live_…`. Keep it on your server.",
            },
            {
                "type": "apiKey",
                "in": "query",
                "name": "token",
                "description": "The same token in the query. Addresses end up in logs, so prefer the header.",
            },
            {
                "type": "oauth2",
                "description": "For hosts that cannot keep a developer token: code with PKCE, `resource` compulsory.",
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": server["authorization_endpoint"],
                        "tokenUrl": server["token_endpoint"],
                        "refreshUrl": server["token_endpoint"],
                        "scopes": {str(one.value): str(one.label) for one in Permission},
                    }
                },
            },
        ]


class DeveloperToken(BaseAuthentication):
    """The token of the Authorization header, or of the query. There is no user; `request.auth` is the `AppContext`.

    A host's token opens the one resource that it was made for, and travels in the header alone.
    """

    def authenticate(self, request: Request) -> tuple[None, AppContext]:
        """Raises `InvalidRequest` where a token is given twice, `InvalidToken` for every other reason to refuse it."""
        read = cast("JSONRequest", request)
        in_query = [value for name, value in read.query_pairs if name == "token"]
        in_header = bearer(read)
        if len(in_query) + (in_header is not None) > 1 or (in_header and "," in in_header):
            raise InvalidRequest(
                "Send the developer token once: in the Authorization header, or as `token` in the query."
            )
        token = in_header if in_header is not None else in_query[0] if in_query else ""
        if not token:
            refused = challenge(read.path, error="invalid_token" if in_query else "", with_metadata=not in_query)
            raise InvalidToken("Send your developer token as `Authorization: Bearer …`.", refused)
        app = find_token(token)
        is_elsewhere = app is not None and app.is_host and app.resource != resource_at(read.path)
        if app is None or is_elsewhere or (app.header_only and in_header is None):
            raise InvalidToken(
                "The developer token is unknown, expired or revoked, or it may only travel in the header.",
                # who uses the query has a token of their own, and must not be led to ask somebody for another
                challenge(read.path, error="invalid_token", with_metadata=in_header is not None),
            )
        return None, app

    def authenticate_header(self, request: Request) -> str:  # as REST framework calls it
        return "Bearer"


def find_token(token: str) -> AppContext | None:
    """The app that `token` belongs to, or None where the token is unknown, expired, revoked or its app closed.

    Notes the use of the token, at most once an hour.
    """
    of_host = host_kind(token) == "oauth"
    if not (of_host or has_form(token)):
        return None  # never reaches the database, whatever bytes it holds
    at, used_before = clock(), timestamp(datetime.now(UTC) - _USE_WRITTEN_EVERY)
    given = {**at.parameters, "digest": secret_digest(token), "used_before": used_before}
    found = rows(_with_clock(_FIND, at.sql, _IS_OF_HOST if of_host else _IS_IT), given)
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
        resource=row["resource"],
        is_personal=row["mode"] == AppMode.PERSONAL,
    )


@cache
def _with_clock(statement: str, clock_sql: str, is_it: str = "") -> str:
    return statement.format(clock=clock_sql, is_it=is_it.format(clock=clock_sql))


def is_token_valid(token_pk: int) -> bool:
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
