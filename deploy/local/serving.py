"""Starts the server and the worker, watches them, and ends them together."""

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

from deploy.local import neighbours
from deploy.local.neighbours import Neighbours
from deploy.local.place import ROOT, VAR, VENV, echo, fail

THREADS = 1600  # of the server, made as they are needed; most of them only ever hold a slow answer
READY_WITHIN = 60  # seconds
ENDS_WITHIN = 9.5  # seconds; the server's streams and long polls end at once, what an agent was asked within six
MOST_ENDS_A_MINUTE = 3  # of one process, by itself, before it is given up
_SET_PARENT_DEATH_SIGNAL = 1  # Linux, prctl(2)
_offered = itertools.cycle(random.sample(range(20_000, 32_768), 1_000))


@dataclass(frozen=True)
class Child:
    """A process of ours with a session of its own and a log file; when it ended by itself, by the monotonic clock."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    process: subprocess.Popen[bytes]
    log: Path
    ended: tuple[float, ...] = ()

    def tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Interrupted(Exception):
    """Ctrl-C or SIGTERM: the children end, then `./run` does."""


def is_free(port: int) -> bool:
    """Whether nobody listens on this port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_host(), port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that nobody listens at, another at each call.

    It lies below those that Linux gives to whoever binds any port (from 32768), so that no program which starts
    meanwhile is given it.
    """
    return next(port for port in _offered if is_free(port))


@contextlib.contextmanager
def service(port: int, env: Mapping[str, str], beside: Neighbours | None = None) -> Iterator[list[Child]]:
    """The server on `port` and the worker, ready, with what is `beside` them; all gone when this ends, however it ends.

    Without `beside` it is the reference agents alone, on any port.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    logs = VAR / "logs" / str(port)
    logs.mkdir(parents=True, exist_ok=True)
    children: list[Child] = []
    try:
        beside = neighbours.agents_alone(env["BASE_URL"]) if beside is None else beside
        # the settings were checked before; the worker's own look would load all addresses, which it does not need
        env = {**env, **beside.env, "CELERY_SKIP_CHECKS": "1"}
        for name, command in {"server": _server(port), "worker": _worker(logs), **beside.commands}.items():
            log = logs / f"{name}.log"
            log.unlink(missing_ok=True)
            children.append(_start(name, command, log, env))
        _wait_until_ready(port, children)
        _wait_until_open(beside.ports, children)
        yield children
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _end(children)


@contextlib.contextmanager
def alone() -> Iterator[bool]:
    """Whether no other server of `./run` works on this folder, with its queue and its data, when this begins."""
    with (VAR / ".serving").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except OSError:
            is_alone = False
        fcntl.flock(lock, fcntl.LOCK_SH)  # so that who comes later knows of this one
        yield is_alone


def watch(children: list[Child]) -> NoReturn:
    """Return never; start anew what ends by itself, and `Stop` where it does so again and again."""
    while True:
        for place, child in enumerate(children):
            if child.process.poll() is not None:
                children[place] = _again(child)
        time.sleep(0.5)


def _again(child: Child) -> Child:
    now = time.monotonic()
    ended = (*(at for at in child.ended if at > now - 60), now)
    if len(ended) > MOST_ENDS_A_MINUTE:
        _fail_of(child)
    echo(f"The {child.name} ended by itself (exit code {child.process.returncode}); starting it again. See {child.log}")
    with contextlib.suppress(ProcessLookupError):  # what it started itself
        os.killpg(child.process.pid, signal.SIGKILL)
    return replace(_start(child.name, child.command, child.log, child.env), ended=ended)


def _host() -> str:
    return os.environ.get("HOST") or "127.0.0.1"


def _server(port: int) -> list[str]:
    return [
        str(VENV / "bin/granian"), "--interface", "wsgi", "--host", _host(), "--port", str(port), "--workers", "1",
        "--blocking-threads", str(THREADS), "--backlog", "2048", "--no-ws", "--log-level", "warning",
        "--workers-kill-timeout", "8", "config.wsgi:application",
    ]  # fmt: skip


def _worker(logs: Path) -> list[str]:
    return [
        str(VENV / "bin/celery"), "--app", "config", "worker", "--beat", "--schedule", str(logs / "beat"),
        "--pool", "threads", "--concurrency", "16", "--loglevel", "warning",
        "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip


def _start(name: str, command: Sequence[str], log: Path, env: Mapping[str, str], source: Path = ROOT) -> Child:
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=source,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches us alone; we end them in order
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
    log.with_suffix(".pid").write_text(str(process.pid))
    return Child(name, command, env, process, log)


def _end_with_parent() -> None:
    """Even where `./run` is killed outright, its children get a SIGTERM."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _wait_until_ready(port: int, children: list[Child]) -> None:
    deadline, heard = time.monotonic() + READY_WITHIN, "nothing"
    while time.monotonic() < deadline:
        _complain_about_ended(children)
        try:
            with urllib.request.urlopen(f"http://{_host()}:{port}/readyz", timeout=5) as answer:
                if json.load(answer)["status"] == "ok":
                    return
        except urllib.error.HTTPError as error:
            heard = error.read(2000).decode(errors="replace")
        except OSError:
            pass
        time.sleep(0.1)
    fail(f"The service was not ready within {READY_WITHIN} seconds; /readyz said {heard}.\n{children[0].tail()}")


def _wait_until_open(ports: Collection[int], children: list[Child]) -> None:
    """Until something takes calls on each of these ports of this machine."""
    deadline = time.monotonic() + READY_WITHIN
    while closed := [port for port in ports if not _is_open(port)]:
        _complain_about_ended(children)
        if time.monotonic() > deadline:
            fail(f"What runs beside the service took no calls on port {closed[0]} within {READY_WITHIN} seconds.")
        time.sleep(0.1)


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _complain_about_ended(children: list[Child]) -> None:
    for child in children:
        if child.process.poll() is not None:
            _fail_of(child)


def _fail_of(child: Child) -> NoReturn:
    fail(f"The {child.name} ended by itself (exit code {child.process.returncode}). Its log:\n{child.tail()}")


def _end(children: list[Child]) -> None:
    """Ask every child to end, then insist; its own children go with it."""
    for child in children:
        if child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + ENDS_WITHIN
    for child in children:
        try:
            child.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            echo(f"The {child.name} does not end; ending it the hard way.")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted
