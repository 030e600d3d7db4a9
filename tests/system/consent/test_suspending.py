"""A suspended app stands still in every process, from the moment that staff suspend it."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.db import connection

from consent.decisions import actions as decision_actions
from consent.notices.models import WebhookDelivery
from consent.notices.webhooks import deliver_due
from consent.requests.models import ConsentRequest
from developers.apps.actions import restore_app, suspend_app
from developers.models import App
from tests.factories import AppFactory, ConsentRequestFactory, TokenFactory, WebhookEndpointFactory
from tests.patience import eventually
from tests.served_site import holds_all_it_may, running_site

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def elsewhere(transactional_db: None) -> Iterator[str]:
    """Another process, which has this test's database."""
    with running_site(STATUS_WAITERS_PER_APP="2") as address:
        yield f"{address}/api/v1"


@pytest.fixture
def app() -> App:
    made: App = AppFactory()
    return made


@pytest.fixture
def headers(app: App) -> dict[str, str]:
    return {"Authorization": f"Bearer {TokenFactory(app=app).secret}"}


def test_another_process_lets_it_in_no_more_and_tells_it_nothing(
    elsewhere: str, app: App, headers: dict[str, str]
) -> None:
    request = ConsentRequestFactory(app=app)
    known = {"request_id": request.request_id}

    def status() -> tuple[int, str]:
        answer = requests.get(f"{elsewhere}/consent-status", known, headers=headers, timeout=30)
        return answer.status_code, answer.json().get("code", "")

    assert [status() for _ in range(3)] == [(200, "")] * 3  # the process has met the token
    suspend_app(app=app, by=None, note="why")
    assert status() == (403, "app_suspended")
    ended = requests.post(f"{elsewhere}/end-consent", json=known, headers=headers, timeout=30)
    assert (ended.status_code, ended.json()["code"]) == (403, "app_suspended")

    restore_app(app=app, by=None, note="why")
    assert status() == (200, "")


def test_streams_and_held_answers_of_another_process_end(elsewhere: str, app: App, headers: dict[str, str]) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("processes that share a file of SQLite hear of notices alone, and look again every 15 s")
    request = ConsentRequestFactory(app=app)
    answers: list[Any] = []

    def wait() -> None:
        params = {"request_id": request.request_id, "wait": "30"}
        answers.append(requests.get(f"{elsewhere}/consent-status", params, headers=headers, timeout=60))

    with requests.get(f"{elsewhere}/consent-events", headers=headers, stream=True, timeout=60) as stream:
        lines = stream.iter_lines(chunk_size=1)
        next(lines)
        waiter = threading.Thread(target=wait)
        waiter.start()
        token = headers["Authorization"].removeprefix("Bearer ")
        eventually(lambda: holds_all_it_may(elsewhere.removesuffix("/api/v1"), token), "the held call")
        suspend_app(app=app, by=None, note="why")
        events = [line for line in lines if line.startswith((b"event", b"data", b":"))]
        waiter.join()

    assert events == []  # no comment either, as comes after fifteen silent seconds
    assert (answers[0].status_code, answers[0].json()["code"]) == (403, "app_suspended")


def test_what_becomes_of_its_requests_stays_here(app: App) -> None:
    request: ConsentRequest = ConsentRequestFactory(app=app)
    WebhookEndpointFactory(app=app)
    suspend_app(app=app, by=None, note="why")
    decision_actions.deny(request_id=request.request_id, by=request.user)

    assert deliver_due() == 0
    assert list(WebhookDelivery.objects.values_list("status", "attempt", "status_code")) == [("waiting", 0, None)]
