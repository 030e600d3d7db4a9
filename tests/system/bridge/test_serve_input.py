"""What comes in on standard input and is no proper call: answered with the protocol's error, or with a failed result.

No service is needed: nothing of this gets that far.
"""

import json
import os
import select
import subprocess
import sys

import pytest

from tests.bridge.wire import TOKEN
from tests.patience import MOST_SECONDS
from tests.system.bridge.hosts import ROOT

NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, NO_METHOD = -32700, -32600, -32602, -32601
CLIENT = {"name": "tests", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = [
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": PREVIOUS, "capabilities": {}, "clientInfo": CLIENT},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


class Bridge:
    """`consent-bridge serve` as a process, spoken to line by line."""

    def __init__(self, state, revision):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "bridge"),
            "CONSENT_BRIDGE_STATE": str(state),
            "CONSENT_BASE_URL": "http://127.0.0.1:9/api/v1",
            "CONSENT_DEVELOPER_TOKEN": TOKEN,
        }
        self.meta = {"_meta": META} if revision == NEWEST else {}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "consent_bridge", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )
        if revision != NEWEST:
            self.write(HELLO[0])
            assert self.read()["result"]["protocolVersion"] == PREVIOUS
            self.write(HELLO[1])

    def write(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self):
        """The next answer; a bridge that has none is a failure and not a wait."""
        ready, _, _ = select.select([self.process.stdout], [], [], MOST_SECONDS)
        assert ready, "the bridge does not answer"
        return json.loads(self.process.stdout.readline())

    def ask(self, message):
        """The answer to a line; that the bridge still lists its tools shows that it lives."""
        self.write(message)
        answer = self.read()
        self.write(self.request("tools/list", id=999))
        alive = self.read()
        assert (alive["id"], len(alive["result"]["tools"])) == (999, 7)
        return answer

    def request(self, method, params=None, id=7):
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), **self.meta}}

    def end(self):
        """Close its input; the exit code and what it said on standard error."""
        _, errors = self.process.communicate(timeout=MOST_SECONDS)
        return self.process.returncode, errors.decode()


@pytest.fixture(scope="module", params=[NEWEST, PREVIOUS])
def bridge(request, tmp_path_factory):
    made = Bridge(tmp_path_factory.mktemp("state"), request.param)
    yield made
    code, errors = made.end()
    assert code == 0
    assert TOKEN not in errors
    assert "Traceback" not in errors
    assert "canary" not in errors


def call(arguments, name="check_consent_status"):
    return json.dumps(
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    ).encode()


@pytest.mark.parametrize(
    ("line", "code", "answers"),
    [
        (b"no JSON", PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": ', PARSE_ERROR, 7),
        (b'{"jsonrpc":"2.0","id":"a-7","method":"tools/list","params":{"x":"\xff"}}', PARSE_ERROR, "a-7"),
        (b'{"params":{"id":3,"x":"\\ud800"},"id":7,"jsonrpc":"2.0","method":"tools/list"}', PARSE_ERROR, 7),
        (b"[" * 100_000, PARSE_ERROR, None),
        (call(None).replace(b"null", b'{"a":' * 5000 + b"1" + b"}" * 5000), PARSE_ERROR, 7),
        (call(None).replace(b"null", b"[" * 100_000 + b"]" * 100_000), PARSE_ERROR, 7),
        (call(None).replace(b"null", b"1e999"), PARSE_ERROR, 7),
        (b"{}", INVALID_REQUEST, None),
        (b"[]", INVALID_REQUEST, None),
        (b"7", INVALID_REQUEST, None),
        (b"[" + call({}) + b"]", INVALID_REQUEST, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}', INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":7.5,"method":"tools/list"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', INVALID_REQUEST, None),
        (call(None).replace(b"null", b'{"a":1,"a":2}'), PARSE_ERROR, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}', INVALID_REQUEST, 7),
        (call({"request_id": "canary" + "x" * 5_000_000}), INVALID_REQUEST, 7),
    ],
)
def test_line_that_is_no_message_is_answered(bridge, line, code, answers):
    answer = bridge.ask(line)

    assert (answer["id"], answer["error"]["code"]) == (answers, code)


def test_a_byte_order_mark_before_a_message_is_passed_over(bridge):
    line = b"\xef\xbb\xbf" + json.dumps(bridge.request("no/such")).encode()

    assert bridge.ask(line)["error"]["code"] == NO_METHOD


def test_empty_lines_are_passed_over(bridge):
    bridge.write(b"")
    bridge.write(b"   ")

    assert bridge.ask(bridge.request("no/such"))["error"]["code"] == NO_METHOD


@pytest.mark.parametrize(
    "params", [{}, {"name": 7}, {"name": "approve"}, {"name": "end_consent", "arguments": [1]}, {"arguments": {}}]
)
def test_call_of_no_tool_is_an_error_of_the_protocol(bridge, params):
    assert bridge.ask(bridge.request("tools/call", params))["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("check_consent_status", {}, "request_id"),
        ("check_consent_status", {"request_id": 7}, "request_id"),
        ("check_consent_status", {"request_id": None}, "request_id"),
        ("check_consent_status", {"request_id": "req_a", "wait_seconds": True}, "wait_seconds"),
        ("check_consent_status", {"request_id": "req_a", "wait_seconds": "5"}, "wait_seconds"),
        ("check_consent_status", {"request_id": "req_a", "wait_seconds": 31}, "wait_seconds"),
        ("check_consent_status", {"request_id": "req_a", "color": "canary"}, "color"),
        ("read_approved_data", {"request_id": "a canary"}, "request_id"),
        ("get_encrypted_export", {"request_id": ["req_a"]}, "request_id"),
        ("end_consent", {"request_id": {"$ne": ""}}, "request_id"),
        ("discover_user_scopes", {"user_id": "x" * 1_000_000}, "user_id"),
        ("list_scope_catalog", {"user_id": "usr_a"}, "user_id"),
        ("request_consent", {"user_id": "u", "scope": "s", "purpose": "p" * 8, "max_reads": 1.5}, "max_reads"),
        (
            "request_consent",
            {"user_id": "u", "scope": "s", "purpose": "p" * 8, "connector_key_id": "k"},
            "connector_key_id",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_a_failed_result(bridge, name, arguments, field):
    result = bridge.ask(bridge.request("tools/call", {"name": name, "arguments": arguments}))["result"]
    problem = result["structuredContent"]

    assert result["isError"] is True
    assert (problem["code"], problem["status"]) == ("invalid_request", 400)
    assert [error["field"].split(".")[0] for error in problem["errors"]] == [field]


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ({"CONSENT_BASE_URL": ""}, b"CONSENT_BASE_URL is not set"),
        ({"CONSENT_DEVELOPER_TOKEN": ""}, b"CONSENT_DEVELOPER_TOKEN is not set"),
        ({"CONSENT_BASE_URL": "localhost"}, b"not an http or https address"),
        ({"CONSENT_DEVELOPER_TOKEN": "a b"}, b"no token has"),
        ({"CONSENT_CONNECTOR_KEY": "/dev/null"}, b"key file /dev/null"),
    ],
)
def test_start_without_what_it_needs_says_so(cli, missing, reason):
    given = {"CONSENT_BASE_URL": "http://127.0.0.1:9/api/v1", "CONSENT_DEVELOPER_TOKEN": TOKEN}

    done = cli("serve", **{**given, **missing})

    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr
    assert TOKEN.encode() not in done.stderr
