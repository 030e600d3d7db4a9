"""Messages to browsers: who gets them, what is in them, and what becomes of a browser that is gone."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import ec
from django.core import mail
from django.test import Client
from joserfc import jwt
from joserfc.jwk import ECKey

from accounts.alerts import encryption, push
from accounts.hooks import access_taken_back
from accounts.models import AlertSettings, OutgoingPush, PushSubscription, SecurityChange, User, WayChange
from common.clock import database_now
from common.jose import base64url
from tests.callers import sign_in, signed_in
from tests.factories import PersonFactory
from tests.fakes.push_service import FakeBrowser, PushService, push_service
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    with push_service(settings) as running:
        yield running


def browser_of(service: PushService, name: str = "one") -> FakeBrowser:
    return FakeBrowser(f"{service.origin}/push/{name}")


def subscribed(person: User, service: PushService, name: str = "one") -> FakeBrowser:
    browser = browser_of(service, name)
    assert signed_in(person).put("/account/push", browser.subscription).status_code == 200
    return browser


def tell(person: User, title: str = "Lunch Finder asks", text: str = "Food and drink") -> None:
    push.send_push(to=person, words=lambda: (title, text), path="/consent/", tag="requests")


def test_a_message_is_encrypted_as_the_standard_has_it() -> None:
    """RFC 8291, appendix A."""
    private = int.from_bytes(encryption.octets_of("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")
    body = encryption.encrypted(
        b"When I grow up, I want to be a watermelon",
        public_key="BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        auth="BTBZMqHH6r4Tts7J_aSIgg",
        own=ec.derive_private_key(private, ec.SECP256R1()),
        salt=encryption.octets_of("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert base64url(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


def test_a_message_arrives_and_only_its_browser_opens_it(person: User, service: PushService) -> None:
    browser = subscribed(person, service)
    tell(person)

    assert (push.send_due_pushes(), push.send_due_pushes()) == (1, 0)
    [(path, headers, body)] = service.arrived
    assert path == "/push/one"
    assert (headers["content-encoding"], headers["ttl"]) == ("aes128gcm", "86400")
    assert b"Lunch" not in body
    assert browser.opened(body) == {
        "title": "Lunch Finder asks", "text": "Food and drink", "path": "/consent/", "tag": "requests",
    }  # fmt: skip
    assert not OutgoingPush.objects.exists()


def test_the_push_service_is_shown_who_sends(person: User, service: PushService) -> None:
    """RFC 8292: a token for this push service alone, by the key that the browser was given."""
    subscribed(person, service)
    tell(person)
    at = database_now()
    with time_machine.travel(at, tick=False):
        push.send_due_pushes()

    scheme, _, parts = service.arrived[0][1]["authorization"].partition(" ")
    given = dict(part.strip().split("=", 1) for part in parts.split(","))
    octets = encryption.octets_of(given["k"])
    jwk = {
        "kty": "EC", "crv": "P-256", "x": base64url(octets[1:33]), "y": base64url(octets[33:]),
    }  # fmt: skip
    claims = jwt.decode(given["t"], ECKey.import_key(jwk), algorithms=["ES256"]).claims
    assert scheme == "vapid"
    assert given["k"] == encryption.public_name()
    assert claims["aud"] == service.origin
    assert timedelta(0) < datetime.fromtimestamp(claims["exp"], UTC) - at <= timedelta(days=1)
    assert claims["sub"].startswith("mailto:")


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_forgotten(person: User, service: PushService, status: int) -> None:
    subscribed(person, service)
    service.answers = [status]
    tell(person)

    assert push.send_due_pushes() == 0
    assert not PushSubscription.objects.exists()


def test_what_a_push_service_does_not_take_now_is_tried_again(person: User, service: PushService) -> None:
    subscribed(person, service)
    service.answers = [429, 503, 201]
    tell(person)
    for sent, failures in ((0, 1), (0, 2), (1, 0)):
        assert push.send_due_pushes() == sent
        assert PushSubscription.objects.get().failures == failures
        assert not push.is_due()
        OutgoingPush.objects.update(due_at=database_now())

    assert len(service.arrived) == 3


def test_a_browser_that_never_takes_anything_is_forgotten(person: User, service: PushService) -> None:
    subscribed(person, service)
    service.answers = [500]
    tell(person)
    for _ in range(8):
        assert PushSubscription.objects.exists()
        push.send_due_pushes()
        OutgoingPush.objects.update(due_at=database_now())

    assert not PushSubscription.objects.exists()


def test_what_is_refused_for_good_is_not_tried_again(person: User, service: PushService) -> None:
    subscribed(person, service)
    service.answers = [403]
    tell(person)
    push.send_due_pushes()

    assert not OutgoingPush.objects.exists()
    assert PushSubscription.objects.get().failures == 1


def test_an_old_message_is_given_up(person: User, service: PushService) -> None:
    subscribed(person, service)
    tell(person)
    OutgoingPush.objects.update(until=database_now() - timedelta(seconds=1))

    assert push.send_due_pushes() == 0
    assert (service.arrived, OutgoingPush.objects.count()) == ([], 0)


def test_who_fails_waits_behind_who_does_not(person: User, service: PushService) -> None:
    subscribed(person, service, "slow")
    PushSubscription.objects.update(failures=1)
    tell(person)
    other = PersonFactory()
    subscribed(other, service, "quick")
    tell(other)
    push.send_due_pushes()

    assert [path for path, *_ in service.arrived] == ["/push/quick", "/push/slow"]


def test_nothing_inside_this_network_is_reached(person: User, service: PushService, settings: Any) -> None:
    """The address is checked when it is connected to, whatever was accepted before."""
    subscribed(person, service)
    settings.WEBHOOK_INTERNAL_ADDRESSES = False
    tell(person)

    assert push.send_due_pushes() == 0
    assert service.arrived == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("endpoint", "http://push.example.net/one"),
        ("endpoint", "https://user@push.example.net/one"),
        ("endpoint", "https://push.example.net/one#part"),
        ("endpoint", "https://push.example.net:99999/"),
        ("endpoint", "file:///etc/passwd"),
        ("endpoint", "https://"),
        ("endpoint", "https://push.example.net/" + "x" * 1024),
        ("public_key", "AAAA"),
        ("public_key", "B" + "A" * 86),
        ("public_key", "!"),
        ("auth", "AAAA"),
        ("auth", "€"),
    ],
)
def test_what_is_no_subscription_is_refused(person: User, member: str, value: str) -> None:
    sent = {**FakeBrowser("https://push.example.net/one").subscription, member: value}

    answer = signed_in(person).put("/account/push", sent)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert [error["field"] for error in answer.json()["errors"]] == [member]
    assert not PushSubscription.objects.exists()


def test_an_endpoint_is_of_one_person_at_a_time(person: User, service: PushService) -> None:
    subscribed(person, service)
    other = PersonFactory()
    subscribed(other, service)

    assert PushSubscription.objects.get().user == other


def test_a_browser_that_says_it_again_loses_no_message(person: User, service: PushService) -> None:
    subscribed(person, service)
    tell(person)
    PushSubscription.objects.update(failures=3)
    browser = subscribed(person, service)

    assert PushSubscription.objects.get().failures == 0
    assert push.send_due_pushes() == 1
    assert browser.opened(service.arrived[0][2])["tag"] == "requests"


def test_nobody_ends_anothers_messages(person: User, service: PushService) -> None:
    browser = subscribed(person, service)
    body = json.dumps({"endpoint": browser.endpoint}).encode()

    signed_in(PersonFactory()).send("DELETE", "/account/push", body)
    assert PushSubscription.objects.exists()

    signed_in(person).send("DELETE", "/account/push", body)
    assert not PushSubscription.objects.exists()


def test_a_person_has_ten_browsers_at_most(person: User, service: PushService) -> None:
    for number in range(12):
        subscribed(person, service, str(number))

    endpoints = [json.loads(push.opened(one.sealed))["endpoint"] for one in push.subscriptions_of(person)]
    assert [endpoint.rpartition("/")[2] for endpoint in endpoints] == [str(number) for number in range(11, 1, -1)]


def test_signing_out_ends_the_messages_of_this_browser_alone(person: User, service: PushService) -> None:
    subscribed(person, service, "elsewhere")
    client = Client()
    sign_in(client, person)
    client.put("/account/push", browser_of(service, "here").subscription, content_type="application/json")
    assert PushSubscription.objects.count() == 2

    client.post("/accounts/logout/")

    [left] = PushSubscription.objects.all()
    assert json.loads(push.opened(left.sealed))["endpoint"].endswith("/elsewhere")


def test_whoever_takes_access_back_ends_them_all(person: User, service: PushService) -> None:
    subscribed(person, service)
    access_taken_back.send(sender=User, user=person)

    assert not PushSubscription.objects.exists()


def test_a_new_password_ends_the_messages_of_all_other_browsers(person: User, service: PushService) -> None:
    """Whoever was signed in elsewhere is signed out by it, and is told nothing there any more."""
    from tests.factories.accounts import PASSWORD

    subscribed(person, service, "elsewhere")
    here = Client()
    sign_in(here, person)
    given = json.dumps(browser_of(service, "here").subscription)
    assert here.put("/account/push", given, content_type="application/json").status_code == 200
    new = "another good password 7"

    answer = here.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})

    assert answer.status_code == 302
    tell(person)
    push.send_due_pushes()
    assert [path for path, _, _ in service.arrived] == ["/push/here"]


def test_a_changed_way_in_is_shown_without_an_address(person: User, service: PushService) -> None:
    browser = subscribed(person, service)
    SecurityChange.objects.create(
        user=person, kind=WayChange.EMAIL_CHANGED, address=person.email, detail="zoe@example.org"
    )
    SecurityChange.objects.update(at=database_now() - timedelta(minutes=5))

    assert (send_mails(), push.send_due_pushes()) == (1, 1)
    message = browser.opened(service.arrived[0][2])
    assert (message["title"], message["path"]) == ("Your account was changed", "/account/security/")
    assert "example.org" not in json.dumps(message)
    assert len(mail.outbox) == 1


def test_security_goes_by_mail_alone_where_somebody_wants_that(person: User, service: PushService) -> None:
    subscribed(person, service)
    AlertSettings.objects.update(security="mail")
    SecurityChange.objects.create(user=person, kind=WayChange.PASSWORD_CHANGED, address=person.email)
    SecurityChange.objects.update(at=database_now() - timedelta(minutes=5))

    assert (send_mails(), push.send_due_pushes()) == (1, 0)
