"""Webhooks, to a real receiver on a real socket."""

import json
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from common import encryption
from common.clock import rfc3339
from consent.decisions import actions as decision_actions
from consent.notices import webhook_client
from consent.notices.models import Notice, WebhookDelivery
from consent.notices.webhooks import PAUSES, deliver_due, replay
from developers.apps.actions import restore_app, suspend_app
from developers.models import WebhookEndpoint
from tests.consent.conftest import receiver
from tests.factories import ConsentRequestFactory
from tests.factories.consent_requests import now
from tests.fakes.receiver import Receiver

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
