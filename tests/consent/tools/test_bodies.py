"""No body is read of who is not let in, and none that ends early breaks anything."""

import io
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from developers.models import App
from tests.consent.tools.hosts import NEWEST, Host, envelope, error_of
from tests.factories.consent_requests import now

pytestmark = pytest.mark.django_db


def message(request_id: Any) -> bytes:
    params = {"name": "check_consent_status", "arguments": {"request_id": request_id}, "_meta": envelope()}
    request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return orjson.dumps(request)


NAMED = {
    "MCP-Protocol-Version": NEWEST,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "check_consent_status",
}


@pytest.mark.parametrize("request_id", ["req_\x00", "", "r" * 65, "req_é", 5, None, ["req_a"], {"$gt": ""}])
def test_a_name_that_cannot_be_one_never_reaches_the_database(request_id: Any, host: Host) -> None:
    host.answer("list_scope_catalog")

    with CaptureQueriesContext(connection) as made:
        answer = host.post(message(request_id), **NAMED)

    assert answer.status_code in (200, 400), answer.content
    assert not any("consent_requests" in query["sql"] for query in made)


class _Broken(io.BytesIO):
    """What a caller sends who hangs up in the middle; `reads` is how often it was waited for."""

    reads = 0

    def read(self, size: int | None = -1) -> bytes:
        self.reads += 1
        raise OSError("connection reset")


def hang_up(token: str, body: _Broken) -> Any:
    return Client().generic(
        "POST",
        "/mcp",
        message("req_a"),
        content_type="application/json",
        headers={**NAMED, "Accept": "application/json", "Authorization": f"Bearer {token}"},
        **{"wsgi.input": body},
    )


@pytest.mark.parametrize("met", [True, False])
def test_a_body_that_ends_early_is_a_parse_error(met: bool, host: Host) -> None:
    if met:
        host.answer("list_scope_catalog")

    answer = hang_up(host.token, _Broken())

    assert error_of(answer) == (400, -32700)
    assert "ended early" in answer.json()["error"]["message"]


def test_nobody_waits_for_the_body_of_who_was_let_in_once(host: Host, app: App) -> None:
    host.answer("list_scope_catalog")
    app.tokens.update(revoked_at=now() - timedelta(minutes=1))
    body = _Broken()

    assert hang_up(host.token, body).status_code == 401
    assert body.reads == 0


@pytest.mark.parametrize("token", ["cr_live_00000000_" + "0" * 43, "no token"])
def test_nobody_waits_for_the_body_of_a_stranger(token: str) -> None:
    body = _Broken()

    answer = hang_up(token, body)

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert body.reads == 0
