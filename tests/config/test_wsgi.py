"""What the server is handed: a list where the answer is whole, finished before it is sent."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import RequestFactory

from config.wsgi import application
from tests.factories import TokenFactory

pytestmark = pytest.mark.django_db  # a finished request looks after the connection


@pytest.fixture
def finished() -> Iterator[list[Any]]:
    """Which requests were finished, in order."""
    heard: list[Any] = []

    def hear(sender: Any, **_: Any) -> None:
        heard.append(sender)

    request_finished.connect(hear)
    yield heard
    request_finished.disconnect(hear)


def answered(path: str, **headers: str) -> Any:
    environ = RequestFactory().get(path, headers=headers).environ
    return application(environ, lambda status, _: None)


def test_a_whole_answer_is_a_list_and_finished(finished: list[Any]) -> None:
    (body,) = answered("/livez")

    assert body
    assert len(finished) == 1


@pytest.mark.django_db(transaction=True)  # the connection is closed
def test_a_finished_request_leaves_no_connection_open() -> None:
    secret = TokenFactory().secret
    assert connection.connection is not None

    answered("/api/v1/consent-requests", Authorization=f"Bearer {secret}")

    assert connection.connection is None


@pytest.mark.django_db(transaction=True)  # whoever is held gives the connection back
def test_a_stream_stays_one_and_goes_on(finished: list[Any]) -> None:
    stream = answered("/api/v1/consent-events", Authorization=f"Bearer {TokenFactory().secret}")

    assert isinstance(stream, StreamingHttpResponse)
    assert not finished
    stream.close()
    assert len(finished) == 1
