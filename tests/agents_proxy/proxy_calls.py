"""Calling the proxy, and telling it where its agents are."""

from typing import Any

from allauth.account.models import EmailAddress
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from agents_proxy.digests import digest
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.origins import app_of_origin
from agents_proxy.states import Purpose
from common import encryption
from common.clock import database_now
from tests.callers import JsonClient
from tests.factories import AppFactory, PersonFactory

SITE = "https://shop.example"
# but for sending, which names where to
EVERY_PURPOSE = tuple(purpose for purpose in Purpose if purpose is not Purpose.ACTIVATION)
# what the page of consent is sent where somebody agrees to all that it asks
AGREED = {"decision": "agree", "duration": "day", **dict.fromkeys((f"purpose-{name}" for name in Purpose), "on")}
CALL = {"text": "Who is Zoe?", "sessionId": "session-42", "id": "task-one"}


def configure(settings: Any, agent: str = "brand", **upstream: Any) -> None:
    """Put `agent` at an upstream; every other one is not configured."""
    nowhere = {"url": "", "token": "", "timeout": 30.0, "protocol": "tasks-send"}
    settings.AGENTS = {**dict.fromkeys(settings.AGENTS, nowhere), agent: {**nowhere, **upstream}}


def refusal(answer: HttpResponse) -> tuple[int, int, str]:
    """The three that name a refusal: the status, `error.code` and `error.data.code`."""
    body = answer.json()
    assert body.keys() == {"jsonrpc", "id", "error"}
    assert body["jsonrpc"] == "2.0"
    assert answer["Content-Type"] == "application/json"
    return answer.status_code, body["error"]["code"], body["error"]["data"]["code"]


def owning(user: User, number: str = "") -> User:
    """`user`, having verified their address, and this number."""
    EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    if number:
        sealed = encryption.sealed(number)
        verified = {"number": sealed, "verified_at": database_now()}
        PhoneNumber.objects.update_or_create(user=user, digest=digest("number", number), defaults=verified)
    return user


def consenting(user: User) -> User:
    """`user`, having verified their address and agreed to everything for their own calls."""
    owning(user)
    consents.give(by=user, purposes=EVERY_PURPOSE)
    return user


def site_client(origin: str | None = SITE, purposes: Any = EVERY_PURPOSE, **app: Any) -> JsonClient:
    """A page of another site (or, with `origin` None, its backend) that holds somebody's token."""
    AppFactory(origins=[SITE], **app)
    registered = app_of_origin(SITE)
    assert registered is not None
    token = consents.give_to_site(by=owning(PersonFactory()), purposes=purposes, app=registered, origin=SITE)
    headers = {"A2A-Consent": token.secret, **({"Origin": origin} if origin else {})}
    return JsonClient(Client(), headers=headers)
