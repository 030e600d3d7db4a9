"""The pages of an app's webhooks: endpoints made, changed, tried out and deleted, and what became of each delivery."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from standardwebhooks.webhooks import Webhook

from common import encryption
from consent.decisions import actions as decision_actions
from consent.event_types import WEBHOOK_TYPES
from consent.notices.models import NoticeCounter, WebhookDelivery
from consent.notices.webhooks import deliver_due
from consent_bridge.webhooks import verify
from developers.models import App, AppAuditEntry, AppMember, WebhookEndpoint
from developers.webhooks.actions import MOST_ENDPOINTS
from tests.factories import (
    ConsentRequestFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tests.factories.consent_requests import now
from tests.fakes.receiver import Receiver

URL = "https://trips.example/hook"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
pytestmark = pytest.mark.django_db


def pages(app: App, endpoint: WebhookEndpoint | None = None, rest: str = "") -> str:
    return f"/developers/apps/{app.app_id}/webhooks/" + (f"{endpoint.pk}/{rest}" if endpoint else "")


def own(member: AppMember, **values: Any) -> WebhookEndpoint:
    return WebhookEndpointFactory(app=member.app, **values)


def secret_on(answer: HttpResponse) -> str:
    (found,) = set(SECRET.findall(unescape(answer.content.decode())))
    return str(found)


def page_after(developer: Client, answer: HttpResponse) -> str:
    """What the page says that a form leads to."""
    return unescape(developer.get(answer["Location"]).content.decode())


def audited() -> list[tuple[str, dict[str, Any]]]:
    return list(AppAuditEntry.objects.order_by("pk").values_list("action", "facts"))


# --- endpoints --------------------------------------------------------------------------------------------------------


def test_an_endpoint_is_made_and_its_secret_shown_once(developer: Client, member: AppMember) -> None:
    here = pages(member.app)
    assert "no endpoint yet" in developer.get(here).content.decode()

    answer = developer.post(here, {"url": URL, "type-consent.denied": "on", "type-consent.approved": "on"})

    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.app, endpoint.url) == (member.app, URL)
    assert endpoint.types == ["consent.approved", "consent.denied"]
    secret = secret_on(answer)
    assert encryption.opened(endpoint.secret) == secret
    assert answer["Cache-Control"] == "no-store"
    for page in (here, pages(member.app, endpoint)):
        shown = developer.get(page).content.decode().replace("<wbr>", "")
        assert URL in shown
        assert "whsec_" not in shown
    facts = {"endpoint": endpoint.pk, "url": URL, "types": ["consent.approved", "consent.denied"]}
    assert audited() == [("webhook.added", facts)]
    assert secret not in json.dumps(audited())


def test_nothing_ticked_is_every_type(developer: Client, member: AppMember) -> None:
    developer.post(pages(member.app), {"url": URL})

    assert WebhookEndpoint.objects.get().types == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://trips.example/hook", "Use an https address."),
        ("ftp://trips.example/hook", "Use a web address."),
        ("https://name@trips.example/hook", "Use an address without a name, a password or a fragment."),
        ("https://trips.example/hook#part", "Use an address without a name, a password or a fragment."),
        ("https://10.0.0.1/hook", "Use an address on the public internet."),
        ("https://169.254.169.254/latest", "Use an address on the public internet."),
        ("https://[::1]/hook", "Use an address on the public internet."),
        ("https://[::ffff:127.0.0.1]/hook", "Use an address on the public internet."),
        ("https://localhost/hook", "Use an address on the public internet."),
        ("nonsense", "Enter a valid URL."),
        ("", "This field is required."),
        (f"https://trips.example/{'a' * 500}", "Ensure this value has at most 500 characters"),
    ],
)
def test_an_address_that_may_not_be_is_refused_and_stays_in_the_form(
    developer: Client, member: AppMember, url: str, message: str
) -> None:
    answer = developer.post(pages(member.app), {"url": url, "type-consent.denied": "on"})

    assert answer.status_code == 400
    shown = answer.content.decode()
    assert message in unescape(shown)
    assert 'name="type-consent.denied" id="id_type-consent.denied" checked' in shown
    assert not WebhookEndpoint.objects.exists()
    assert audited() == []


def test_an_address_is_there_once(developer: Client, member: AppMember) -> None:
    own(member, url=URL)
    WebhookEndpointFactory(url="https://other.example/hook")

    assert "has an endpoint with this address" in developer.post(pages(member.app), {"url": URL}).content.decode()
    assert developer.post(pages(member.app), {"url": "https://other.example/hook"}).status_code == 200
    assert WebhookEndpoint.objects.filter(app=member.app).count() == 2


def test_an_app_has_so_many_endpoints_and_no_more(developer: Client, member: AppMember) -> None:
    for _ in range(MOST_ENDPOINTS - 1):
        own(member)

    answers = [developer.post(pages(member.app), {"url": f"{URL}/{number}"}).status_code for number in range(2)]

    assert answers == [200, 400]
    assert WebhookEndpoint.objects.filter(app=member.app).count() == MOST_ENDPOINTS


def test_an_endpoint_is_changed(developer: Client, member: AppMember) -> None:
    endpoint = own(member, types=["consent.approved"])
    page = pages(member.app, endpoint)
    assert 'name="type-consent.approved" id="id_type-consent.approved" checked' in developer.get(page).content.decode()

    answer = developer.post(f"{page}change/", {"url": URL, "type-export.updated": "on"})
    again = developer.post(f"{page}change/", {"url": URL, "type-export.updated": "on"})
    refused = developer.post(f"{page}change/", {"url": "https://192.168.1.1/"})

    assert (answer["Location"], again.status_code, refused.status_code) == (page, 302, 400)
    before = {"url": endpoint.url, "types": ["consent.approved"]}
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.types) == (URL, ["export.updated"])
    after = {"url": URL, "types": ["export.updated"]}
    facts = {"endpoint": endpoint.pk, "url": URL, "before": before, "after": after}
    assert audited() == [("webhook.changed", facts)]


def test_an_endpoint_is_disabled_and_enabled(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    page = pages(member.app, endpoint)

    for enabled in ("no", "no", "perhaps"):
        developer.post(f"{page}switch/", {"enabled": enabled})
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at is None, endpoint.reason) == (False, "a member of the app")
    assert "Disabled" in developer.get(page).content.decode()
    developer.post(f"{page}switch/", {"enabled": "yes"})

    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.reason) == (None, "")
    assert [action for action, _ in audited()] == ["webhook.disabled", "webhook.enabled"]


def test_a_secret_is_renewed_with_an_overlap(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    old = endpoint.secret

    answer = developer.post(pages(member.app, endpoint, "secret/"), {"overlap": "1h"})

    secret = secret_on(answer)
    endpoint.refresh_from_db()
    assert encryption.opened(endpoint.secret) == secret
    assert endpoint.previous_secret == old
    assert endpoint.previous_until is not None
    assert timedelta(minutes=59) < endpoint.previous_until - now() <= timedelta(hours=1, seconds=1)
    assert "Two secrets sign now" in developer.get(pages(member.app, endpoint)).content.decode()
    refused = developer.post(pages(member.app, endpoint, "secret/"), {"overlap": "for ever"})
    assert "Nothing was changed." in page_after(developer, refused)
    assert encryption.opened(WebhookEndpoint.objects.get().secret) == secret


def test_an_endpoint_is_deleted_after_the_page_said_what_is_lost(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    WebhookDeliveryFactory(endpoint=endpoint)
    here = pages(member.app, endpoint, "delete/")
    assert "1 delivery still waits" in developer.get(here).content.decode()
    assert WebhookEndpoint.objects.exists()

    assert developer.post(here)["Location"] == pages(member.app)

    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert audited() == [("webhook.deleted", {"endpoint": endpoint.pk, "url": endpoint.url})]
    assert developer.post(here).status_code == 404


# --- the test button --------------------------------------------------------------------------------------------------


def test_a_test_is_signed_tells_of_nobody_and_takes_no_number(
    developer: Client, member: AppMember, receiver: Receiver
) -> None:
    secret = secret_on(developer.post(pages(member.app), {"url": receiver.url, "type-consent.denied": "on"}))
    endpoint = WebhookEndpoint.objects.get()

    answer = developer.post(pages(member.app, endpoint, "test/"))

    assert "The test arrived: it answered 204 after" in page_after(developer, answer)
    ((headers, body),) = receiver.arrived
    sent = Webhook(secret).verify(body, headers)
    assert sent["type"] == verify(body, headers, secret).type == "consent.test"
    assert headers["webhook-id"].startswith("msg_test_")
    data = sent["data"]
    assert (data["request_id"], data["user_id"], data["sequence"]) == ("req_test", "usr_test", None)
    assert not NoticeCounter.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert "consent.test" not in WEBHOOK_TYPES


def test_what_a_test_meets_is_told(developer: Client, member: AppMember, receiver: Receiver, settings: Any) -> None:
    endpoint = own(member, url=receiver.url)
    here = pages(member.app, endpoint, "test/")

    receiver.answers = [500, 410, 204]
    assert "The test was refused: it answered 500 after" in page_after(developer, developer.post(here))
    assert "it answered 410" in page_after(developer, developer.post(here))
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is None
    settings.WEBHOOK_INTERNAL_ADDRESSES = False
    assert "It cannot be reached" in page_after(developer, developer.post(here))
    assert len(receiver.arrived) == 2


def test_ten_tests_a_minute_and_none_for_a_suspended_app(
    developer: Client, member: AppMember, receiver: Receiver
) -> None:
    endpoint = own(member, url=receiver.url)
    here = pages(member.app, endpoint, "test/")
    App.objects.update(status="suspended")
    assert "suspended" in page_after(developer, developer.post(here))
    App.objects.update(status="active")

    answers = [page_after(developer, developer.post(here)) for _ in range(11)]

    assert ["The test arrived" in answer for answer in answers] == [True] * 10 + [False]
    assert "often enough for now" in answers[-1]
    assert len(receiver.arrived) == 10


# --- the log ----------------------------------------------------------------------------------------------------------


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
    assert ([row["is_due"] for row in fresh], ">due now</td>" in shown) == ([True, False], True)
    assert "It answered 500." in shown
    failed = developer.get(pages(member.app, endpoint, "log"), {"show": "failed"}).json()["deliveries"]
    assert [row["sequence"] for row in failed] == [2]
    WebhookEndpoint.objects.update(disabled_at=now(), reason="it answered 410 Gone")
    waiting = developer.get(pages(member.app, endpoint, "log")).json()["deliveries"][0]
    assert (waiting["status"], waiting["next_at"], waiting["is_due"]) == ("waiting", None, False)
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

    assert "It will be sent again" in page_after(developer, answer)
    again = WebhookDelivery.objects.get()
    assert (again.status, again.attempt, again.notice_id) == ("waiting", 0, row.notice_id)
    facts = {"endpoint": endpoint.pk, "url": endpoint.url, "sequence": row.notice.sequence}
    assert audited() == [("webhook.replayed", facts)]


def test_what_failed_since_is_sent_again(developer: Client, member: AppMember) -> None:
    endpoint = own(member)
    gone = {"status": "given_up", "attempt": 13, "failure": "it answered 500", "finished_at": now()}
    old = WebhookDeliveryFactory(endpoint=endpoint, notice__at=now() - timedelta(days=2), **gone)
    failed = WebhookDeliveryFactory(endpoint=endpoint, **gone)
    tried = WebhookDeliveryFactory(endpoint=endpoint, attempt=2, next_at=now() + timedelta(hours=5))
    arrived = WebhookDeliveryFactory(endpoint=endpoint, status="delivered", attempt=1, finished_at=now())
    others = WebhookDeliveryFactory(endpoint=own(member), **gone)

    answer = developer.post(pages(member.app, endpoint, "replay/"), {"hours": "24"})

    assert "2 deliveries will be sent again." in page_after(developer, answer)
    attempts = dict(WebhookDelivery.objects.values_list("pk", "attempt"))
    assert attempts == {old.pk: 13, failed.pk: 0, tried.pk: 0, arrived.pk: 1, others.pk: 13}
    assert "Nothing was changed." in page_after(developer, developer.post(pages(member.app, endpoint, "replay/")))


def test_nothing_is_replayed_to_a_disabled_endpoint(developer: Client, member: AppMember) -> None:
    endpoint = own(member, disabled_at=now(), reason="it answered 410 Gone")
    row = WebhookDeliveryFactory(endpoint=endpoint, status="given_up", attempt=1, finished_at=now())

    for path, sent in ((f"deliveries/{row.pk}/replay/", {}), ("replay/", {"hours": "24"})):
        assert "Enable it first." in page_after(developer, developer.post(pages(member.app, endpoint, path), sent))

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


def test_a_delivery_of_others_is_not_there_under_an_endpoint_of_ones_own(developer: Client, member: AppMember) -> None:
    others, mine = WebhookDeliveryFactory(), own(member)

    assert developer.post(pages(member.app, mine, f"deliveries/{others.pk}/replay/")).status_code == 404
    assert developer.get(pages(member.app, WebhookEndpoint(pk=10**30))).status_code == 404
