"""A group of server processes that can be replaced without losing a request.

    python -m deploy.group SOCKET [--folder DIR] [--environment FILE] [--drain SECONDS] [--ends-within SECONDS]
        -- GRANIAN'S OPTIONS
    python -m deploy.group /run/consent/fast/socket -- --workers 2 --blocking-threads 16 --no-ws

The group listens on a socket file of its own, for its user and its user's group, and SOCKET is a link to it. SIGHUP
starts a second group beside the first, waits until its /readyz is 200, and turns the link: from that moment nobody
reaches the first any more, and what it has accepted it answers. So no request is lost, whichever moment it came in, and
a version that does not start or is not ready changes nothing. The first is asked to end `--drain` seconds later, longer
than any answer takes that is not held on purpose. granian's own SIGHUP ends the old processes after a fixed time, with
whatever is waiting at their sockets.

Each start resolves DIR anew, which may be a link to the newest release with a `.venv` of its own, and reads FILE anew
(lines of NAME=value, as systemd's EnvironmentFile). granian replaces a worker that died; a group that died whole is
started again, and reached as soon as it answers at all.

SIGTERM ends the group within ten seconds, or a second more than `--ends-within`: that is above SHUTDOWN_GRACE_SECONDS,
and below the unit's TimeoutStopSec.
"""

import argparse
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

UP_WITHIN = 90.0  # seconds until something answers
READY_WITHIN = 10.0  # seconds from then on
ENDS_WITHIN = 9.0  # seconds, after which it is killed: SHUTDOWN_GRACE_SECONDS and a moment
PAUSE = 1.0  # seconds before another try, where what served has died
DRAIN = 75.0  # seconds: above AGENT_<NAME>_TIMEOUT and everything else that a proxy waits for
TARGET = "config.wsgi:application"


@dataclass(frozen=True)
class Release:
    """What is started: its folder and its environment, each looked at anew for every generation."""

    folder: Path
    environment_file: Path | None

    def environment(self) -> dict[str, str]:
        """This process's own and over it what the file says. Raises OSError, ValueError."""
        if self.environment_file is None:
            return {**os.environ}
        return {**os.environ, **dict(_pairs(self.environment_file.read_text()))}

    def granian(self) -> Path:
        own = self.folder.resolve() / ".venv" / "bin" / "granian"
        return own if own.exists() else Path(sys.executable).with_name("granian")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """As systemd reads an `EnvironmentFile` for worker and timer; what it might read otherwise raises `ValueError`.

    A line each, and quotes around a whole value alone. The error names no text of the line, which may be a secret.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        name, equals, value = (part.strip(" \t") for part in line.partition("="))
        if equals and (quoted := re.fullmatch(r"'([^']*)'|\"([^\"\\]*)\"", value)):
            yield name, quoted[1] or quoted[2] or ""
        elif equals and re.fullmatch(r"(?!['\"])[^\\]*", value):
            yield name, value
        else:
            raise ValueError(f"line {number} is no NAME=value; quote a whole value with ' where it has a \\")


class Generation:
    """granian on a socket file of its own, with its workers."""

    def __init__(self, place: Path, release: Release, options: list[str], ends_within: float) -> None:
        self.place, self._ends_within = place, ends_within
        place.unlink(missing_ok=True)  # of a process that was killed
        kill = ["--workers-kill-timeout", str(max(int(ends_within) - 1, 1))]
        respawn = ["--respawn-failed-workers", "--respawn-interval", "0.5"]
        # without the 0 in front granian takes the mode for a decimal number
        command = [str(release.granian()), "--interface", "wsgi", "--uds", str(place), "--uds-permissions", "0660"]
        environment = release.environment()
        self._host = environment.get("ALLOWED_HOSTS", "").partition(",")[0] or (
            urlsplit(environment.get("BASE_URL", "")).hostname or "localhost"
        )
        # a session of its own: it is ended here, in order, and as a whole
        self.process = subprocess.Popen(  # noqa: S603  # our own unit's
            [*command, *kill, *respawn, *options, TARGET],
            cwd=release.folder.resolve(), env=environment, start_new_session=True,
        )  # fmt: skip

    def status(self) -> str:
        """What /readyz answers, `200`; empty where nothing is answered."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            probe.connect(str(self.place))
            probe.sendall(f"GET /readyz HTTP/1.1\r\nHost: {self._host}\r\nConnection: close\r\n\r\n".encode())
            version, _, rest = probe.makefile("rb").readline().decode("latin-1").partition(" ")
            return rest[:3] if version.startswith("HTTP/") else ""
        return ""

    def comes_up(self, *, ready: bool, given_up: Callable[[], bool]) -> bool:
        """Whether in time it answered at all or, with `ready`, that it is."""
        deadline, is_up = time.monotonic() + UP_WITHIN, False
        while time.monotonic() < deadline and self.process.poll() is None and not given_up():
            status = self.status()
            if status == "200" or (status and not ready):
                return True
            if status and not is_up:
                deadline, is_up = time.monotonic() + READY_WITHIN, True
            time.sleep(0.1)
        return False

    def end(self) -> None:
        """Ask it to end, then insist."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(self._ends_within)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.place.unlink(missing_ok=True)


class Group:
    """The generation that is reached, and the ones before it that still answer what they accepted."""

    def __init__(self, link: Path, release: Release, options: list[str], *, drain: float, ends_within: float) -> None:
        self._link, self._release, self._options = link, release, options
        self._drain, self._ends_within = drain, ends_within
        self._numbers = itertools.count(1)
        self._stopping: list[threading.Thread] = []
        self._over, self._reload, self._woken = threading.Event(), threading.Event(), threading.Event()
        self._current: Generation | None = None

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._hear)
        self._replace()
        while self._current is not None and not self._over.is_set():
            if self._woken.wait(0.5):
                self._woken.clear()
            if not self._over.is_set() and (self._reload.is_set() or self._has_died()):
                self._reload.clear()
                self._replace()
        return self._end()

    def _has_died(self) -> bool:
        if self._current is None or self._current.process.poll() is None:
            return False
        _log_line(f"process {self._current.process.pid} ended by itself")
        return not self._over.wait(PAUSE)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        (self._reload if number == signal.SIGHUP else self._over).set()
        self._woken.set()

    def _replace(self) -> None:
        place = self._link.with_name(f"{self._link.name}.{os.getpid()}.{next(self._numbers)}")
        try:
            made = Generation(place, self._release, self._options, self._ends_within)
        except (OSError, ValueError) as error:
            _log_line(f"nothing can be started: {error}; what was there goes on")
            return
        serving = self._current is not None and self._current.process.poll() is None
        if not made.comes_up(ready=serving, given_up=self._over.is_set):
            _log_line("the new processes are not ready; what was there goes on")
            made.end()
            return
        turned = self._link.with_name(f"{self._link.name}.new")
        turned.unlink(missing_ok=True)
        turned.symlink_to(made.place.name)
        turned.replace(self._link)
        before, self._current = self._current, made
        _log_line(f"process {made.process.pid} serves {self._link}")
        if before is not None:
            stopping = threading.Thread(target=self._stop_after_drain, args=(before,))
            stopping.start()
            self._stopping.append(stopping)

    def _stop_after_drain(self, before: Generation) -> None:
        self._over.wait(self._drain)
        before.end()
        _log_line(f"process {before.process.pid} has ended")

    def _end(self) -> int:
        stop_requested = self._over.is_set()
        self._over.set()  # whoever is still leaving leaves now
        if self._current is not None:
            self._current.end()
            self._link.unlink(missing_ok=True)
        for stopping in self._stopping:
            stopping.join()
        return 0 if stop_requested else 1


def _log_line(text: str) -> None:
    sys.stderr.write(f"group: {text}\n")
    sys.stderr.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.group", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("socket", type=Path)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--drain", type=float, default=DRAIN)
    parser.add_argument("--ends-within", type=float, default=ENDS_WITHIN)
    parser.add_argument("options", nargs="+", help="granian's, after --")
    given = parser.parse_args()
    release = Release(given.folder, given.environment)
    return Group(
        given.socket.absolute(), release, given.options, drain=given.drain, ends_within=given.ends_within
    ).run()


if __name__ == "__main__":
    sys.exit(main())
