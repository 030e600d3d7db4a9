"""What the server is handed: a list where the answer is whole, finished before it is sent."""

import io
from typing import Any

import pytest
from django.core.signals import request_finished
from django.http import FileResponse, HttpResponse, StreamingHttpResponse

from config import wsgi

pytestmark = pytest.mark.django_db  # a finished request looks after the connection


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Which requests were finished, in order."""
    heard: list[Any] = []

    def hear(sender: Any, **_: Any) -> None:
        heard.append(sender)

    request_finished.connect(hear)
    yield heard
    request_finished.disconnect(hear)


def answered(answer: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(wsgi, "_django", lambda environ, start_response: answer)
    return wsgi.application({}, lambda status, headers: None)


def test_a_whole_answer_is_a_list_and_finished(finished: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(HttpResponse([b"on", b"ce"]), monkeypatch) == [b"once"]
    assert len(finished) == 1


@pytest.mark.parametrize("kind", [StreamingHttpResponse, FileResponse])
def test_a_stream_stays_one_and_goes_on(kind: Any, finished: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = kind(io.BytesIO(b"piece"))

    assert answered(stream, monkeypatch) is stream
    assert not finished
    stream.close()
    assert len(finished) == 1
