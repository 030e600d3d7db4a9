"""Requests per second of addresses that take turns, and the processor time that a call of each costs."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.staging import parse_options
from deploy.local.place import ROOT, VAR, VENV
from deploy.local.serving import free_port, is_free

THREADS = 16  # of one worker, as in deploy/ for the fast addresses
_TICKS = os.sysconf("SC_CLK_TCK")  # a second


@dataclass(frozen=True)
class Server:
    """A process that serves a port of this machine."""

    port: int
    pid: int


@dataclass(frozen=True)
class Target:
    """Ready-made requests for one address of a server, and the status that answers them."""

    server: Server
    requests: list[str]
    status: int = 200


class Figures(dict[str, list[dict[str, Any]]]):
    """What each target did in each round."""

    def middle(self, name: str, what: str) -> float:
        return median(found[what] for found in self[name])

    def ratio(self, name: str, other: str) -> float:
        """The median of the ratios within each round: what slows the machine slows both."""
        return median(one["rate"] / two["rate"] for one, two in zip(self[name], self[other], strict=True))


def options_of(name: str, *, seconds: float = 2.0, **switches: Any) -> argparse.Namespace:
    """The arguments of a bench that measures in rounds; `switches` are further ones, as argparse takes them."""
    return parse_options(name, rounds=5, seconds=seconds, clients=16, **switches)


def setting_of(options: argparse.Namespace) -> str:
    """What is said above a table."""
    return (
        f"\n{options.clients} clients, PostgreSQL, {os.cpu_count()} processors; medians of {options.rounds} "
        f"interleaved rounds of {options.seconds:g} s; one worker has {THREADS} threads."
    )


@contextmanager
def granian(
    application: str, *, workers: int = 1, threads: int = THREADS, factory: bool = False,
    command: Path = VENV / "bin" / "granian", folder: Path = ROOT, env: dict[str, str] | None = None,
) -> Iterator[Server]:  # fmt: skip
    """Workers with so many threads each. `env` is another environment than this process's."""
    port, log = free_port(), VAR / "logs" / f"bench-{re.split('[.:]', application)[0]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    arguments = [
        "--interface", "wsgi", "--port", str(port), "--workers", str(workers), "--backlog", "2048",
        "--blocking-threads", str(threads), "--no-ws", "--log-level", "warning",
        "--factory" if factory else "--no-factory", application,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(command), *arguments], cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield serving(port, process)
    finally:
        process.terminate()
        process.wait(30)


def serving(port: int, process: "subprocess.Popen[bytes]") -> Server:
    """Once this process serves the port."""
    for _ in range(300):
        if process.poll() is None and not is_free(port):
            return Server(port, process.pid)
        time.sleep(0.1)
    sys.exit("the server does not start; its log is in var/logs/")


def measure(targets: dict[str, Target], options: argparse.Namespace) -> Figures:
    """In each round every target has its turn."""
    figures, sent = Figures((name, []) for name in targets), dict.fromkeys(targets, 0)
    for turn in range(options.rounds + 1):
        for name, target in targets.items():
            start = sent[name] % len(target.requests)
            requests = target.requests[start:] + target.requests[:start]
            found = _loaded(target, requests, options.clients, options.seconds if turn else 1.0)
            sent[name] += found["count"]
            if found["wrong"]:
                sys.exit(f"{name}: {found['wrong']} of {found['count']} were refused, such as {found['sample']}")
            if turn:  # the first round only warms up
                figures[name].append(found)
        print(f"round {turn} of {options.rounds} done", flush=True)
    return figures


def _loaded(target: Target, requests: list[str], clients: int, seconds: float) -> dict[str, Any]:
    """The figures of a load, with the microseconds of processor that a call took of the server and of PostgreSQL."""
    job = {
        "port": target.server.port, "clients": clients, "status": target.status, "seconds": seconds,
        "requests": requests,
    }  # fmt: skip
    before = (spent_by_tree(target.server.pid), _spent_by_postgres())
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"], cwd=ROOT, input=json.dumps(job), capture_output=True, text=True,
        check=False, timeout=seconds + 60,
    )  # fmt: skip
    after = (spent_by_tree(target.server.pid), _spent_by_postgres())
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    server, database = (
        (now - then) / found["count"] * 1_000_000 for now, then in zip(after, before, strict=True)
    )  # fmt: skip
    return {**found, "server_us": server, "database_us": database}


# --- Processor time, from /proc -------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """The processes that this one started, in order."""
    return sorted(each for each, _, parent, _ in _processes() if parent == pid)


def tree(pid: int) -> dict[int, float]:
    """This process and all below it, each with its seconds and those of what it started that ended."""
    below: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for each, _, parent, seconds in _processes():
        below.setdefault(parent, []).append(each)
        spent[each] = seconds
    found, waiting = {}, [pid]
    while waiting:
        each = waiting.pop()
        found[each] = spent.get(each, 0.0)
        waiting += below.get(each, [])
    return found


def spent_by_tree(pid: int) -> float:
    """Seconds of this process and all below it, those that ended and were waited for too."""
    return sum(tree(pid).values())


def _spent_by_postgres() -> float:
    """Seconds of every process of PostgreSQL here; 0 where the server is elsewhere."""
    return sum(seconds for _, name, _, seconds in _processes() if name == "postgres")


def _processes() -> Iterator[tuple[int, str, int, float]]:
    """(key, name, parent, seconds of itself and of its children that ended)."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            head, _, rest = (place / "stat").read_text().rpartition(")")
        except OSError:
            continue  # ended meanwhile
        fields = rest.split()
        yield int(place.name), head.partition("(")[2], int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
