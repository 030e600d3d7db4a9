"""Webhooks, to a real receiver on a real socket."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from common import encryption
from common.clock import database_now, rfc3339
from consent import tasks
from consent.decisions import actions as decision_actions
from consent.notices import webhook_client, webhooks
from consent.notices.models import Notice, WebhookDelivery
from consent.notices.webhooks import PAUSES, deliver_due, replay
from developers.apps.actions import restore_app, suspend_app
from developers.models import App, WebhookEndpoint
from tests.consent.conftest import receiver
from tests.factories import AppFactory, ConsentRequestFactory, TestAppFactory
from tests.factories.consent_requests import now
from tests.fakes.receiver import Receiver
from tests.fakes.serving import serving
from tests.patience import MOST_SECONDS, eventually

__all__ = ["receiver"]  # a fixture of other tests too
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def decide(receiver: Receiver, **endpoint: Any) -> Notice:
    """An app with this endpoint is refused something."""
    request = ConsentRequestFactory()
    WebhookEndpoint.objects.create(app=request.app, url=receiver.url, secret=encryption.sealed(SECRET), **endpoint)
    decision_actions.deny(request_id=request.request_id, by=request.user)
    return Notice.objects.get(request=request)


pytestmark = pytest.mark.django_db(transaction=True)  # deliveries are made in threads, each with its connection


def test_a_notice_arrives_signed_with_its_sequence(receiver: Receiver) -> None:
    notice = decide(receiver)

    assert deliver_due() == 1
    assert deliver_due() == 0

    headers, body = receiver.arrived[0]
    verified = Webhook(SECRET).verify(body, headers)
    assert verified["type"] == "consent.denied"
    assert verified["timestamp"] == rfc3339(notice.at)
    assert headers["webhook-id"] == f"msg_{notice.app.app_id}_{notice.sequence}"
    assert verified["data"] == notice.facts
    assert verified["data"]["sequence"] == notice.sequence
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body + b" ", headers)
    assert WebhookDelivery.objects.get().status == "delivered"


def test_a_receiver_takes_what_a_worker_sends_whose_own_clock_is_wrong(receiver: Receiver) -> None:
    """Its signature is of the database's time, here of one that the receiver is far from."""
    decide(receiver)
    WebhookDelivery.objects.update(next_at=now() - timedelta(hours=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("consent.notices.webhooks.database_now", lambda: now() - timedelta(hours=1))
        deliver_due()

    signed_at = int(receiver.arrived[0][0]["webhook-timestamp"])
    assert abs(now().timestamp() - 3600 - signed_at) < 60


def test_only_wanted_types_go_out(receiver: Receiver) -> None:
    decide(receiver, types=["consent.approved"])

    assert deliver_due() == 0


def test_a_failure_is_tried_again_later_under_the_same_identifier(receiver: Receiver) -> None:
    receiver.answers = [500, 204]
    decide(receiver)

    began = timezone.now()
    deliver_due()
    ended = timezone.now()
    waiting = WebhookDelivery.objects.get()
    assert (waiting.status, waiting.attempt, waiting.status_code, waiting.failure) == (
        "waiting", 1, 500, "it answered 500",
    )  # fmt: skip
    assert began + PAUSES[0] * 0.8 <= waiting.next_at <= ended + PAUSES[0] * 1.2
    WebhookDelivery.objects.update(next_at=now())
    deliver_due()

    assert WebhookDelivery.objects.get().status == "delivered"
    assert len({headers["webhook-id"] for headers, _ in receiver.arrived}) == 1


def test_three_days_of_failures_end_it() -> None:
    assert timedelta(days=2.5) < sum(PAUSES, timedelta()) < timedelta(days=3.5)


def test_the_last_failure_gives_up_and_a_replay_starts_over(receiver: Receiver) -> None:
    receiver.answers = [500, 204]
    decide(receiver)
    WebhookDelivery.objects.update(attempt=len(PAUSES))

    deliver_due()
    assert WebhookDelivery.objects.get().status == "given_up"
    replay(WebhookDelivery.objects.all())
    deliver_due()

    assert WebhookDelivery.objects.get().status == "delivered"


def test_gone_disables_the_endpoint(receiver: Receiver) -> None:
    receiver.answers = [410]
    decide(receiver)

    deliver_due()

    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.disabled_at is not None, endpoint.reason) == (True, "it answered 410 Gone")
    assert WebhookDelivery.objects.get().status == "given_up"


ACCEPTED, LATE = webhook_client.Outcome(204), webhook_client.Outcome(None, "it cannot be reached")


@pytest.mark.parametrize(
    ("head", "drips", "expected"),
    [
        (b"", b"z", LATE),
        (b"HTTP/1.1 204 No Content\r\n", b"X-Y: z\r\n", ACCEPTED),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"z", ACCEPTED),
    ],
)
def test_an_answer_that_drips_is_cut_off(
    settings: Any, monkeypatch: pytest.MonkeyPatch, head: bytes, drips: bytes, expected: webhook_client.Outcome
) -> None:
    """A byte now and then keeps every single read alive. Once the status is there, nothing more is needed."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    monkeypatch.setattr(webhook_client, "ANSWER_SECONDS", 2)
    dripped: list[int] = []

    def drip(listener: socket.socket) -> None:
        peer, _ = listener.accept()
        with peer, suppress(OSError):
            peer.recv(65536)
            peer.sendall(head)
            for _ in range(300):
                peer.sendall(drips)
                dripped.append(1)
                time.sleep(0.1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        outcome = webhook_client.send(
            url=url, secrets=[SECRET], message_id="msg_1", kind="consent.denied", at=now(), data={}, now=now()
        )
        thread.join()

    assert outcome == expected
    assert len(dripped) < 200


def test_a_suspended_app_is_told_nothing_until_it_is_restored(receiver: Receiver) -> None:
    notice = decide(receiver)
    suspend_app(app=notice.app, by=None, note="why")

    assert deliver_due() == 0
    later = ConsentRequestFactory(app=notice.app)
    decision_actions.deny(request_id=later.request_id, by=later.user)
    replay(WebhookDelivery.objects.filter(notice=notice))
    assert deliver_due() == 0
    assert receiver.arrived == []
    assert set(WebhookDelivery.objects.values_list("status", "attempt")) == {("waiting", 0)}

    restore_app(app=notice.app, by=None, note="why")
    assert deliver_due() == 2
    events = [json.loads(body)["data"] for _, body in receiver.arrived]
    assert sorted(data["sequence"] for data in events) == [1, 2]
    assert notice.facts in events


def test_many_are_tried_by_several_hands(receiver: Receiver) -> None:
    first = decide(receiver)
    for _ in range(39):
        request = ConsentRequestFactory(app=first.app)
        decision_actions.deny(request_id=request.request_id, by=request.user)

    assert deliver_due() == 40
    sequences = [Webhook(SECRET).verify(body, headers)["data"]["sequence"] for headers, body in receiver.arrived]
    assert sorted(sequences) == list(range(1, 41))


# --- Receivers that say nothing ---------------------------------------------------------------------------------------
@pytest.fixture
def silent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """It keeps what arrives, and answers after `answering` is set."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    monkeypatch.setattr(webhook_client, "ANSWER_SECONDS", 10 * MOST_SECONDS)
    server = Receiver()
    with serving(server):
        try:
            yield server
        finally:
            server.answering.set()


@contextmanager
def running(until: Receiver, **named: Any) -> Iterator[list[int]]:
    """A run beside the block, after which `until` answers, and what the run returned."""
    found: list[int] = []

    def run() -> None:
        try:
            found.append(deliver_due(**named))
        finally:
            connection.close()

    worker = threading.Thread(target=run)
    worker.start()
    try:
        yield found
    finally:
        until.answering.set()
        worker.join()


def announce(app: App, url: str, *, endpoints: int = 1, notices: int = 1) -> None:
    """So many notices on their way to each of so many endpoints of the app."""
    for number in range(endpoints):
        WebhookEndpoint.objects.create(app=app, url=f"{url}/{number}", secret=encryption.sealed(SECRET))
    for _ in range(notices):
        request = ConsentRequestFactory(app=app)
        decision_actions.deny(request_id=request.request_id, by=request.user)


@pytest.mark.parametrize(
    ("make", "apps", "endpoints", "notices", "most"),
    [
        (AppFactory, 1, 1, 6, webhooks.MOST_AT_ONCE),
        (AppFactory, 1, 8, 1, webhooks.MOST_OF_AN_APP),
        (TestAppFactory, 2, 5, 1, webhooks.MOST_OF_TESTS),
    ],
)
def test_receivers_that_say_nothing_leave_places_for_others(
    silent: Receiver, receiver: Receiver, make: Any, apps: int, endpoints: int, notices: int, most: int
) -> None:
    silent.answering.clear()
    for _ in range(apps):
        announce(make(), silent.url, endpoints=endpoints, notices=notices)
    announce(AppFactory(), receiver.url)

    with running(silent) as found:
        eventually(lambda: len(receiver.arrived) == 1, "the other app's notice")
        assert len(silent.arrived) <= most
        announce(AppFactory(), receiver.url + "-later")
        eventually(lambda: len(receiver.arrived) == 2, "what became due meanwhile")
        eventually(lambda: len(silent.arrived) >= most, "as many attempts as may be under way")
        assert len(silent.arrived) == most
    assert found == [apps * endpoints * notices + 2]


def test_a_freed_place_goes_to_an_app_with_none_first(silent: Receiver, receiver: Receiver) -> None:
    one, other = AppFactory(), AppFactory()
    announce(one, silent.url, notices=2)
    announce(other, receiver.url)
    first, second, later = WebhookDelivery.objects.order_by("next_at", "pk")

    claimed = webhooks._claim([])
    assert claimed is not None
    assert (claimed.pk, claimed.app_pk) == (first.pk, one.pk)
    following = webhooks._claim([claimed])
    assert following is not None
    assert following.pk == later.pk
    assert webhooks._claim([claimed, following]) == webhooks._Claimed(second.pk, second.endpoint_id, one.pk, "live")


def test_one_run_begins_attempts_at_a_time_and_ends_with_its_time(
    silent: Receiver, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(webhooks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(webhooks, "_LOOK_AGAIN", 0.05)
    announce(AppFactory(), receiver.url)
    with webhooks._turn:
        assert (deliver_due(), tasks.deliver_webhooks()) == (0, 0)
    assert deliver_due(most_seconds=0) == 0
    assert deliver_due() == 1

    silent.answering.clear()
    announce(AppFactory(), silent.url)
    with running(silent, most_seconds=20) as found:
        eventually(lambda: len(silent.arrived) == 1, "a run that waits")
        now[0] = 20
        eventually(lambda: webhooks._turn.acquire(blocking=False), "the end of its time")
        webhooks._turn.release()
        announce(AppFactory(), receiver.url + "-later")
        assert (deliver_due(), found) == (1, [])
    assert found == [1]


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    receiver.answers = [307]
    decide(receiver)

    deliver_due()

    assert len(receiver.arrived) == 1
    assert WebhookDelivery.objects.get().failure == "it redirects, which is not followed"


def test_an_internal_address_gets_not_a_byte(receiver: Receiver, settings: Any) -> None:
    settings.WEBHOOK_INTERNAL_ADDRESSES = False
    decide(receiver)

    deliver_due()

    assert receiver.arrived == []
    assert WebhookDelivery.objects.get().failure == "it cannot be reached"


def test_a_worker_that_died_leaves_its_lease_to_run_out(receiver: Receiver) -> None:
    decide(receiver)
    WebhookDelivery.objects.update(next_at=now() + timedelta(seconds=60))  # somebody claimed it and died

    assert deliver_due() == 0
    WebhookDelivery.objects.update(next_at=now())
    assert deliver_due() == 1

    assert json.loads(receiver.arrived[0][1])["type"] == "consent.denied"


def test_who_waits_behind_a_backlog_is_found_without_passing_over_it(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "_FIRST", 2)
    for _ in range(4):
        suspend_app(app=decide(receiver).app, by=None, note="why")
    notice = decide(receiver)
    *_, behind = webhooks._due(database_now())
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # of a few rows PostgreSQL reads them all
            cursor.execute("SET LOCAL enable_seqscan = off")
        plan = behind.explain()

    assert "webhook_delivery_own_due" in plan
    assert deliver_due() == 1
    assert json.loads(receiver.arrived[0][1])["data"] == notice.facts
