"""A server that is asked to end: what it holds is answered, nothing is cut off, and it is gone."""

import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import orjson
import pytest
import requests
from django.conf import settings

from consent.decisions import actions as decision_actions
from developers.models import App
from tests.agents_proxy.agent_server import speaking, waits_for
from tests.agents_proxy.proxy_calls import consenting
from tests.callers import Developer, signed_in
from tests.factories import ConsentRequestFactory, PersonFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import Served, holds_all_it_may

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as made:
        yield made


@pytest.fixture
def served(pool: ThreadPoolExecutor) -> Iterator[Served]:
    """A server that is gone before what still reads from it is waited for."""
    made = Served(killable=True, STATUS_POLL_BURST="0", STATUS_WAITERS_PER_APP="3")
    try:
        made.start()
        yield made
    finally:
        made.kill()
        made.close()


def bearer(api: Developer) -> dict[str, str]:
    return {"Authorization": f"Bearer {api.token}"}


def read_to_its_end(answer: requests.Response) -> bytes:
    """Raises where the stream is torn off rather than ended."""
    return b"".join(answer.iter_content(chunk_size=None))


def hold_status(served: Served, api: Developer, request_id: str) -> requests.Response:
    query = {"request_id": request_id, "wait": "30"}
    return requests.get(f"{served.address}/api/v1/consent-status", params=query, headers=bearer(api), timeout=60)


def hold_tool(served: Served, api: Developer, request_id: str) -> requests.Response:
    call = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "check_consent_status", "arguments": {"request_id": request_id, "wait_seconds": 30}},
    }  # fmt: skip
    headers = {**bearer(api), "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    return requests.post(f"{served.address}/mcp", json=call, headers=headers, timeout=60)


def open_stream(served: Served, api: Developer, **headers: str) -> requests.Response:
    answer = requests.get(
        f"{served.address}/api/v1/consent-events", headers={**bearer(api), **headers}, stream=True, timeout=60
    )
    assert answer.status_code == 200
    return answer


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_streams_and_held_answers_end_with_the_server(
    served: Served, pool: ThreadPoolExecutor, app: App, api: Developer, number: signal.Signals
) -> None:
    request = ConsentRequestFactory(app=app)
    stream = open_stream(served, api)
    streamed: Future[bytes] = pool.submit(read_to_its_end, stream)
    waiting = [pool.submit(hold, served, api, request.request_id) for hold in (hold_status, hold_tool)]
    eventually(lambda: holds_all_it_may(served.address, api.token), "all three of them at the server")
    assert not any(call.done() for call in (streamed, *waiting))

    served.send(number)
    status, tool = (call.result(MOST_SECONDS) for call in waiting)
    ended = streamed.result(MOST_SECONDS)
    code = served.exit_code()

    assert code == 0
    assert (status.status_code, status.json()["status"]) == (200, "pending")
    assert tool.json()["result"]["structuredContent"]["status"] == "pending"
    first, *_, last = ended.strip().split(b"\n\n")
    assert first == b"id: 0\nretry: 2000"
    assert last.splitlines()[-1].startswith(b"retry: ")


def test_a_stream_goes_on_at_the_next_server_without_a_gap(served: Served, app: App, api: Developer) -> None:
    requested = [ConsentRequestFactory(app=app) for _ in range(2)]
    decision_actions.deny(request_id=requested[0].request_id, by=requested[0].user)
    with open_stream(served, api, **{"Last-Event-ID": "0"}) as stream:
        lines = stream.iter_lines(chunk_size=1)
        assert b"id: 1" in (next(lines), *(line for _, line in zip(range(6), lines, strict=False)))
        served.send(signal.SIGTERM)
        rest = list(lines)  # ends in order
    assert served.exit_code() == 0
    decision_actions.deny(request_id=requested[1].request_id, by=requested[1].user)  # while nobody serves

    served.start()
    with open_stream(served, api, **{"Last-Event-ID": "1"}) as stream:
        data = next(line for line in stream.iter_lines(chunk_size=1) if line.startswith(b"data: "))

    assert not any(line.startswith(b"data: ") for line in rest)
    assert orjson.loads(data[6:])["request_id"] == requested[1].request_id


def test_reloading_takes_streams_and_held_answers_along(
    served: Served, pool: ThreadPoolExecutor, app: App, api: Developer
) -> None:
    """granian's own SIGHUP: between its old worker and a new one that is slow to start, a port refuses connections.

    That no request is lost is what `deploy.group` is for, and what tests/system/config/test_groups.py holds it to.
    """
    request = ConsentRequestFactory(app=app)
    streamed = pool.submit(read_to_its_end, open_stream(served, api))
    waiting = [pool.submit(hold, served, api, request.request_id) for hold in (hold_status, hold_tool)]
    eventually(lambda: holds_all_it_may(served.address, api.token), "all three of them at the server")
    assert not any(call.done() for call in (streamed, *waiting))

    served.send(signal.SIGHUP)
    ended = streamed.result(MOST_SECONDS)  # with the old worker
    status, tool = (call.result(MOST_SECONDS) for call in waiting)

    assert b"retry: " in ended.strip().split(b"\n\n")[-1]
    assert status.json()["status"] == "pending"
    assert tool.json()["result"]["structuredContent"]["status"] == "pending"
    eventually(lambda: _answers(served), "the new worker")
    assert served.is_running()


def _answers(served: Served) -> bool:
    try:
        return requests.get(f"{served.address}/readyz", timeout=60).status_code == 200
    except requests.ConnectionError:
        return False


def _listens(served: Served) -> bool:
    """Whether its port takes connections; one that came just before it closed may never be read."""
    try:
        socket.create_connection(("127.0.0.1", served.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("grace", "status", "member"),
    [
        pytest.param(str(int(MOST_SECONDS)), 200, "result", id="answered within the grace"),
        pytest.param("1", 504, "error", id="not answered within the grace"),
    ],
)
def test_a_call_to_an_agent_goes_on_for_the_grace_and_then_has_an_answer(
    pool: ThreadPoolExecutor, grace: str, status: int, member: str
) -> None:
    answers = threading.Event()
    caller = signed_in(consenting(PersonFactory())).client
    session = caller.cookies[settings.SESSION_COOKIE_NAME].value
    with speaking() as agents:
        agents.replies = {"brand": waits_for(answers, {"age": 5})}
        served = Served(killable=True, SHUTDOWN_GRACE_SECONDS=grace, AGENT_BRAND_URL=f"{agents.address}/brand")
        try:
            served.start()
            call = pool.submit(call_agent, served, session, "brand")
            eventually(lambda: agents.names == ["brand"], "the call at its agent")
            served.send(signal.SIGTERM)
            if status == 200:
                eventually(lambda: not _listens(served), "a server that takes no more calls")
                answers.set()
            answered = call.result(MOST_SECONDS)
            code = served.exit_code()
        finally:
            answers.set()
            served.kill()
            served.close()

    assert (answered.status_code, member in answered.json()) == (status, True)
    if status == 504:
        assert answered.json()["error"]["data"]["code"] == "upstream_timeout"
    assert code == 0


def call_agent(served: Served, session: str, agent: str) -> requests.Response:
    cookies = {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: "c" * 32}
    return requests.post(
        f"{served.address}/api/a2a/{agent}",
        json={"text": "Who?"},
        cookies=cookies,
        headers={"X-CSRFToken": "c" * 32, "Origin": served.address},
        timeout=60,
    )
