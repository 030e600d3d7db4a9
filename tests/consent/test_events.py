"""The stream of events and the held answer, over a real socket."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import requests

from consent.decisions import actions as decision_actions
from consent.notices.models import Notice
from consent.notices.waiting import hub
from consent.requests.models import ConsentRequest
from developers.actions import restore_app, suspend_app
from developers.models import App
from tests.callers import Developer
from tests.factories import ConsentRequestFactory
from tests.patience import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_is_left_listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stream learns that its reader left when it writes to it: often enough for a test to wait for it."""
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    yield
    assert wait_until(hub.is_silent)


def events(answer: requests.Response) -> Iterator[tuple[int, dict[str, Any]]]:
    """(sequence, data) of each event."""
    number = 0
    for line in answer.iter_lines(chunk_size=1):
        if line.startswith(b"id: "):
            number = int(line[4:])
        elif line.startswith(b"data: "):
            yield number, orjson.loads(line[6:])


def open_stream(service: str, api: Developer, **headers: str) -> requests.Response:
    return requests.get(
        f"{service}/api/v1/consent-events",
        headers={"Authorization": f"Bearer {api.token}", **headers},
        stream=True,
        timeout=40,
    )


def decide_soon(request: ConsentRequest) -> threading.Thread:
    def decide() -> None:
        from django.db import connection

        time.sleep(0.5)
        decision_actions.deny(request_id=request.request_id, by=request.user)
        connection.close()

    thread = threading.Thread(target=decide)
    thread.start()
    return thread


def test_an_event_arrives_as_it_happens(service: str, app: App, api: Developer) -> None:
    request = ConsentRequestFactory(app=app)
    with open_stream(service, api) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        thread = decide_soon(request)
        sequence, data = next(events(answer))
    thread.join()

    assert (sequence, data) == (1, Notice.objects.get().facts)


def test_a_resumed_stream_has_no_gap(service: str, app: App, api: Developer) -> None:
    for _ in range(4):
        request = ConsentRequestFactory(app=app)
        decision_actions.deny(request_id=request.request_id, by=request.user)

    with open_stream(service, api, **{"Last-Event-ID": "1"}) as answer:
        stream = events(answer)
        seen = [next(stream)[0] for _ in range(3)]

    assert seen == [2, 3, 4]


def test_a_stream_of_a_suspended_app_ends_and_goes_on_without_a_gap(service: str, app: App, api: Developer) -> None:
    first, second = ConsentRequestFactory(app=app), ConsentRequestFactory(app=app)
    decision_actions.deny(request_id=first.request_id, by=first.user)
    with open_stream(service, api, **{"Last-Event-ID": "0"}) as answer:
        stream = events(answer)
        assert next(stream)[0] == 1
        suspend_app(app=app)
        decision_actions.deny(request_id=second.request_id, by=second.user)
        assert list(stream) == []
    assert open_stream(service, api).status_code == 403

    restore_app(app=app)
    with open_stream(service, api, **{"Last-Event-ID": "1"}) as answer:
        assert next(events(answer)) == (2, Notice.objects.get(sequence=2).facts)


def test_a_stream_after_the_newest_event_goes_on_and_one_beyond_it_is_refused(
    service: str, app: App, api: Developer
) -> None:
    for _ in range(2):
        request = ConsentRequestFactory(app=app)
        decision_actions.deny(request_id=request.request_id, by=request.user)

    with open_stream(service, api, **{"Last-Event-ID": "2"}) as newest:
        begins = next(line for line in newest.iter_lines(chunk_size=1) if line)
    with open_stream(service, api, **{"Last-Event-ID": "3"}) as beyond:
        assert beyond.status_code == 400  # before the body is read: a stream has no end
        refused = beyond.json()

    assert (newest.status_code, begins) == (200, b"id: 2")
    assert refused["code"] == "invalid_request"
    assert "your app's newest event is 2" in refused["detail"]
    assert [error["field"] for error in refused["errors"]] == ["Last-Event-ID"]


def test_wait_answers_when_it_changes(service: str, app: App, api: Developer) -> None:
    request = ConsentRequestFactory(app=app)
    thread = decide_soon(request)
    started = time.monotonic()

    answer = requests.get(
        f"{service}/api/v1/consent-status",
        params={"request_id": request.request_id, "wait": "20"},
        headers={"Authorization": f"Bearer {api.token}"},
        timeout=60,
    )

    thread.join()
    assert answer.json()["status"] == "denied"
    assert time.monotonic() - started < 18


def test_bad_input_a_stranger_and_a_wrong_method(service: str, app: App, api: Developer) -> None:
    with open_stream(service, api, **{"Last-Event-ID": "x"}) as bad:
        assert (bad.status_code, bad.json()["code"]) == (400, "invalid_request")
    stranger = requests.get(f"{service}/api/v1/consent-events", timeout=40)
    assert (stranger.status_code, stranger.json()["code"]) == (401, "invalid_token")
    wrong = requests.post(f"{service}/api/v1/consent-events", timeout=40)
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET")
