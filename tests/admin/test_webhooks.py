"""Webhook endpoints, whose secret is shown once, and the log of deliveries."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from common import encryption
from consent.event_types import WEBHOOK_TYPES
from consent.notices.models import WebhookDelivery
from developers.models import AppAuditEntry, WebhookEndpoint
from tests import factories
from tests.admin.staff_actions import act, list_of, messages
from tests.factories.consent_requests import now

ADD = "admin:developers_webhookendpoint_add"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


def form(of, **change):
    return {"app": of.pk, "url": "https://trips.example/hook", "types": ["consent.approved"]} | change


def secret_in(answer):
    """The one secret that a page shows."""
    (found,) = set(SECRET.findall(answer.content.decode().replace("&#x2B;", "+")))
    return found


def test_secret_is_shown_once(page, app):
    answer = page.post(reverse(ADD), form(app))
    secret = secret_in(answer)
    row = WebhookEndpoint.objects.get()
    assert (row.app, row.url, row.types) == (app, "https://trips.example/hook", ["consent.approved"])
    assert encryption.opened(row.secret) == secret
    for address in (
        list_of("developers", "webhookendpoint"),
        reverse("admin:developers_webhookendpoint_change", args=[row.pk]),
        reverse("admin:developers_webhookendpoint_history", args=[row.pk]),
        "/admin/",
    ):
        shown = page.get(address).content.decode()
        assert secret not in shown
        assert row.secret not in shown
    assert secret not in repr(list(LogEntry.objects.values())) + repr(dict(page.session.items()))


def test_endpoint_for_every_type(page, app):
    page.post(reverse(ADD), form(app, types=[]))
    assert WebhookEndpoint.objects.get().types == []


def test_types_are_those_of_the_contract():
    assert sorted(WEBHOOK_TYPES) == sorted(
        [f"consent.{event}" for event in (
            "approved", "denied", "cancelled", "expired", "revoked", "released", "terminated", "exhausted",
            "superseded", "paused", "resumed",
        )] + ["export.updated", "connection.connected", "connection.declined"] + [
            "processing_consent.given", "processing_consent.withdrawn", "processing_consent.expired",
            "analysis.completed", "analysis.failed", "activation.delivered", "activation.failed", "deletion.confirmed",
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "http://trips.example/hook"}, "url"),
        ({"url": "https://name:word@trips.example/hook"}, "url"),
        ({"url": "ftp://trips.example/"}, "url"),
        ({"url": "https://trips.example/hook#part"}, "url"),
        ({"url": "nonsense"}, "url"),
        ({"types": ["consent.pending"]}, "types"),
        ({"app": ""}, "app"),
    ],
)
def test_endpoint_that_may_not_be_is_refused(page, app, change, field):
    answer = page.post(reverse(ADD), form(app, **change))
    assert list(answer.context["adminform"].form.errors) == [field]
    assert not WebhookEndpoint.objects.exists()


def test_endpoint_is_there_once(page, app):
    factories.WebhookEndpointFactory(app=app, url="https://trips.example/hook")
    assert page.post(reverse(ADD), form(app)).status_code == 200
    assert WebhookEndpoint.objects.count() == 1


def test_secret_is_renewed(page):
    row = factories.WebhookEndpointFactory()
    secret = secret_in(act(page, "developers", "webhookendpoint", "renew", row))
    row.refresh_from_db()
    assert encryption.opened(row.secret) == secret
    two = [row, factories.WebhookEndpointFactory()]
    assert messages(act(page, "developers", "webhookendpoint", "renew", *two)) == ["Choose one endpoint."]


def test_endpoint_is_disabled_and_enabled(page, staff):
    row = factories.WebhookEndpointFactory()
    for action, count in (("disable", 1), ("disable", 0), ("enable", 1), ("enable", 0)):
        expected = f"{count} endpoint{'' if count == 1 else 's'} {'was' if count == 1 else 'were'} changed."
        assert messages(act(page, "developers", "webhookendpoint", action, row)) == [expected]
        row.refresh_from_db()
        assert (row.disabled_at is None, row.reason) == ((False, "staff") if action == "disable" else (True, ""))
    entries = AppAuditEntry.objects.filter(app=row.app).order_by("pk")
    assert [(entry.action, entry.member) for entry in entries] == [
        ("webhook.disabled", staff), ("webhook.enabled", staff),
    ]  # fmt: skip
    assert staff.public_id not in str([entry.facts for entry in entries])  # which the app's owners read


def test_delivery_is_sent_once_more(page):
    row = factories.WebhookDeliveryFactory(status="given_up", attempt=13, failure="it answered 500", finished_at=now())
    assert messages(act(page, "consent", "webhookdelivery", "replay", row)) == ["1 delivery will be sent again."]
    again = WebhookDelivery.objects.get()
    assert (again.status, again.attempt, again.failure, again.finished_at) == ("waiting", 0, "", None)
    assert LogEntry.objects.get().object_id == str(row.pk)


def test_delivery_of_a_disabled_endpoint_is_not_sent_again(page):
    endpoint = factories.WebhookEndpointFactory(disabled_at=now(), reason="it answered 410 Gone")
    row = factories.WebhookDeliveryFactory(endpoint=endpoint, status="given_up", finished_at=now())
    assert messages(act(page, "consent", "webhookdelivery", "replay", row)) == [
        "1 delivery was left alone: its endpoint is disabled."
    ]
    assert WebhookDelivery.objects.get().status == "given_up"
