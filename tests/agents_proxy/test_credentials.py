"""What an upstream lets us in by, as it arrives there."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from accounts.models import User
from agents_proxy.agents import ClientCredentials, Protocol, Upstream, upstream_of
from agents_proxy.errors import AgentRefusedUs, CallFailed, InvalidAgentResponse
from agents_proxy.proxy.envelope import Prompt
from agents_proxy.proxy.upstream import call
from tests.agents_proxy.proxy_calls import CALL, configure, consenting
from tests.callers import signed_in
from tests.fakes.agents import Agent, agent, answers, answers_with
from tests.fakes.serving import Answering, serving

PROMPT = Prompt("Who?", "session-1", "task-one")


@dataclass
class Tokens:
    """An endpoint of tokens: each one is another. `change` makes of the answer what a test wants."""

    url: str = ""
    status: int = 200
    change: Callable[[dict[str, Any]], Any] = field(default=lambda answer: answer)
    requests: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)


@contextmanager
def tokens() -> Iterator[Tokens]:
    running = Tokens()

    class Handler(Answering):
        def post(self) -> None:
            form = parse_qs(self.body().decode(), strict_parsing=True)
            running.requests.append((self.headers["Authorization"], form))
            answer = {"access_token": f"token-{len(running.requests)}", "token_type": "Bearer", "expires_in": 3600}
            self.answer(running.status, json.dumps(running.change(answer)).encode())

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as running.url:
        yield running


def tokens_sent(running: Agent, endpoint: Tokens, *, times: int = 1) -> list[str]:
    credentials = ClientCredentials(endpoint.url, "us & them", "s:ecret", "profiles.read")
    target = Upstream(running.url, "", 20, Protocol.TASKS_SEND, credentials=credentials)
    for _ in range(times):
        call(target, PROMPT)
    return [request.headers["authorization"] for request in running.calls]


@pytest.mark.parametrize(
    ("variables", "name", "value"),
    [
        ({"token": "secret"}, "authorization", "Bearer secret"),
        ({"token": "secret", "token_header": "X-Api-Key"}, "x-api-key", "secret"),
    ],
)
def test_a_token_goes_as_bearer_or_by_itself_in_a_header(
    variables: dict[str, str], name: str, value: str, settings: Any
) -> None:
    with agent(answers()) as running:
        configure(settings, url=running.url, **variables)
        target = upstream_of("brand")
        assert target is not None
        call(target, PROMPT)

    [request] = running.calls
    sent = {header: request.headers[header] for header in ("authorization", "x-api-key") if header in request.headers}
    assert sent == {name: value}


def test_a_token_is_had_for_client_credentials_and_kept_while_it_holds() -> None:
    with tokens() as endpoint, agent(answers()) as running:
        assert tokens_sent(running, endpoint, times=3) == ["Bearer token-1"] * 3

    named = base64.b64encode(b"us%20%26%20them:s%3Aecret").decode()
    form = {"grant_type": ["client_credentials"], "scope": ["profiles.read"]}
    assert endpoint.requests == [(f"Basic {named}", form)]


def test_one_that_holds_for_ages_is_kept_for_a_day() -> None:
    with tokens() as endpoint, agent(answers()) as running:
        endpoint.change = lambda answer: {**answer, "expires_in": 10**400}

        assert tokens_sent(running, endpoint, times=2) == ["Bearer token-1"] * 2


@pytest.mark.parametrize("status", ["401 Unauthorized", "500 Internal Server Error"])
def test_no_log_has_the_token_that_an_agent_says_again(
    status: str, person: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with tokens() as endpoint, agent(answers_with(lambda _: b'{"was": "let-me-in"}', status=status)) as running:
        endpoint.change = lambda answer: {**answer, "access_token": "let-me-in"}
        named = {"token_url": endpoint.url, "client_id": "us", "client_secret": "secret", "scope": ""}
        configure(settings, url=running.url, **named)
        signed_in(consenting(person)).post("/api/a2a/brand", CALL)

    assert "let-me-in" not in caplog.text
    assert "[redacted]" in caplog.text


@pytest.mark.parametrize("holds", [0, 30, "29", -5])
def test_one_that_is_about_to_end_is_not_used_again(holds: Any) -> None:
    with tokens() as endpoint, agent(answers()) as running:
        endpoint.change = lambda answer: {**answer, "expires_in": holds}

        assert tokens_sent(running, endpoint, times=2) == ["Bearer token-1", "Bearer token-2"]


def test_one_that_was_refused_is_not_used_again_and_the_prompt_not_sent_again() -> None:
    with tokens() as endpoint, agent(answers_with(lambda _: b"", status="401 Unauthorized")) as running:
        for _ in range(2):
            with pytest.raises(AgentRefusedUs):
                tokens_sent(running, endpoint)

    assert [request.headers["authorization"] for request in running.calls] == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.parametrize(
    ("status", "change", "failure"),
    [
        (401, lambda _: {"error": "invalid_client"}, AgentRefusedUs),
        (400, lambda _: {"error": "invalid_scope"}, AgentRefusedUs),
        (503, lambda answer: answer, CallFailed),
        (200, lambda _: [], InvalidAgentResponse),
        (200, lambda _: {}, InvalidAgentResponse),
        (200, lambda answer: {**answer, "access_token": "a\r\nb"}, InvalidAgentResponse),
        (200, lambda answer: {**answer, "access_token": 7}, InvalidAgentResponse),
        (200, lambda answer: {**answer, "token_type": "mac"}, InvalidAgentResponse),
        (200, lambda answer: {**answer, "expires_in": "soon"}, InvalidAgentResponse),
    ],
)
def test_without_a_token_nothing_is_sent(status: int, change: Any, failure: type[CallFailed]) -> None:
    with tokens() as endpoint, agent(answers()) as running:
        endpoint.status, endpoint.change = status, change
        with pytest.raises(failure) as failed:
            tokens_sent(running, endpoint)

    assert (failed.type, running.calls) == (failure, [])
    assert failed.value.upstream_text.startswith("no token came: ")
