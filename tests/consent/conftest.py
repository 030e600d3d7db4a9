"""A grant as people come to one, callers that wait for what becomes of it, and a member of an app."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from accounts.models import User
from consent.decisions import actions
from consent.grants.models import Grant
from consent.notices import long_polling
from consent.requests.models import ConsentRequest
from developers.models import AppMember
from tests.callers import Developer
from tests.consent.decisions import approval
from tests.factories import ConsentRequestFactory, MemberFactory, Vault, give_vault
from tests.fakes.receiver import Receiver, receiving
from tests.patience import MOST_SECONDS, eventually


@pytest.fixture
def vault(person: User) -> Vault:
    return give_vault(person)


@pytest.fixture
def consent_request(person: User) -> ConsentRequest:
    """What waits for the person's decision."""
    made: ConsentRequest = ConsentRequestFactory(user=person)
    return made


@pytest.fixture
def grant(api: Developer, person: User, vault: Vault) -> Grant:
    """Approved as people approve, so that its entries and its receipt are there."""
    request = ConsentRequestFactory(app=api.app, user=person)
    actions.approve(request_id=request.request_id, by=person, body=approval(request, vault))
    return Grant.objects.select_related("request").get(request=request)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving(settings) as server:
        yield server


@pytest.fixture
def member(db: None) -> AppMember:
    return MemberFactory(role="member")


class WokenAlone(threading.Event):
    """An event whose wait ends as it is set, never with its time: whoever is not woken fails."""

    def wait(self, timeout: float | None = None) -> bool:
        assert super().wait(MOST_SECONDS), "nobody woke who waits"
        return True


class _Hub(long_polling._Hub):
    @contextmanager
    def subscribed_to(self, topic: str, *, app_pk: int, is_live: bool = True) -> Iterator[threading.Event]:
        with super().subscribed_to(topic, app_pk=app_pk, is_live=is_live) as event:
            event.__class__ = WokenAlone
            yield event


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[long_polling._Hub]:
    """Whose long polls look again when something happened, and at no other time."""
    made = _Hub()
    monkeypatch.setattr(long_polling, "hub", made)
    yield made
    eventually(made.is_silent, "the end of the listener")
