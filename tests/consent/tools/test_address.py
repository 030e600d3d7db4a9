"""`/mcp` itself: where it is, who is let in, and what is no message of the protocol (contract 1.1 and 3)."""

import json
from typing import Any

import orjson
import pytest

from developers.models import App
from tests.consent.api.addresses import problem
from tests.consent.api.test_strict_json import BODIES
from tests.consent.tools.hosts import NEWEST, PREVIOUS, TOOLS, Host, envelope, error_of

LIST = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
OLD = {"MCP-Protocol-Version": PREVIOUS}


# --- where ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_addresses_answer_without_a_redirect(path: str, any_host: Host) -> None:
    any_host.path = path

    answer = any_host.send("tools/list")

    assert answer.status_code == 200
    assert tuple(tool["name"] for tool in answer.json()["result"]["tools"]) == TOOLS
    assert (answer["Content-Type"], answer["Cache-Control"]) == ("application/json", "no-store")
    assert "Set-Cookie" not in answer
    assert "Mcp-Session-Id" not in answer


# --- the token --------------------------------------------------------------------------------------------------------
def test_a_token_in_the_query(host: Host) -> None:
    token, host.token = host.token, ""

    assert host.post(LIST, query=f"?token={token}", **OLD).status_code == 200


def test_a_token_twice_is_refused(host: Host) -> None:
    for query in (f"?token={host.token}", f"?token={host.token}&token={host.token}"):
        assert problem(host.post(LIST, query=query, **OLD)) == (400, "invalid_request")
    host_without = Host("")
    assert problem(host_without.post(LIST, query=f"?token={host.token}&token=x", **OLD)) == (400, "invalid_request")


@pytest.mark.parametrize("query", ["", "?token=", "?token=%00", "?token=cr_live_unknown", "?token=%ff"])
def test_no_good_token_is_401_before_the_message_is_read(query: str, db: None) -> None:
    answer = Host("").post(b"[" * 60_000, query=query)

    assert problem(answer) == (401, "invalid_token")
    assert ("resource_metadata" in answer["WWW-Authenticate"], "error" in answer["WWW-Authenticate"]) == (
        not query,
        bool(query),
    )


def test_a_header_only_token_is_not_taken_from_the_query(app: App) -> None:
    host = Host.of(app, header_only=True)

    assert host.send("tools/list").status_code == 200
    token, host.token = host.token, ""
    assert problem(host.post(LIST, query=f"?token={token}", **OLD)) == (401, "invalid_token")


def test_an_unknown_member_of_the_query_is_refused(host: Host) -> None:
    assert problem(host.post(LIST, query="?session=1", **OLD)) == (400, "invalid_request")


# --- the origin -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://localhost:8000.evil.example", "https://localhost:8000", "file://"],
)
def test_a_foreign_origin_is_refused_before_the_token(origin: str) -> None:
    answer = Host("nothing").send("tools/list", Origin=origin)

    assert problem(answer) == (403, "browser_path_refused")
    assert "Access-Control-Allow-Origin" not in answer


def test_a_name_that_was_rebound_to_this_service_is_foreign() -> None:
    answer = Host("nothing").send("tools/list", Origin="http://evil.example", Host="evil.example")

    assert problem(answer) == (403, "browser_path_refused")


@pytest.mark.parametrize("origin", ["http://localhost:8000", "http://testserver"])
def test_the_own_origin_is_let_in(origin: str, host: Host) -> None:
    answer = host.send("tools/list", Origin=origin)

    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer


# --- the message ------------------------------------------------------------------------------------------------------
UNREADABLE = {name: body for name, body in BODIES.items() if name not in ("an array", "a string", "a number", "null")}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_strict_json_is_a_parse_error(body: bytes, any_host: Host) -> None:
    answer = any_host.post(body, **{"MCP-Protocol-Version": any_host.revision, "Content-Type": "application/json"})

    assert error_of(answer) == (400, -32700)


def test_a_parse_error_carries_the_problem(host: Host) -> None:
    body = host.post(b'{"a": 1, "a": 2}', **OLD, **{"X-Request-Id": "the-same-id"}).json()

    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", None, -32700)
    assert (body["error"]["data"]["code"], body["error"]["data"]["trace_id"]) == ("invalid_request", "the-same-id")


def message(**changes: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "end_consent"}, **changes}


MALFORMED: dict[str, Any] = {
    "an array": [message()],
    "an empty array": [],
    "a string": "tools/list",
    "null": None,
    "no version": {"id": 1, "method": "tools/list"},
    "version 1": message(jsonrpc="1.0"),
    "method a number": message(method=5),
    "method an object": message(method={}),
    "no method": {"jsonrpc": "2.0", "id": 1},
    "an answer": {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}},
    "an error": {"jsonrpc": "2.0", "id": 1, "error": 5},
    "params null": message(params=None),
    "unknown method": message(method="tools/approve"),
    "id an object": message(id={}),
    "id an array": message(id=[1]),
    "id true": message(id=True),
    "params an array": message(params=["end_consent"]),
    "params a string": message(params="x"),
    "no tool": message(params={}),
    "tool a number": message(params={"name": 5}),
    "tool null": message(params={"name": None}),
    "tool an array": message(params={"name": ["end_consent"]}),
    "unknown tool": message(params={"name": "approve", "arguments": {}}),
    "tool with an underscore": message(params={"name": "__class__"}),
    "arguments an array": message(params={"name": "end_consent", "arguments": [1]}),
    "arguments a string": message(params={"name": "end_consent", "arguments": "req_1"}),
    "arguments a number": message(params={"name": "end_consent", "arguments": 1}),
    "resource a number": message(method="resources/read", params={"uri": 1}),
    "unknown resource": message(method="resources/read", params={"uri": "file:///etc/passwd"}),
    "id null": message(id=None),
    "id a fraction": message(id=1.5),
    "huge id": message(id=10**400, params={"name": 5}),
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_message_that_does_not_fit_is_an_error_of_the_protocol(body: Any, any_host: Host) -> None:
    if any_host.revision == NEWEST and isinstance(body, dict) and isinstance(body.get("params"), dict):
        body = {**body, "params": {**body["params"], "_meta": envelope()}}
    raw = json.dumps(body).encode()  # orjson refuses the huge number

    status, code = error_of(any_host.post(raw, **{"MCP-Protocol-Version": any_host.revision}))

    assert status in (200, 400, 404)
    assert code in (-32700, -32600, -32601, -32602, -32020)


@pytest.mark.parametrize(
    "name", ["an array", "version 1", "method a number", "no method", "id true", "params a string"]
)
def test_what_is_no_message_is_refused_in_our_own_words(name: str, any_host: Host) -> None:
    answer = any_host.post(json.dumps(MALFORMED[name]).encode(), **{"MCP-Protocol-Version": any_host.revision})

    assert error_of(answer) == (400, -32600)
    assert b"pydantic" not in answer.content


@pytest.mark.parametrize(
    ("body", "repeated"),
    [
        (message(id=7, params=[]), 7),
        (message(id="call-1", params="x"), "call-1"),
        (message(id=10**30, params=[]), 10**30),
        (message(id=0, jsonrpc="1.0"), 0),
        (message(id=7, method=5), 7),
        (message(id=True), None),
        (message(id=1.5), None),
        (message(id={}), None),
        # under the id of a question of the host's own this would be read as its answer's
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, None),
        ([message(id=7)], None),
    ],
)
def test_what_is_no_message_is_answered_under_its_id_where_it_can_be_read(
    body: Any, repeated: str | int | None, any_host: Host
) -> None:
    answer = any_host.post(json.dumps(body).encode(), **{"MCP-Protocol-Version": any_host.revision})

    assert error_of(answer) == (400, -32600)
    assert answer.json()["id"] == repeated


@pytest.mark.parametrize("revision", ["2099-01-01", "newest", "2026-07-28 ", "'; --"])
def test_an_unknown_revision_is_an_error_of_the_protocol(revision: str, host: Host) -> None:
    assert host.post(LIST, **{"MCP-Protocol-Version": revision}).status_code == 400


def test_a_large_message_is_413(any_host: Host) -> None:
    def send(size: int) -> Any:
        return any_host.send("tools/call", {"name": "end_consent", "arguments": {"request_id": "x" * size}})

    assert send(60_000).status_code == 200
    assert problem(send(66_000)) == (413, "payload_too_large")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
def test_another_media_type_is_415(media_type: str, host: Host) -> None:
    assert problem(host.post(LIST, media_type=media_type)) == (415, "unsupported_media_type")


@pytest.mark.parametrize("accepted", ["", "text/html"])
def test_an_answer_that_the_host_would_not_take_is_406(accepted: str, any_host: Host) -> None:
    assert error_of(any_host.send("tools/list", Accept=accepted)) == (406, -32600)


def test_a_host_that_names_no_media_type_takes_any(any_host: Host) -> None:
    answer = any_host.send("tools/list", Accept=None)

    assert (answer.status_code, answer.json()) == (200, any_host.send("tools/list").json())


@pytest.mark.parametrize("accepted", ["text/event-stream", "Text/Event-Stream;q=1, text/plain"])
def test_a_host_that_takes_events_alone_gets_one_with_the_answer(accepted: str, any_host: Host) -> None:
    plain, event = any_host.send("tools/list"), any_host.send("tools/list", Accept=accepted)

    assert (event.status_code, event["Content-Type"]) == (200, "text/event-stream")
    kind, data, *rest = event.content.decode().split("\n")
    assert (kind, rest) == ("event: message", ["", ""])
    assert orjson.loads(data.removeprefix("data: ")) == plain.json()
    assert any_host.send("nothing/there", Accept=accepted).status_code == any_host.send("nothing/there").status_code


def test_no_params_may_be_said_by_null(any_host: Host) -> None:
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": None}

    answer = any_host.post(orjson.dumps(message), **{"MCP-Protocol-Version": any_host.revision, "Mcp-Method": "ping"})

    assert error_code(answer) not in (-32600, -32700)


def test_a_byte_order_mark_is_passed_over(host: Host) -> None:
    assert host.post(b"\xef\xbb\xbf" + LIST).status_code == 200


def error_code(answer: Any) -> int | None:
    return (answer.json().get("error") or {}).get("code")


def test_listening_without_accepting_a_stream_says_what_to_accept(host: Host) -> None:
    answer = host.send("subscriptions/listen", Accept="application/json")

    assert error_of(answer) == (406, -32600)
    assert answer.json()["id"] == 7
    assert "text/event-stream" in answer.json()["error"]["message"]


def test_a_notification_is_acknowledged(any_host: Host) -> None:
    note = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})

    answer = any_host.post(note, **{"MCP-Protocol-Version": any_host.revision})

    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("method", ["subscriptions/listen", "logging/setLevel", "completion/complete"])
def test_what_is_not_offered_says_so_and_does_not_hang(method: str, any_host: Host) -> None:
    answer = any_host.send(method)

    assert answer.json()["error"]["code"] in (-32601, -32602)


# --- resources --------------------------------------------------------------------------------------------------------
def test_the_three_resources_can_be_read(any_host: Host) -> None:
    listed = any_host.send("resources/list").json()["result"]["resources"]
    read = {}
    for resource in listed:
        (part,) = any_host.send("resources/read", {"uri": resource["uri"]}).json()["result"]["contents"]
        assert (part["uri"], part["mimeType"]) == (resource["uri"], resource["mimeType"])
        read[resource["name"]] = part["text"]

    assert set(read) == {"scope-catalog", "lifecycle", "how-to-decrypt"}
    assert orjson.loads(read["scope-catalog"]) == any_host.answer("list_scope_catalog")
    assert "pending --> approved: the person approves" in read["lifecycle"]
    assert "ECDH-ES+A256KW" in read["how-to-decrypt"]


def test_the_catalog_needs_its_permission_as_a_resource_too(app: App) -> None:
    host = Host.of(app, permissions=["read"])

    answer = host.send("resources/read", {"uri": "consent://scope-catalog"}).json()

    assert answer["error"]["data"]["code"] == "insufficient_scope"
    assert host.send("resources/read", {"uri": "consent://lifecycle"}).json()["result"]["contents"]
