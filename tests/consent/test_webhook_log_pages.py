"""The log of an endpoint: what became of each delivery, and what is sent once more."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from consent.decisions import actions as decision_actions
from consent.notices.models import WebhookDelivery
from consent.notices.webhooks import deliver_due
from developers.models import App, AppAuditEntry, AppMember, WebhookEndpoint
from tests.factories import (
    ConsentRequestFactory,
    MemberFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tests.factories.asked import now
from tests.fakes.receiver import Receiver, receiving

URL = "https://trips.example/hook"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving(settings) as server:
        yield server


@pytest.fixture
def member() -> AppMember:
    return MemberFactory(role="member")


@pytest.fixture
def developer(client: Client, member: AppMember) -> Client:
    client.force_login(member.user)
    return client


def pages(app: App, endpoint: WebhookEndpoint | None = None, rest: str = "") -> str:
    return f"/developers/apps/{app.app_id}/webhooks/" + (f"{endpoint.pk}/{rest}" if endpoint else "")


def own(member: AppMember, **values: Any) -> WebhookEndpoint:
    return WebhookEndpointFactory(app=member.app, **values)


def secret_on(answer: HttpResponse) -> str:
    (found,) = set(SECRET.findall(unescape(answer.content.decode())))
    return str(found)


def told(developer: Client, answer: HttpResponse) -> str:
    """What the page says that a form leads to."""
    return unescape(developer.get(answer["Location"]).content.decode())


def audited() -> list[tuple[str, dict[str, Any]]]:
    return list(AppAuditEntry.objects.order_by("pk").values_list("action", "facts"))


def test_the_log_tells_what_became_of_each_delivery(developer: Client, member: AppMember, receiver: Receiver) -> None:
    endpoint = own(member, url=receiver.url)
    receiver.answers = [204, 500]
    for _ in range(2):
        request = ConsentRequestFactory(app=member.app)
        decision_actions.deny(request_id=request.request_id, by=request.user)
    rows = list(WebhookDelivery.objects.order_by("pk"))
    rows[0].status_code, rows[0].ms, rows[0].tried_at = 204, 12, now()
    rows[0].status, rows[0].attempt, rows[0].finished_at = "delivered", 1, now()
    rows[0].save()
    rows[1].status_code, rows[1].ms, rows[1].tried_at, rows[1].attempt = 500, 31, now(), 3
    rows[1].failure = "it answered 500"
    rows[1].save()

    shown = developer.get(pages(member.app, endpoint)).content.decode()
    fresh = developer.get(pages(member.app, endpoint, "log")).json()["deliveries"]

    assert [(row["kind"], row["sequence"], row["status"], row["attempts"], row["status_code"], row["ms"], row["error"])
            for row in fresh] == [
        ("consent.denied", 2, "waiting", 3, 500, 31, "It answered 500."),
        ("consent.denied", 1, "delivered", 1, 204, 12, ""),
    ]  # fmt: skip
    assert fresh[1]["next_at"] is None
    assert fresh[0]["next_at"] is not None
    assert "It answered 500." in shown
    failed = developer.get(pages(member.app, endpoint, "log"), {"show": "failed"}).json()["deliveries"]
    assert [row["sequence"] for row in failed] == [2]
    assert [request.user.public_id in shown for request in member.app.consent_requests.all()] == [False, False]


def test_a_long_log_has_pages(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    made = [WebhookDeliveryFactory(endpoint=endpoint) for _ in range(51)]

    first = developer.get(pages(member.app, endpoint)).content.decode()
    before = made[1].notice_id
    second = developer.get(pages(member.app, endpoint), {"before": before}).content.decode()
    strange = developer.get(pages(member.app, endpoint), {"before": "x", "show": "everything"})

    assert first.count("data-delivery=") == 51  # and the template of a row
    assert f"before={before}" in first
    assert re.findall(r'data-delivery="(\d+)"', second) == [str(made[0].pk)]
    assert strange.status_code == 200


def test_one_delivery_is_sent_again_under_its_identifier(
    developer: Client, member: AppMember, receiver: Receiver
) -> None:
    endpoint = own(member, url=receiver.url)
    row = WebhookDeliveryFactory(endpoint=endpoint, status="given_up", attempt=13, failure="it answered 500",
                                 finished_at=now())  # fmt: skip

    answer = developer.post(pages(member.app, endpoint, f"deliveries/{row.pk}/replay/"))

    assert "It will be sent again" in told(developer, answer)
    again = WebhookDelivery.objects.get()
    assert (again.status, again.attempt, again.notice_id) == ("waiting", 0, row.notice_id)
    assert audited() == [("webhook.replayed", {"endpoint": endpoint.pk, "sequence": row.notice.sequence})]


def test_what_failed_since_is_sent_again(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    gone = {"status": "given_up", "attempt": 13, "failure": "it answered 500", "finished_at": now()}
    old = WebhookDeliveryFactory(endpoint=endpoint, notice__at=now() - timedelta(days=2), **gone)
    failed = WebhookDeliveryFactory(endpoint=endpoint, **gone)
    tried = WebhookDeliveryFactory(endpoint=endpoint, attempt=2, next_at=now() + timedelta(hours=5))
    arrived = WebhookDeliveryFactory(endpoint=endpoint, status="delivered", attempt=1, finished_at=now())
    others = WebhookDeliveryFactory(endpoint=own(member), **gone)

    answer = developer.post(pages(member.app, endpoint, "replay/"), {"hours": "24"})

    assert "2 deliveries will be sent again." in told(developer, answer)
    attempts = dict(WebhookDelivery.objects.values_list("pk", "attempt"))
    assert attempts == {old.pk: 13, failed.pk: 0, tried.pk: 0, arrived.pk: 1, others.pk: 13}
    assert "Nothing was changed." in told(developer, developer.post(pages(member.app, endpoint, "replay/")))


def test_nothing_is_replayed_to_a_disabled_endpoint(developer: Client, member: AppMember) -> None:
    endpoint = own(member, disabled_at=now(), reason="it answered 410 Gone")
    row = WebhookDeliveryFactory(endpoint=endpoint, status="given_up", attempt=1, finished_at=now())

    for path, sent in ((f"deliveries/{row.pk}/replay/", {}), ("replay/", {"hours": "24"})):
        assert "Enable it first." in told(developer, developer.post(pages(member.app, endpoint, path), sent))

    assert WebhookDelivery.objects.get().status == "given_up"
    assert audited() == []


@pytest.mark.django_db(transaction=True)  # deliveries are made in threads, each with its connection
def test_a_delivery_writes_its_times_and_gone_is_audited(receiver: Receiver) -> None:
    endpoint = WebhookEndpointFactory(url=receiver.url)
    receiver.answers = [204, 410]
    for _ in range(2):
        request = ConsentRequestFactory(app=endpoint.app)
        decision_actions.deny(request_id=request.request_id, by=request.user)
        deliver_due()

    first, second = WebhookDelivery.objects.order_by("pk")
    assert first.ms is not None
    assert 0 <= first.ms < 15_000
    assert first.tried_at is not None
    assert (second.status, second.status_code) == ("given_up", 410)
    entry = AppAuditEntry.objects.get()
    assert (entry.action, entry.member) == ("webhook.disabled", None)
