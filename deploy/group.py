"""A group of server processes that can be replaced without losing a request.

    python -m deploy.group SOCKET [--drain SECONDS] -- GRANIAN'S OPTIONS
    python -m deploy.group /run/consent/fast/socket -- --workers 2 --blocking-threads 16 --no-ws

The group listens on a socket file of its own, and SOCKET is a link to it. SIGHUP starts a second group beside the
first, waits until it answers, and turns the link: from that moment nobody reaches the first any more, and what it has
accepted it answers. So no request is lost, whichever moment it came in, and a version that does not start changes
nothing. The first is asked to end `--drain` seconds later, longer than any answer takes that is not held on purpose.
granian's own SIGHUP ends the old processes after a fixed time, with whatever is waiting at their sockets.

SIGTERM ends the group within ten seconds.
"""

import argparse
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

READY_WITHIN = 90.0  # seconds
ENDS_WITHIN = 9.0  # seconds, after which it is killed: SHUTDOWN_GRACE_SECONDS and a moment
DRAIN = 75.0  # seconds: above AGENT_<NAME>_TIMEOUT and everything else that a proxy waits for
TARGET = "config.wsgi:application"


class Generation:
    """granian on a socket file of its own, with its workers."""

    def __init__(self, place: Path, options: list[str]) -> None:
        self.place = place
        place.unlink(missing_ok=True)  # of a process that was killed
        granian = Path(sys.executable).with_name("granian")
        kill = ["--workers-kill-timeout", str(int(ENDS_WITHIN) - 1)]
        command = [str(granian), "--interface", "wsgi", "--uds", str(place), "--uds-permissions", "666", *kill]
        # a session of its own: it is ended here, in order, and as a whole
        self.process = subprocess.Popen([*command, *options, TARGET], start_new_session=True)  # noqa: S603  # our own unit's

    def answers(self) -> bool:
        """Whether it answers anything at all over HTTP."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            probe.connect(str(self.place))
            probe.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return probe.recv(5) == b"HTTP/"
        return False

    def is_ready(self, *, given_up: Callable[[], bool]) -> bool:
        """Whether it came to answer in time."""
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and self.process.poll() is None and not given_up():
            if self.answers():
                return True
            time.sleep(0.1)
        return False

    def end(self) -> None:
        """Ask it to end, then insist."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDS_WITHIN)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.place.unlink(missing_ok=True)


class Group:
    """The generation that is reached, and the ones before it that still answer what they accepted."""

    def __init__(self, link: Path, options: list[str], drain: float) -> None:
        self._link, self._options, self._drain = link, options, drain
        self._numbers = itertools.count(1)
        self._leaving: list[threading.Thread] = []
        self._over, self._reload, self._woken = threading.Event(), threading.Event(), threading.Event()
        self._current: Generation | None = None

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._hear)
        self._replace()
        while self._current is not None and not self._over.is_set() and self._current.process.poll() is None:
            if self._woken.wait(0.5):
                self._woken.clear()
            if self._reload.is_set() and not self._over.is_set():
                self._reload.clear()
                self._replace()
        return self._end()

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        (self._reload if number == signal.SIGHUP else self._over).set()
        self._woken.set()

    def _replace(self) -> None:
        made = Generation(self._link.with_name(f"{self._link.name}.{os.getpid()}.{next(self._numbers)}"), self._options)
        if not made.is_ready(given_up=self._over.is_set):
            _say("the new processes do not answer; what was there goes on")
            made.end()
            return
        turned = self._link.with_name(f"{self._link.name}.new")
        turned.unlink(missing_ok=True)
        turned.symlink_to(made.place.name)
        turned.replace(self._link)
        before, self._current = self._current, made
        _say(f"process {made.process.pid} serves {self._link}")
        if before is not None:
            leaving = threading.Thread(target=self._leave, args=(before,))
            leaving.start()
            self._leaving.append(leaving)

    def _leave(self, before: Generation) -> None:
        self._over.wait(self._drain)
        before.end()
        _say(f"process {before.process.pid} has ended")

    def _end(self) -> int:
        asked = self._over.is_set()
        self._over.set()  # whoever is still leaving leaves now
        if self._current is not None:
            self._current.end()
            self._link.unlink(missing_ok=True)
        for leaving in self._leaving:
            leaving.join()
        return 0 if asked else 1


def _say(text: str) -> None:
    sys.stderr.write(f"group: {text}\n")
    sys.stderr.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.group", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("socket", type=Path)
    parser.add_argument("--drain", type=float, default=DRAIN)
    parser.add_argument("options", nargs="+", help="granian's, after --")
    given = parser.parse_args()
    return Group(given.socket.absolute(), given.options, given.drain).run()


if __name__ == "__main__":
    sys.exit(main())
