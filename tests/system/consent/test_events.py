"""The stream of events and the long poll, over a real socket."""

import os
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
import requests
from django.db import connection, transaction

from common.background import background
from common.identifiers import secret_digest
from common.sql import connections
from common.sql.triggers import lifted
from consent.decisions import actions as decision_actions
from consent.notices import long_polling, outbox
from consent.notices.models import Notice, NoticeCounter
from consent.requests.models import ConsentRequest
from consent.rules import RULES
from developers.apps.actions import close_app, restore_app, suspend_app
from developers.models import App, DeveloperToken
from developers.tokens.actions import revoke_token, rotate_token
from developers.tokens.leaks import report_leak
from tests.callers import Developer
from tests.config.gate import Gate
from tests.factories import AppFactory, ConsentRequestFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_is_left_listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stream learns that its reader left when it writes to it: often enough for a test to wait for it."""
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    yield
    eventually(long_polling.hub.is_silent, "the end of the listener")


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
        timeout=MOST_SECONDS,
    )


def decide_soon(request: ConsentRequest, hub: Any) -> threading.Thread:
    """Once somebody waits for it."""

    def decide() -> None:
        eventually(lambda: hub.waiters_of(request.app_id) == 1, "whoever waits")
        decision_actions.deny(request_id=request.request_id, by=request.user)
        connection.close()

    thread = threading.Thread(target=decide)
    thread.start()
    return thread


def test_an_event_arrives_as_it_happens(service: str, app: App, api: Developer) -> None:
    request = ConsentRequestFactory(app=app)
    with open_stream(service, api) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        thread = decide_soon(request, long_polling.hub)
        sequence, data = next(events(answer))
    thread.join()

    assert (sequence, data) == (1, Notice.objects.get().facts)


def test_a_stream_with_an_empty_last_event_id_begins_now(service: str, app: App, api: Developer) -> None:
    request = ConsentRequestFactory(app=app)
    decision_actions.deny(request_id=request.request_id, by=request.user)

    with open_stream(service, api, **{"Last-Event-ID": ""}) as answer:
        begins = next(line for line in answer.iter_lines(chunk_size=1) if line)

    assert (answer.status_code, begins) == (200, b"id: 1")


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
        suspend_app(app=app, by=None, note="why")
        decision_actions.deny(request_id=second.request_id, by=second.user)
        assert list(stream) == []
    assert open_stream(service, api).status_code == 403

    restore_app(app=app, by=None, note="why")
    with open_stream(service, api, **{"Last-Event-ID": "1"}) as answer:
        assert next(events(answer)) == (2, Notice.objects.get(sequence=2).facts)


def test_after_a_restore_no_number_is_used_again(service: str, app: App, api: Developer) -> None:
    """Who was told of a lost event is told so, and who was not misses nothing."""
    delivered, lost, later = (ConsentRequestFactory(app=app) for _ in range(3))
    decision_actions.deny(request_id=delivered.request_id, by=delivered.user)
    backup = list(NoticeCounter.objects.values_list("app_id", "sequence"))
    with transaction.atomic():
        decision_actions.deny(request_id=lost.request_id, by=lost.user)
        assert Notice.objects.filter(app=app).latest("pk").sequence == 2
        transaction.set_rollback(True)  # the backup has one event; the app had two
    assert list(NoticeCounter.objects.values_list("app_id", "sequence")) == backup
    outbox.begin_epoch()
    decision_actions.deny(request_id=later.request_id, by=later.user)

    first = outbox.EPOCH + 1
    assert [notice.sequence for notice in Notice.objects.filter(app=app).order_by("pk")] == [1, first]
    with open_stream(service, api, **{"Last-Event-ID": "1"}) as kept:
        assert next(events(kept))[0] == first
    with open_stream(service, api, **{"Last-Event-ID": "2"}) as gone:
        assert gone.status_code == 400
        assert gone.json()["errors"][0]["field"] == "Last-Event-ID"


def test_a_stream_goes_on_where_all_that_followed_is_kept(service: str, app: App, api: Developer) -> None:
    """Notices up to the third were kept long enough; of those the second is the newest of its request."""
    for _ in range(5):
        request = ConsentRequestFactory(app=app)
        decision_actions.deny(request_id=request.request_id, by=request.user)
    rules = [rule for rule in RULES if rule.trigger == "consent_notices_no_delete"]
    with transaction.atomic(), lifted(connection, rules):
        Notice.objects.filter(app=app, sequence__in=(1, 3)).delete()
        NoticeCounter.objects.filter(app=app).update(forgotten=3)

    for last in ("1", "2"):
        with open_stream(service, api, **{"Last-Event-ID": last}) as gone:
            assert gone.status_code == 400
            assert "events of your app up to 3 are no longer kept" in gone.json()["detail"]
    for last, first in (("0", 2), ("3", 4), ("4", 5)):
        with open_stream(service, api, **{"Last-Event-ID": last}) as kept:
            assert next(events(kept))[0] == first


def test_the_next_epoch_is_far_above_whatever_was_lost(app: App) -> None:
    for had, begins in ((0, 1), (4_999_999, 1), (5_000_000, 2), (10_000_001, 2), (2_000_000_000, 201)):
        NoticeCounter.objects.update_or_create(app=app, defaults={"sequence": had})
        outbox.begin_epoch()
        assert NoticeCounter.objects.get(app=app).sequence == begins * outbox.EPOCH
    other = AppFactory()
    outbox.begin_epoch()
    assert NoticeCounter.objects.get(app=other).sequence == outbox.EPOCH  # it may have had its first ones


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


def test_wait_answers_when_it_changes(service: str, app: App, api: Developer, hub: Any) -> None:
    request = ConsentRequestFactory(app=app)
    thread = decide_soon(request, hub)

    answer = requests.get(
        f"{service}/api/v1/consent-status",
        params={"request_id": request.request_id, "wait": "20"},
        headers={"Authorization": f"Bearer {api.token}"},
        timeout=MOST_SECONDS,
    )

    thread.join()
    assert answer.json()["status"] == "denied"


def test_bad_input_a_stranger_and_a_wrong_method(service: str, app: App, api: Developer) -> None:
    with open_stream(service, api, **{"Last-Event-ID": "x"}) as bad:
        assert (bad.status_code, bad.json()["code"]) == (400, "invalid_request")
    stranger = requests.get(f"{service}/api/v1/consent-events", timeout=MOST_SECONDS)
    assert (stranger.status_code, stranger.json()["code"]) == (401, "invalid_token")
    wrong = requests.post(f"{service}/api/v1/consent-events", timeout=MOST_SECONDS)
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize("end", ["revoked", "leaked", "closed", "rotated", "suspended"])
def test_a_stream_ends_with_its_token_at_once(
    service: str, app: App, api: Developer, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 3600.0)
    token = DeveloperToken.objects.get(digest=secret_digest(api.token))
    ends = {
        "revoked": lambda: revoke_token(token=token, by=None),
        "leaked": lambda: report_leak(token=api.token),
        "closed": lambda: close_app(app=app, by=token.created_by),
        "suspended": lambda: suspend_app(app=app, by=None, note="why"),
        "rotated": lambda: rotate_token(token=token, by=token.created_by, overlap=timedelta(0)),
    }
    with open_stream(service, api) as answer:
        lines = answer.iter_lines(chunk_size=1)
        next(lines)
        eventually(lambda: long_polling.hub.waiters_of(app.pk) == 1, "the held call")
        ends[end]()

        assert [line for line in lines if line and not line.startswith(b"retry")] == []


def test_a_held_answer_is_refused_once_its_token_ended(
    service: str, app: App, api: Developer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consent.notices.long_polling._LOOK_AGAIN", 0.2)
    request = ConsentRequestFactory(app=app)
    token = DeveloperToken.objects.get(digest=secret_digest(api.token))
    answers = []

    def ask() -> None:
        answers.append(
            requests.get(
                f"{service}/api/v1/consent-status",
                {"request_id": request.request_id, "wait": 20},
                headers={"Authorization": f"Bearer {api.token}"},
                timeout=MOST_SECONDS,
            )
        )

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: long_polling.hub.waiters_of(app.pk) == 1, "the held call")
    revoke_token(token=token, by=None)
    asking.join()

    assert (answers[0].status_code, answers[0].json()["code"]) == (401, "invalid_token")


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is polled")
def test_a_listener_whose_database_says_nothing_holds_up_nothing_else(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up after a while, whoever waits looks again, and it listens as soon as there is an answer."""
    database = settings.DATABASES["default"]
    gate = Gate((database["HOST"], int(database["PORT"] or 5432)))
    at, _, name = database_url().rpartition("@")[2].partition("/")
    settings.DATABASE_LISTEN_URL = database_url().replace(f"@{at}/{name}", f"@127.0.0.1:{gate.port}/{name}")
    monkeypatch.setattr(long_polling, "_ANSWER_TIMEOUT", 0.3)
    monkeypatch.setattr(long_polling, "_RELISTEN_AFTER", 0.1)
    steps = iter([gate.be_silent])

    def leads_through_pooler(listener: Any) -> bool:
        next(steps, gate.open)()
        return connections.leads_through_pooler(listener)

    monkeypatch.setattr(long_polling, "leads_through_pooler", leads_through_pooler)
    request, hub, others = ConsentRequestFactory(), long_polling._Hub(), threading.Event()
    with hub.subscribed_to(f"request:{request.request_id}", app_pk=request.app_id) as heard:
        assert heard.wait(MOST_SECONDS)
        heard.clear()
        background.soon(others.set)
        assert others.wait(MOST_SECONDS)
        gate.open()
        assert heard.wait(MOST_SECONDS)  # as it listens again
        heard.clear()
        decision_actions.deny(request_id=request.request_id, by=request.user)
        assert heard.wait(MOST_SECONDS)
    eventually(hub.is_silent, "the end of the listener")
    gate.close()


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is polled")
def test_a_listener_hears_under_the_number_of_one_that_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    """libpq closes the socket of a broken session, and the next one gets its number."""
    monkeypatch.setattr(long_polling, "_RELISTEN_AFTER", 0.1)
    connected, made, listens = long_polling._connected, [], threading.Event()

    def under_the_number_of_the_first() -> Any:
        taken = []
        while made and (number := os.open(os.devnull, os.O_RDONLY)) <= made[0][0]:
            taken.append(number)
        if made:
            os.close(number)
            os.close(taken.pop())
        listener: Any = connected()
        made.append((listener.fileno(), listener.info.backend_pid))
        for number in taken:
            os.close(number)
        return listener

    def wait_until_it_listens(times: int) -> None:
        eventually(lambda: len(made) == times, "a listener")
        listens.clear()
        background.soon(listens.set)  # behind what makes it listen
        assert listens.wait(MOST_SECONDS)

    monkeypatch.setattr(long_polling, "_connected", under_the_number_of_the_first)
    request, hub = ConsentRequestFactory(), long_polling._Hub()
    with hub.subscribed_to(f"request:{request.request_id}", app_pk=request.app_id) as heard:
        wait_until_it_listens(1)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [made[0][1]])
        wait_until_it_listens(2)
        heard.clear()
        decision_actions.deny(request_id=request.request_id, by=request.user)
        assert heard.wait(MOST_SECONDS)
    assert made[0][0] == made[1][0]
    eventually(hub.is_silent, "the end of the listener")
