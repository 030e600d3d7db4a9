"""Whoever sends a body slowly acts with what they have when it ends, not with what let them in when it began."""

import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import PushSubscription, User
from common.admission import requests
from developers.models import DeveloperToken
from tests.addresses import BROWSER
from tests.callers import Developer, JsonClient


class _Meanwhile(io.BytesIO):
    """A body during which something happens."""

    def __init__(self, content: bytes, happens: Callable[[], object]) -> None:
        super().__init__(content)
        self._happens = happens

    def read(self, size: int | None = -1) -> bytes:
        self._happens()
        return super().read(size)


def send(client: Client, method: str, path: str, body: Any, happens: Callable[[], object], **headers: str) -> Any:
    content = json.dumps(body).encode()
    return client.generic(
        method, path, content, content_type="application/json", headers=headers,
        **{"wsgi.input": _Meanwhile(content, happens)},
    )  # fmt: skip


def code_of(answer: HttpResponse) -> tuple[int, str]:
    return answer.status_code, json.loads(answer.content).get("code", "")


@pytest.fixture
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "SOON", 0.0)


@pytest.mark.usefixtures("_slow")
def test_a_session_that_ends_while_the_body_comes_does_nothing(owner: JsonClient, person: User) -> None:
    answer = send(owner.client, "PUT", "/account/push", BROWSER, person.sessions.all().delete)

    assert code_of(answer) == (401, "authentication_required")
    assert not PushSubscription.objects.exists()


@pytest.mark.usefixtures("_slow")
def test_a_token_that_ends_while_the_body_comes_does_nothing(api: Developer) -> None:
    def revoke() -> None:
        DeveloperToken.objects.update(revoked_at=timezone.now() - timedelta(minutes=1))

    answer = send(api.client, "POST", "/api/v1/request-consent", {}, revoke, Authorization=f"Bearer {api.token}")

    assert code_of(answer) == (401, "invalid_token")


@pytest.mark.usefixtures("_slow")
def test_who_is_still_let_in_goes_on(owner: JsonClient) -> None:
    assert send(owner.client, "PUT", "/account/push", BROWSER, lambda: None).status_code == 200
