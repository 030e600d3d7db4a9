"""A group of server processes behind a socket file: SIGHUP replaces it, and no request is lost."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from deploy import group as group_module
from developers.models import App
from tests.callers import Developer
from tests.factories import ConsentRequestFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)
DRAIN = 2.0  # seconds
EVENTS = "/api/v1/consent-events"


class Group:
    """A group as its unit starts it, and its log."""

    def __init__(self, place: Path, *options: str, ends_within: float | None = None) -> None:
        self.socket, self.log = place / "socket", place / "group.log"
        self.folder, self.own = place / "release", place / "environment"
        self.folder.symlink_to(ROOT)
        self.own.write_text("")
        options_of_group = ["--folder", str(self.folder), "--environment", str(self.own), "--drain", str(DRAIN)]
        options_of_group += [] if ends_within is None else ["--ends-within", str(ends_within)]
        command = [sys.executable, "-m", "deploy.group", str(self.socket), *options_of_group, "--"]
        options = ("--workers", "1", "--blocking-threads", "20", "--no-ws", "--log-level", "warning", *options)
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "CONSENT_VAR": str(settings.VAR),
            "STATUS_POLL_BURST": "0",
            "STATUS_WAITERS_PER_APP": "2",
            "DATABASE_URL": database_url(),
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *options],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=0o077,
            )

    def wait_for_log(self, text: str, times: int = 1) -> None:
        """Wait for a line of its log."""
        eventually(lambda: self.log.read_text(errors="replace").count(text) >= times, f"the line {text!r}")

    def holds_two(self, api: Developer) -> bool:
        """Whether two of the app's calls are held: one more is refused before its header is looked at."""
        return b" 429 " in self.ask("GET", EVENTS, api, last="none")[:16]

    def ask(self, method: str, path: str, api: Developer, body: str = "", last: str = "0") -> bytes:
        """The whole answer over a connection of its own, or nothing where it broke."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(60)
            line.connect(str(self.socket))
            head = [
                f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {api.token}",
                "Content-Type: application/json", f"Content-Length: {len(body)}", f"Last-Event-ID: {last}",
                "Connection: close",
            ]  # fmt: skip
            line.sendall("\r\n".join([*head, "", body]).encode())
            return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.fixture
def group() -> Iterator[Group]:
    with tempfile.TemporaryDirectory(prefix="group-") as place:  # the path of a socket is short
        made = Group(Path(place))
        made.wait_for_log(" serves ")
        yield made
        made.process.terminate()
        made.process.wait(MOST_SECONDS)


def test_no_request_is_lost_while_a_group_is_replaced(group: Group, app: App, api: Developer) -> None:
    request = ConsentRequestFactory(app=app)
    status = f"/api/v1/consent-status?request_id={request.request_id}"
    statuses: Counter[bytes] = Counter()
    over = threading.Event()

    def keep_asking() -> None:
        while not over.is_set():
            statuses[group.ask("GET", status, api)[:12]] += 1
            statuses[group.ask("POST", "/api/v1/end-consent", api, '{"request_id": "req_unknown"}')[:12]] += 1

    answers, stream = [], []
    threads = [
        *(threading.Thread(target=keep_asking) for _ in range(2)),
        threading.Thread(target=lambda: answers.append(group.ask("GET", f"{status}&wait=30", api))),
        threading.Thread(target=lambda: stream.append(group.ask("GET", EVENTS, api))),
    ]
    for thread in threads:
        thread.start()
    eventually(lambda: group.holds_two(api), "the held call and the stream")
    first = os.readlink(group.socket)
    group.process.send_signal(signal.SIGHUP)
    group.wait_for_log(" serves ", 2)
    group.wait_for_log(" has ended")
    second = os.readlink(group.socket)
    over.set()
    for thread in threads:
        thread.join(MOST_SECONDS)

    assert first != second
    assert [path.name for path in sorted(group.socket.parent.glob("socket*"))] == ["socket", second]
    assert set(statuses) == {b"HTTP/1.1 200", b"HTTP/1.1 404"}
    assert b'"status":"pending"' in answers[0]
    assert stream[0].startswith(b"HTTP/1.1 200")
    assert b"retry: " in stream[0].rpartition(b"id: ")[2].partition(b"\n\n")[2]


def test_a_version_that_does_not_start_changes_nothing(group: Group, api: Developer) -> None:
    served_by = os.readlink(group.socket)
    (settings.VAR / "env").write_text("STATUS_WAITERS=none\n")  # what only processes read that start from now on

    group.process.send_signal(signal.SIGHUP)
    group.wait_for_log("what was there goes on")

    (settings.VAR / "env").unlink()
    assert os.readlink(group.socket) == served_by
    assert group.ask("GET", "/api/v1/scope-catalog", api).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_group_ends_with_streams_open(group: Group, api: Developer, number: signal.Signals) -> None:
    streams: list[bytes] = []
    reading = [threading.Thread(target=lambda: streams.append(group.ask("GET", EVENTS, api))) for _ in range(2)]
    for thread in reading:
        thread.start()
    eventually(lambda: group.holds_two(api), "both streams")

    group.process.send_signal(number)
    code = group.process.wait(MOST_SECONDS)
    for thread in reading:
        thread.join(MOST_SECONDS)

    assert code == 0
    for stream in streams:
        assert b"retry: " in stream.partition(b"\r\n\r\n")[2].partition(b"\n\n")[2]
    assert len(streams) == 2
    assert list(group.socket.parent.glob("socket*")) == []


def test_a_group_is_reached_by_its_user_and_its_group_alone(group: Group) -> None:
    assert stat.S_IMODE(group.socket.stat().st_mode) == 0o660


def test_how_long_a_group_may_take_to_end_is_the_operators_choice() -> None:
    with tempfile.TemporaryDirectory(prefix="group-") as place:
        made = Group(Path(place), ends_within=3)
        made.wait_for_log(" serves ")
        pid = int(made.log.read_text().partition("group: process ")[2].split()[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        os.kill(pid, signal.SIGSTOP)  # which ends it in no order
        begun = time.monotonic()
        made.process.send_signal(signal.SIGTERM)
        made.process.wait(MOST_SECONDS)
        seconds = time.monotonic() - begun

    assert b"\0--workers-kill-timeout\x002\0" in command
    assert 3 <= seconds < 8  # without the option it would be nine


def test_a_group_whose_processes_were_killed_is_started_anew(group: Group, api: Developer) -> None:
    pid = int(group.log.read_text().partition("group: process ")[2].split()[0])
    os.killpg(pid, signal.SIGKILL)
    group.wait_for_log(" serves ", 2)

    assert group.ask("GET", "/api/v1/scope-catalog", api).startswith(b"HTTP/1.1 200")
    assert f"process {pid} ended by itself" in group.log.read_text()


def test_a_worker_that_was_killed_is_replaced(group: Group, api: Developer) -> None:
    pid = int(group.log.read_text().partition("group: process ")[2].split()[0])
    first = workers_of(pid)
    for worker in first:
        os.kill(worker, signal.SIGKILL)
    eventually(lambda: workers_of(pid) - first, "another worker")

    assert group.ask("GET", "/api/v1/scope-catalog", api).startswith(b"HTTP/1.1 200")
    assert group.log.read_text().count(" serves ") == 1


def workers_of(pid: int) -> set[int]:
    """The processes below granian that are granian's own again, without what Python watches shared memory by."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child) for child in children if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()}


def test_a_version_that_is_not_ready_changes_nothing(group: Group, api: Developer) -> None:
    """It answers, and 503: here since it wants a database that is not there."""
    served_by = os.readlink(group.socket)
    group.own.write_text(f"DATABASE_URL=sqlite:///{group.socket.parent}/none.sqlite3\n")

    group.process.send_signal(signal.SIGHUP)
    group.wait_for_log("not ready; what was there goes on")

    assert os.readlink(group.socket) == served_by
    assert group.ask("GET", "/api/v1/scope-catalog", api).startswith(b"HTTP/1.1 200")


def test_a_new_version_has_a_folder_and_an_environment_of_its_own(group: Group, api: Developer) -> None:
    following = group.socket.parent / "following"
    following.mkdir()
    for each in ROOT.iterdir():
        (following / each.name).symlink_to(each)
    group.folder.unlink()
    group.folder.symlink_to(following)
    group.own.write_text("# of the next release\nSITE_NAME='Another name'\n")

    group.process.send_signal(signal.SIGHUP)
    group.wait_for_log(" serves ", 2)

    pid = int(group.log.read_text().rpartition("group: process ")[2].split()[0])
    assert Path(f"/proc/{pid}/cwd").readlink() == following
    assert b"\0SITE_NAME=Another name\0" in Path(f"/proc/{pid}/environ").read_bytes()
    assert group.ask("GET", "/api/v1/scope-catalog", api).startswith(b"HTTP/1.1 200")


def test_an_environment_is_read_as_systemd_reads_it() -> None:
    text = """
    # a comment
    ; another
    SITE_NAME=Consent Runtime
    SITE_ACCENT=#0b5c49
    DATABASE_URL='postgres://consent:a&b$c#d@db/consent?sslmode=verify-full&sslrootcert=/ca.crt'
    RECEIPT_KEYS="[]"
    LOG_KEYS=[{"kty": "OKP"}]
    EMPTY=
    """
    assert dict(group_module._pairs(text)) == {
        "SITE_NAME": "Consent Runtime",
        "SITE_ACCENT": "#0b5c49",
        "DATABASE_URL": "postgres://consent:a&b$c#d@db/consent?sslmode=verify-full&sslrootcert=/ca.crt",
        "RECEIPT_KEYS": "[]",
        "LOG_KEYS": '[{"kty": "OKP"}]',
        "EMPTY": "",
    }
    for line in ("Runtime", "A='b", "A='b'c'", 'A="b"c"', "A=b\\n", 'A="b\\"', "A='[{\n", "A='"):
        with pytest.raises(ValueError, match="line 2 is no NAME=value; ") as refused:
            dict(group_module._pairs(f"# secrets\n{line}"))
        assert line not in str(refused.value)
    assert dict(group_module._pairs("A='b\\n'")) == {"A": "b\\n"}
