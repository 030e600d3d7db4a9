"""`GET /consent-status` (contract 1.4): where a request stands, and how often one may look."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from common import limits
from consent.api import event_stream
from consent.decisions import actions as decision_actions
from consent.exports.read_batches import chain_pending_reads
from consent.notices import long_polling
from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.consent.api.addresses import problem
from tests.consent.decisions import approval
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory, GrantFactory, TestAppFactory, Vault
from tests.factories.consent_requests import FOOD, now
from tests.patience import MOST_SECONDS, eventually


def body_of(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_a_pending_request(api: Developer) -> None:
    request = ConsentRequestFactory(app=api.app)

    assert body_of(api.get("/consent-status", request_id=request.request_id)) == {
        "request_id": request.request_id,
        "status": "pending",
        "user_id": request.pairwise_id,
        "scope": FOOD,
        "interval": 5,
        "created_at": request.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "expires_at": request.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "decided_at": None,
        "receipt_id": None,
        "sequence": None,
        "grant": None,
    }


def test_an_approved_request_as_the_person_narrowed_it(api: Developer, vault: Vault) -> None:
    request = ConsentRequestFactory(app=api.app, user=vault.user, max_reads=3)
    body = approval(request, vault, ["lifestyle.food.favorite_cuisine"], access_duration=3600)
    decision_actions.approve(request_id=request.request_id, by=vault.user, body=body)

    status = body_of(api.get("/consent-status", request_id=request.request_id))

    request.refresh_from_db()
    decided_at = request.decided_at.replace(microsecond=0)
    assert status["status"] == "approved"
    assert status["decided_at"] == decided_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert status["receipt_id"] == request.receipts.get().receipt_id
    assert status["sequence"] == 1
    assert status["grant"] == {
        "grant_id": request.grant.grant_id,
        "status": "active",
        "expires_at": (request.grant.expires_at).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reads": 0,
        "reads_remaining": 3,
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "export_revision": 1,
    }


@pytest.mark.parametrize("status", ["denied", "cancelled"])
def test_a_request_that_came_to_nothing_has_no_grant(status: str, api: Developer) -> None:
    request = ConsentRequestFactory(app=api.app, status=status)

    body = body_of(api.get("/consent-status", request_id=request.request_id))

    assert (body["status"], body["grant"], body["decided_at"] is None) == (status, None, False)


@pytest.mark.parametrize("status", ["paused", "revoked", "released", "terminated", "exhausted", "superseded"])
def test_a_grant_tells_how_it_stands(status: str, api: Developer) -> None:
    grant = GrantFactory(request__app=api.app, status=status)

    body = body_of(api.get("/consent-status", request_id=grant.request.request_id))

    assert (body["status"], body["grant"]["status"]) == ("approved", status)


def test_expiry_is_told_by_the_clock_before_anybody_wrote_it_down(api: Developer) -> None:
    old = now() - timedelta(days=3)
    request = ConsentRequestFactory(app=api.app, created_at=old)
    grant = GrantFactory(request__app=api.app, request__created_at=old)

    expired = body_of(api.get("/consent-status", request_id=request.request_id))
    over = body_of(api.get("/consent-status", request_id=grant.request.request_id, wait=30))

    assert (expired["status"], expired["decided_at"]) == ("expired", expired["expires_at"])
    assert (over["status"], over["grant"]["status"]) == ("approved", "expired")
    assert ConsentRequest.objects.get(pk=request.pk).status == "pending"


def test_a_person_and_a_scope_name_the_newest_request(api: Developer) -> None:
    older = ConsentRequestFactory(app=api.app, status="denied")
    newer = ConsentRequestFactory(app=api.app, user=older.user)
    ConsentRequestFactory(app=api.app, user=older.user, scope="attr.lifestyle.*")
    ConsentRequestFactory(user=older.user)

    assert body_of(api.get("/consent-status", user_id=older.pairwise_id, scope=FOOD))["request_id"] == newer.request_id


def test_what_is_another_apps_is_what_does_not_exist(api: Developer) -> None:
    theirs = ConsentRequestFactory()
    same = {"X-Request-Id": "the-same-id"}

    by_id = api.get("/consent-status", request_id=theirs.request_id, headers=same)
    nothing = api.get("/consent-status", request_id="req_nothing", headers=same)
    by_pair = api.get("/consent-status", user_id=theirs.pairwise_id, scope=FOOD, headers=same)

    assert problem(by_id) == (404, "unknown_request")
    assert by_id.content == nothing.content == by_pair.content


@pytest.mark.parametrize(
    "name", ["0e8c1f7a-96b4-4b7e-9f0f-2d1f3a5c7b90", "ada@example.org", "../'\"<%&?;~", "@Ada", "!" * 64]
)
def test_a_name_of_anothers_making_is_unknown(name: str, api: Developer) -> None:
    same = {"X-Request-Id": "the-same-id"}
    nothing = api.get("/consent-status", request_id="req_nothing", headers=same)

    assert problem(nothing) == (404, "unknown_request")
    for query in ({"request_id": name}, {"user_id": name, "scope": FOOD}):
        assert api.get("/consent-status", headers=same, **query).content == nothing.content
    assert problem(api.get("/consent-export", request_id=name)) == (404, "unknown_request")
    assert problem(api.post("/end-consent", {"request_id": name})) == (404, "unknown_request")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"user_id": "usr_1"},
        {"scope": FOOD},
        {"request_id": "req_1", "user_id": "usr_1"},
        {"request_id": "req_1", "user_id": "usr_1", "scope": FOOD},
        {"request_id": ""},
        {"request_id": "req 1"},
        {"request_id": "réq"},
        {"request_id": "r" * 65},
        {"user_id": "", "scope": ""},
        {"request_id": "req_1", "wait": "31"},
        {"request_id": "req_1", "wait": "-1"},
        {"request_id": "req_1", "wait": "1.5"},
        {"request_id": "req_1", "wait": "soon"},
        {"request_id": "req_1", "wait": ""},
        {"request_id": "req_1", "wait": "٣"},
        {"request_id": "req_1", "wait": "9" * 500},
    ],
)
def test_a_query_that_names_nothing_clearly_is_400(query: dict[str, str], api: Developer) -> None:
    assert problem(api.get("/consent-status", **query)) == (400, "invalid_request")


# --- Waiting ----------------------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)  # who waits has a connection of its own
def test_a_waiter_hears_of_the_decision_at_once(api: Developer, hub: long_polling._Hub) -> None:
    request = ConsentRequestFactory(app=api.app)
    heard: list[str] = []

    def wait() -> None:
        heard.append(body_of(api.get("/consent-status", request_id=request.request_id, wait=20))["status"])
        connection.close()

    waiter = threading.Thread(target=wait)
    waiter.start()
    eventually(lambda: hub.count() == 1, "the held call")
    decision_actions.deny(request_id=request.request_id, by=request.user, reason="")
    waiter.join(MOST_SECONDS)

    assert heard == ["denied"]


class NobodyWoken(long_polling._Hub):
    """Time passes as it is waited for, and nothing happens meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    @contextmanager
    def subscribed_to(self, topic: str, *, app_pk: int, is_live: bool = True) -> Iterator[threading.Event]:
        event = threading.Event()
        event.wait = self._wait  # type: ignore[method-assign]
        yield event

    def _wait(self, seconds: float | None = None) -> bool:
        self.now += seconds or 0
        return False


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> NobodyWoken:
    made = NobodyWoken()
    monkeypatch.setattr(long_polling, "hub", made)
    monkeypatch.setattr(long_polling, "time", made)
    return made


@pytest.mark.django_db(transaction=True)  # who waits gives the connection back
@pytest.mark.parametrize(("status", "waited"), [("pending", 20), ("denied", 0)])
def test_a_wait_ends_with_the_time_and_what_is_decided_does_not_wait(
    api: Developer, passing: NobodyWoken, status: str, waited: int
) -> None:
    request = ConsentRequestFactory(app=api.app, status=status)

    assert body_of(api.get("/consent-status", request_id=request.request_id, wait=20))["status"] == status
    assert passing.now == waited


@pytest.mark.parametrize("share", ["STATUS_WAITERS", "STATUS_WAITERS_PER_APP"])
def test_where_too_many_wait_already_the_answer_comes_at_once_and_is_paced(
    api: Developer, settings: Any, passing: NobodyWoken, share: str
) -> None:
    setattr(settings, share, 0)
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 2, 0.0001
    request = ConsentRequestFactory(app=api.app)

    answers = [api.get("/consent-status", request_id=request.request_id, wait=30) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert passing.now == 0


def test_one_apps_waiting_callers_leave_places_for_others(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_polling._Hub, "_listen", lambda _: None)
    hub = long_polling._Hub()
    settings.STATUS_WAITERS, settings.STATUS_WAITERS_PER_APP = 4, 2
    with hub.subscribed_to("app:1", app_pk=1), hub.subscribed_to("request:req_1", app_pk=1):
        assert (hub.is_full(1), hub.is_full(2)) == (True, False)
        with hub.subscribed_to("app:2", app_pk=2), hub.subscribed_to("app:3", app_pk=3):
            assert hub.is_full(4)
    assert not hub.is_full(1)


def test_apps_that_anybody_makes_leave_places_for_live_ones(
    api: Developer, hub: long_polling._Hub, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "hub", hub)
    settings.STATUS_WAITERS, settings.STATUS_WAITERS_PER_APP = 8, 6
    with (
        hub.subscribed_to("app:1", app_pk=1, is_live=False),
        hub.subscribed_to("app:2", app_pk=2, is_live=False),
    ):
        assert (hub.is_full(3, is_live=False), hub.is_full(3)) == (True, False)
        refused, admitted = Developer.of(TestAppFactory()).get("/consent-events"), api.get("/consent-events")
    admitted.close()
    assert (refused.status_code, refused.json()["code"], admitted.status_code) == (429, "too_many_requests", 200)
    assert [answer["RateLimit-Policy"] for answer in (refused, admitted)] == [
        '"streams-and-waits";q=2', '"streams-and-waits";q=6',
    ]  # fmt: skip
    assert not hub.is_full(3, is_live=False)


def test_who_comes_as_the_listener_ends_is_heard_for_too(
    hub: long_polling._Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether anybody waits is asked, and said that nobody listens, in one step."""
    heard = threading.Semaphore(0)
    monkeypatch.setattr(hub, "_listen", heard.release)
    with hub.subscribed_to("app:1", app_pk=1):
        assert heard.acquire(timeout=MOST_SECONDS)
        with hub.subscribed_to("app:2", app_pk=1):
            assert hub._has_waiters()
    assert not hub._has_waiters()  # the listener's last look

    with hub.subscribed_to("app:1", app_pk=1):
        assert heard.acquire(timeout=MOST_SECONDS)
    assert not hub._has_waiters()


# --- Pacing -----------------------------------------------------------------------------------------------------------
def test_polling_is_paced_and_says_how(api: Developer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 0.0, time=time.time))
    request = ConsentRequestFactory(app=api.app)

    answers = [api.get("/consent-status", request_id=request.request_id) for _ in range(60)]

    refused = [answer for answer in answers if answer.status_code == 429]
    assert [answer.status_code for answer in answers] == [200] * 30 + [429] * 30
    assert problem(refused[0]) == (429, "slow_down")
    assert int(refused[0]["Retry-After"]) == 1
    assert refused[0].json()["interval"] == 10


@pytest.mark.parametrize("wait", ["0", "00", "-0", "0.0"])
def test_a_wait_of_nothing_is_a_poll(wait: str, api: Developer, settings: Any) -> None:
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 1, 0.01
    request = ConsentRequestFactory(app=api.app)

    first, second = (api.get("/consent-status", request_id=request.request_id, wait=wait) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 429)


def test_pace_is_kept_for_each_request_and_app(api: Developer, settings: Any) -> None:
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 1, 0.01
    one, other = ConsentRequestFactory(app=api.app), ConsentRequestFactory(app=api.app)
    stranger = Developer.of(AppFactory())

    assert api.get("/consent-status", request_id=one.request_id).status_code == 200
    assert api.get("/consent-status", request_id=other.request_id).status_code == 200
    assert stranger.get("/consent-status", request_id=one.request_id).status_code == 404
    assert problem(api.get("/consent-status", request_id=one.request_id)) == (429, "slow_down")
    by_pair = {"user_id": one.pairwise_id, "scope": FOOD}
    assert [api.get("/consent-status", **by_pair).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("name", ["STATUS_POLL_BURST", "STATUS_POLL_PER_SECOND"])
def test_zero_turns_pacing_off(name: str, api: Developer, settings: Any) -> None:
    setattr(settings, name, 0)
    request = ConsentRequestFactory(app=api.app)

    assert {api.get("/consent-status", request_id=request.request_id).status_code for _ in range(40)} == {200}


def test_every_answer_says_how_many_polls_are_left(api: Developer, settings: Any) -> None:
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 2, 0.01
    named = {"request_id": ConsentRequestFactory(app=api.app, status="denied").request_id}

    polls = [api.get("/consent-status", **named, wait="5.0"), *(api.get("/consent-status", **named) for _ in range(3))]
    unknown, unfit = api.get("/consent-status", request_id="req_x"), api.get("/consent-status", request_id="req_y", x=1)

    answers = [*polls, unknown, unfit]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 404, 400]
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"status-polls";q=2;w=200'}
    left = [answer["RateLimit"].split(";")[1] for answer in answers]
    assert left == ["r=2", "r=1", "r=0", "r=0", "r=1", "r=1"]
    settings.STATUS_POLL_BURST = 0
    assert not api.get("/consent-status", **named).has_header("RateLimit")


def test_reads_show_in_the_status(api: Developer) -> None:
    grant = ExportFactory(grant__request__app=api.app, grant__request__max_reads=5).grant
    query = {"request_id": grant.request.request_id}
    for _ in range(2):
        assert api.get("/consent-export", **query).status_code == 200
    chain_pending_reads()

    body = body_of(api.get("/consent-status", **query))

    assert (body["grant"]["reads"], body["grant"]["reads_remaining"]) == (2, 3)
