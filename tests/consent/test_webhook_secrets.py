"""Renewing an endpoint's secret: for a while both sign, and then the old one is forgotten."""

from datetime import timedelta

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from consent.decisions import actions as decision_actions
from consent.notices.webhooks import deliver_due
from consent.retention import forget_what_is_over
from consent_bridge.webhooks import verify
from developers.models import App, AppAuditEntry, WebhookEndpoint
from developers.webhooks import actions as webhooks
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory
from tests.factories.consent_requests import now
from tests.fakes.receiver import Receiver

pytestmark = pytest.mark.django_db(transaction=True)  # deliveries are made in threads, each with its connection


def tell(app: App, receiver: Receiver) -> tuple[dict[str, str], bytes]:
    """What arrives when somebody denies the app something."""
    request = ConsentRequestFactory(app=app)
    decision_actions.deny(request_id=request.request_id, by=request.user)
    assert deliver_due() == 1
    return receiver.arrived[-1]


def signs(secret: str, arrived: tuple[dict[str, str], bytes]) -> bool:
    headers, body = arrived
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def test_in_the_overlap_both_secrets_sign_and_afterwards_the_new_one_alone(receiver: Receiver) -> None:
    app, member = AppFactory(), PersonFactory()
    endpoint, first = webhooks.add_endpoint(app=app, url=receiver.url, by=member)
    assert signs(first, tell(app, receiver))

    second = webhooks.renew_secret(endpoint=endpoint, by=member)

    arrived = tell(app, receiver)
    assert len(arrived[0]["webhook-signature"].split(" ")) == 2
    assert (signs(first, arrived), signs(second, arrived)) == (True, True)
    assert verify(arrived[1], arrived[0], first).type == verify(arrived[1], arrived[0], second).type
    WebhookEndpoint.objects.update(previous_until=now() - timedelta(seconds=1))
    arrived = tell(app, receiver)
    assert len(arrived[0]["webhook-signature"].split(" ")) == 1
    assert (signs(first, arrived), signs(second, arrived)) == (False, True)


def test_the_old_secret_is_forgotten_when_its_overlap_is_over() -> None:
    member = PersonFactory()
    endpoint, _ = webhooks.add_endpoint(app=AppFactory(), url="https://trips.example/hook", by=member)
    webhooks.renew_secret(endpoint=endpoint, by=member, overlap=timedelta(hours=1))

    forget_what_is_over()
    assert WebhookEndpoint.objects.get().previous_secret
    WebhookEndpoint.objects.update(previous_until=now() - timedelta(seconds=1))
    forget_what_is_over()

    row = WebhookEndpoint.objects.get()
    assert (row.previous_secret, row.previous_until) == ("", None)


def test_a_leaked_secret_is_renewed_without_overlap(receiver: Receiver) -> None:
    app, member = AppFactory(), PersonFactory()
    endpoint, leaked = webhooks.add_endpoint(app=app, url=receiver.url, by=member)

    secret = webhooks.renew_secret(endpoint=endpoint, by=member, overlap=timedelta(0))

    arrived = tell(app, receiver)
    assert (signs(leaked, arrived), signs(secret, arrived)) == (False, True)
    assert WebhookEndpoint.objects.values_list("previous_secret", "previous_until").get() == ("", None)


def test_renewed_twice_the_oldest_signs_nothing_any_more(receiver: Receiver) -> None:
    app, member = AppFactory(), PersonFactory()
    endpoint, first = webhooks.add_endpoint(app=app, url=receiver.url, by=member)
    second = webhooks.renew_secret(endpoint=endpoint, by=member)
    third = webhooks.renew_secret(endpoint=endpoint, by=member)

    arrived = tell(app, receiver)

    assert [signs(secret, arrived) for secret in (first, second, third)] == [False, True, True]
    entries = AppAuditEntry.objects.filter(action="webhook.secret_renewed").values_list("member", "facts")
    assert list(entries) == [(member.pk, {"endpoint": endpoint.pk, "url": endpoint.url, "overlap": 86400})] * 2
