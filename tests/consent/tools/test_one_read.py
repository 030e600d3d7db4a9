"""A status is read together with the token; that a message is looked into before its sender is known tells nothing."""

import io
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from developers.models import App
from tests.consent.tools.hosts import NEWEST, Host, error_of
from tests.factories import ConsentRequestFactory

pytestmark = pytest.mark.django_db


def message(request_id: Any, spaces: int = 0) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "check_consent_status", "arguments": {"request_id": request_id}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return orjson.dumps(asked) + b" " * spaces


NAMED = {
    "MCP-Protocol-Version": NEWEST,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "check_consent_status",
}


@pytest.mark.parametrize(("spaces", "reads"), [(0, 1), (4096, 2)])
def test_a_message_too_long_to_look_into_is_answered_all_the_same(
    spaces: int, reads: int, host: Host, app: App
) -> None:
    request_id = ConsentRequestFactory(app=app).request_id
    host.told("check_consent_status", {"request_id": request_id})  # the use of the token is written down

    with CaptureQueriesContext(connection) as made:
        answer = host.post(message(request_id, spaces), **NAMED)

    assert answer.json()["result"]["structuredContent"]["request_id"] == request_id
    assert len(made) == reads


@pytest.mark.parametrize("request_id", ["req_\x00", "", "r" * 65, "req_é", 5, None, ["req_a"], {"$gt": ""}])
def test_a_name_that_cannot_be_one_never_reaches_the_database(request_id: Any, host: Host) -> None:
    host.told("list_scope_catalog")

    with CaptureQueriesContext(connection) as made:
        answer = host.post(message(request_id), **NAMED)

    assert answer.status_code in (200, 400), answer.content
    assert not any("consent_requests" in query["sql"] for query in made)


class _Broken(io.BytesIO):
    """What a caller sends who hangs up in the middle."""

    def read(self, size: int | None = -1) -> bytes:
        raise OSError("connection reset")


def hang_up(token: str) -> Any:
    return Client().generic(
        "POST",
        "/mcp",
        message("req_a"),
        content_type="application/json",
        headers={**NAMED, "Accept": "application/json", "Authorization": f"Bearer {token}"},
        **{"wsgi.input": _Broken()},
    )


def test_a_body_that_ends_early_is_told_so(host: Host) -> None:
    answer = hang_up(host.token)

    assert error_of(answer) == (400, -32700)
    assert "ended early" in answer.json()["error"]["message"]


def test_a_stranger_is_a_stranger_whatever_the_body_is_like() -> None:
    answer = hang_up("cr_live_00000000_" + "0" * 43)

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
