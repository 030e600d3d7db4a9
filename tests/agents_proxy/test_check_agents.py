"""`manage.py check_agents`: each kind of mistake in words, with nobody's data sent and no secret shown."""

import io
import json
import socketserver
import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents_proxy.agents import AGENTS
from tests.agents_proxy.proxy_calls import configure
from tests.fakes.agents import Agent, Speech, agent, answers_with, card_of, closed_port, hangs, with_card
from tests.fakes.chat import KEY, MODEL, chatting


def brand_of(settings: Any, running: Agent | None = None, **upstream: Any) -> tuple[str, bool]:
    """What the command says of the brand agent, and whether it ended well."""
    configure(settings, **({"url": running.url} if running else {}), **upstream)
    written, refused = io.StringIO(), ""
    try:
        call_command("check_agents", stdout=written)
    except CommandError as error:
        refused = str(error)
    assert refused in ("", f"1 of {len(AGENTS)} agents cannot be asked as they are configured.")
    lines = dict(line[2:].split(": ", 1) for line in written.getvalue().splitlines())
    assert lines.keys() == AGENTS.keys()
    assert lines["core"] == "not configured; AGENT_CORE_URL is empty."
    return lines["brand"], not refused


def answering(raw: bytes) -> type[socketserver.BaseRequestHandler]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(raw)

    return Handler


def error(code: int) -> Any:
    return answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"], "error": {"code": code, "message": ""}})


@pytest.mark.parametrize(
    ("speech", "method", "words"),
    [
        (Speech.TASKS_SEND, "tasks/get", "answers JSON-RPC."),
        (Speech.A2A_0_3, "tasks/get", "answers A2A 0.3, without streaming."),
        (Speech.A2A_1_0, "GetTask", "answers A2A 1.0, without streaming."),
    ],
)
def test_an_agent_that_can_be_asked(speech: Speech, method: str, words: str, settings: Any) -> None:
    with agent(with_card(error(-32001), speech)) as running:
        assert brand_of(settings, running, protocol=speech.protocol) == (words, True)

    [call] = running.prompts
    assert (call.body["method"], call.body["params"]) == (method, {"id": call.body["id"]})


@pytest.mark.parametrize(
    ("behaviour", "upstream", "words"),
    [
        (
            answers_with(lambda _: {"error": "token-of-tests is wrong"}, status="401 Unauthorized"),
            {"token": "token-of-tests"},
            "it refuses this service: look at AGENT_BRAND_TOKEN and AGENT_BRAND_TOKEN_HEADER. "
            'It says: HTTP 401 {"error": "[redacted] is wrong"}',
        ),
        (
            answers_with(lambda _: b"", status="429 Too Many Requests", retry_after="7"),
            {},
            "it takes no more calls for now; it says to wait 7 s. It says: HTTP 429 ",
        ),
        (
            answers_with(lambda _: b"<html>", status="404 Not Found"),
            {},
            "what it answers is not tasks-send: look at AGENT_BRAND_URL and AGENT_BRAND_PROTOCOL. "
            "It says: HTTP 404 <html>",
        ),
        (
            answers_with(lambda _: b"oops", status="500 Internal Server Error"),
            {},
            "it cannot be reached, or fails: look at AGENT_BRAND_URL. It says: HTTP 500 oops",
        ),
        (
            answers_with(lambda _: b"{}", status="404 Not Found"),
            {"protocol": "a2a"},
            "what it answers is not a2a: look at AGENT_BRAND_URL and AGENT_BRAND_PROTOCOL. "
            "It says: no agent card: HTTP 404",
        ),
        (
            hangs,
            {"timeout": 0.2},
            "it did not answer in time: look at its address, and at what lies between.",
        ),
    ],
    ids=["credentials", "busy", "no JSON-RPC", "fails", "no card", "late"],
)
def test_a_mistake_in_words(behaviour: Any, upstream: dict[str, Any], words: str, settings: Any) -> None:
    with agent(behaviour) as running:
        assert brand_of(settings, running, **upstream) == (words, False)


def test_an_address_where_nobody_listens(settings: Any) -> None:
    words = "it cannot be reached, or fails: look at AGENT_BRAND_URL."

    assert brand_of(settings, url=closed_port()) == (words, False)


@pytest.mark.parametrize(
    ("form", "reason"), [("400 Bad Request", "HTTP 400"), ("", "it cannot be reached")], ids=["refused", "away"]
)
def test_client_credentials_that_come_to_no_token(form: str, reason: str, settings: Any) -> None:
    refuses = f"HTTP/1.1 {form}\r\nContent-Length: 0\r\n\r\n".encode() if form else b""
    with socketserver.TCPServer(("127.0.0.1", 0), answering(refuses)) as tokens, agent(hangs) as running:
        threading.Thread(target=tokens.handle_request, daemon=True).start()
        there = f"http://127.0.0.1:{tokens.server_address[1]}/"
        credentials = {"token_url": there, "client_id": "us", "client_secret": "secret", "scope": ""}
        words, is_fine = brand_of(settings, running, **credentials)

    look = "look at AGENT_BRAND_TOKEN_URL, _CLIENT_ID, _CLIENT_SECRET and _SCOPE."
    assert words == f"there is no token for it: {look} It says: no token came: {reason}"
    assert (is_fine, running.calls) == (False, [])


@pytest.mark.parametrize(
    ("model", "words"),
    [(MODEL, f"has the model {MODEL}."), ("other", "it does not have the model: look at AGENT_BRAND_MODEL.")],
)
def test_a_model(model: str, words: str, settings: Any) -> None:
    with chatting() as chat:
        options = {"url": chat.url, "protocol": "openai", "token": KEY, "model": model}

        assert brand_of(settings, **options) == (words, model == MODEL)
    assert chat.requests == []


def test_a_card_for_another_origin(settings: Any) -> None:
    def behave(connection: Any, call: Any, running: Agent) -> None:
        card = {**card_of(running.url, Speech.A2A_0_3), "url": "https://elsewhere.example/"}
        answers_with(lambda _: json.dumps(card).encode())(connection, call, running)

    with agent(behave) as running:
        words, is_fine = brand_of(settings, running, protocol="a2a")

    assert not is_fine
    assert words.endswith("the agent card names an address on another origin than the one that is configured")
