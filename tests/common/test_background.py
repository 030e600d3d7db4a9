"""The two threads of a process: what is done there, in which order, and what is left at the end."""

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings

from common import background as module
from common import broker
from common.background import JobThread, LoopThread
from tests.patience import MOST_SECONDS, eventually


def blocked(background: JobThread) -> threading.Event:
    """Keep its thread busy until the answer is set."""
    begun, goes_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        goes_on.wait(MOST_SECONDS)

    background.soon(wait)
    assert begun.wait(MOST_SECONDS)
    return goes_on


def test_jobs_are_done_one_after_the_other_as_they_are_due() -> None:
    background, done, over = JobThread(), [], threading.Event()
    goes_on = blocked(background)
    background.later(0.8, over.set)
    background.later(0.6, lambda: done.append("later"))
    for number in range(3):
        background.soon(lambda number=number: done.append(number))

    goes_on.set()

    assert over.wait(MOST_SECONDS)
    assert done == [0, 1, 2, "later"]


def test_a_job_that_fails_ends_no_other(caplog: pytest.LogCaptureFixture) -> None:
    background, done = JobThread(), threading.Event()

    with caplog.at_level(logging.ERROR):
        background.soon(lambda: 1 / 0)
        background.soon(done.set)
        assert done.wait(MOST_SECONDS)

    assert "what was to be done in the background failed" in caplog.text


def test_what_nobody_misses_is_taken_up_to_a_bound_and_the_rest_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 3)
    background, done = JobThread(), threading.Event()
    goes_on = blocked(background)

    taken = [background.soon(lambda: None) for _ in range(5)]
    background.later(0.0, done.set)
    goes_on.set()

    assert taken == [True, True, True, False, False]
    assert done.wait(MOST_SECONDS)
    assert background.soon(lambda: None)


def test_a_connection_goes_back_before_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    background = JobThread()

    def close() -> None:
        if threading.current_thread() is background._thread:  # others have a connection of their own
            events.append("closed")

    monkeypatch.setattr(module, "connection", SimpleNamespace(close=close))
    goes_on = blocked(background)
    for number in range(3):
        background.later(0.01 * number, lambda number=number: events.append(f"job {number}"))
    del events[:]

    goes_on.set()

    eventually(lambda: "closed" in events, "the end of the connection")
    assert events[:4] == ["job 0", "job 1", "job 2", "closed"]


_ENDING = """
import os, django
django.setup()
from common.background import background
say = lambda word: os.write(1, word.encode() + b"\\n")
background.later(3600, lambda: (say("written"), background.later(0, lambda: say("again"), at_end=True)), at_end=True)
background.later(3600, lambda: 1 / 0, at_end=True)
background.later(3600, lambda: say("dropped"))
background.later(3601, lambda: say("written as well"), at_end=True)
say("the main thread ends")
"""


@pytest.mark.own_process("how a process ends is what it is about")
def test_a_process_ends_once_it_has_written_what_must_not_be_lost(tmp_path: Path) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "CONSENT_VAR": str(tmp_path)}
    command = [sys.executable, "-c", _ENDING]

    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=True)

    assert done.stdout.splitlines() == ["the main thread ends", "written", "written as well"]


def test_a_clock_can_be_stopped_and_acts_on_its_own_thread() -> None:
    loop_thread, named, over = LoopThread(), [], threading.Event()

    loop_thread.later(0.05, lambda: named.append(threading.current_thread().name))
    loop_thread.later(0.3, lambda: named.append("cancelled")).cancel()
    loop_thread.later(0.4, over.set)

    assert over.wait(MOST_SECONDS)
    assert named == ["events"]


def test_what_is_read_is_heard_until_it_is_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    loop_thread, heard = LoopThread(), threading.Semaphore(0)
    reader, writer = os.pipe()

    def hear() -> None:
        if os.read(reader, 1) == b"!":
            loop_thread.forget(reader)
        heard.release()
        raise ValueError("an act that fails ends nothing")

    loop_thread.when_readable(reader, hear)
    for letter in b"ab!":
        os.write(writer, bytes([letter]))
        assert heard.acquire(timeout=MOST_SECONDS)
    os.write(writer, b"c")
    looked = threading.Event()
    loop_thread.call(looked.set)

    assert looked.wait(MOST_SECONDS)
    assert not heard.acquire(blocking=False)
    os.close(reader)
    os.close(writer)


# --- Messages to the worker -------------------------------------------------------------------------------------------
@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was handed to the broker, which fails from the second message on."""
    names: list[str] = []

    class Task:
        def apply_async(self, arguments: tuple[Any, ...], *, retry: bool) -> None:
            names.append(str(*arguments))
            if len(names) > 1:
                raise ConnectionError("no broker")

    monkeypatch.setattr(settings, "CELERY_TASK_ALWAYS_EAGER", False)
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", "redis://broker/0")
    monkeypatch.setattr(broker, "current_app", SimpleNamespace(tasks={"task": Task()}))
    monkeypatch.setattr(broker, "_retry_at", 0.0)
    monkeypatch.setattr(broker, "background", JobThread())
    return names


def test_a_broker_that_fails_holds_up_one_message_and_no_more(
    sent: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()
    for number in range(50):
        broker.enqueue("task", number)
    broker.background.soon(done.set)

    assert done.wait(MOST_SECONDS)
    assert sent == ["0", "1"]
    assert caplog.text.count("is left to the sweep: ConnectionError") == 1


def test_messages_beyond_what_may_wait_are_left_to_the_sweep(
    sent: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 2)
    goes_on = blocked(broker.background)
    for number in range(4):
        broker.enqueue("task", number)
    goes_on.set()

    eventually(lambda: len(sent) == 2, "two messages")
    assert caplog.text.count("too much waits in the background") == 2
