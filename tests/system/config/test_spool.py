"""The queue without Redis: messages appear whole, whoever looks whenever."""

import errno
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue

from config import celery, spool
from tests.patience import MOST_SECONDS

assert celery.app  # whose module teaches kombu the name of the transport
ROOT = Path(__file__).resolve().parents[3]
MESSAGES, SENDERS = 400, 3
QUEUE = Queue("work", Exchange("work", type="direct"), routing_key="work")
# another process, as the server is to the worker: within one, little happens at once
SENDER = """
import json, sys
from tests.system.config.test_spool import MESSAGES, QUEUE, connected
folders, sender = json.loads(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
with connected(folders) as connection, connection.Producer() as producer:
    for number in range(MESSAGES):
        producer.publish([sender, number, "x" * 20_000], exchange=QUEUE.exchange, routing_key="work", declare=[QUEUE])
"""


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """Transport options with folders of the test's own."""
    for name in ("queue", "control"):
        (tmp_path / name).mkdir()
    queue = str(tmp_path / "queue")
    return {"data_folder_in": queue, "data_folder_out": queue, "control_folder": str(tmp_path / "control")}


def connected(folders: dict[str, str]) -> Connection:
    return Connection("spool://", transport_options=folders)


@contextmanager
def senders(folders: dict[str, str]) -> Iterator[None]:
    """Processes that all begin to send at once."""
    command = [sys.executable, "-c", SENDER, json.dumps(folders)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    processes = [subprocess.Popen([*command, str(sender)], **pipes) for sender in range(SENDERS)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    yield
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * SENDERS


def test_every_message_arrives_once_and_whole_while_it_is_looked_for(folders: dict[str, str]) -> None:
    arrived: list[tuple[int, int]] = []

    def take(body: Any, message: Any) -> None:
        assert len(body[2]) == 20_000
        arrived.append((body[0], body[1]))
        message.ack()

    with senders(folders), connected(folders) as connection, connection.Consumer(QUEUE, callbacks=[take]):
        while len(arrived) < SENDERS * MESSAGES:
            connection.drain_events(timeout=30)

    assert sorted(arrived) == [(sender, number) for sender in range(SENDERS) for number in range(MESSAGES)]
    assert list(Path(folders["data_folder_in"]).iterdir()) == []


def test_the_table_of_an_exchange_is_never_seen_half_made(folders: dict[str, str]) -> None:
    table = Path(folders["control_folder"]) / "work.exchange"
    with senders(folders):
        until = time.monotonic() + MOST_SECONDS
        while not table.exists():  # without a pause, to meet it while it is made
            assert time.monotonic() < until
        first_sight = table.read_text()

    assert json.loads(first_sight) in ([], [["work", "", "work"]])
    assert json.loads(table.read_text()) == [["work", "", "work"]]
    assert [path.name for path in table.parent.iterdir()] == ["work.exchange"]


def test_of_a_message_that_the_disk_has_no_room_for_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(path: Path, text: str, **_ignored: Any) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", begin)
    with pytest.raises(OSError, match="No space"):
        spool._unfinished(tmp_path, "{}")

    assert list(tmp_path.iterdir()) == []
