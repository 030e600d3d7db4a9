"""Requests per second of the addresses of a trip, as shares of a bare Django view on the same server and database.

    ./run bench trip [--rounds 5] [--seconds 2] [--clients 16] [--alone]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it.
Production's limits are on, at production's numbers: as many apps ask as that takes. A worker and beat run beside unless
`--alone` says otherwise.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.measuring import Figures, granian, measure, options_of, setting_of
from bench.staging import own_database
from bench.targets import prepared, targets_at
from deploy.local.place import ROOT, VAR, VENV

WANTED = {"discovery": 0.58, "status": 0.62, "export 4 KiB": 0.5, "request": 0.27}  # of bare


def main() -> int:
    options = options_of("trip", alone={"action": "store_true", "help": "without a worker and beat beside"})
    with own_database() as url, ExitStack() as running:
        requests = prepared(url)
        if not options.alone:
            running.enter_context(worker_and_beat())
        service = running.enter_context(granian("config.wsgi:application"))
        bare = running.enter_context(granian("bench.reference:bare", factory=True))
        targets = targets_at(service, requests)
        targets["bare"] = targets_at(bare, requests)["reference"]
        return report(measure(targets, options), options)


@contextmanager
def worker_and_beat() -> Iterator[None]:
    """Both, as a deployment runs them, on the queue of the settings."""
    celery, logs = str(VENV / "bin/celery"), VAR / "logs"
    schedule = f"--schedule={logs / f'bench-beat-{os.getpid()}'}"
    commands = (
        [celery, "--app", "config", "worker", "--pool", "threads", "--concurrency", "16"],
        [celery, "--app", "config", "beat", schedule, "--pidfile="],
    )
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / "bench-worker.log").open("wb") as output:
        running = [subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) for command in commands]
    try:
        yield
        if any(process.poll() is not None for process in running):
            sys.exit(f"the worker or beat ended while it was measured; {logs / 'bench-worker.log'} says why")
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


def report(figures: Figures, options: argparse.Namespace) -> int:
    """Print the table; 1 where an address is slower than it should be."""
    beside = "Nothing" if options.alone else "A worker and beat"
    print(f"{setting_of(options)} {beside} beside; limits are production's.\n")
    print(f"{'':16}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'of bare':>9}{'wanted':>8}{'server µs':>11}"
          f"{'database µs':>13}{'client':>8}")  # fmt: skip
    slow = []
    for name in figures:
        wanted, share = WANTED.get(name), figures.ratio(name, "bare")
        if wanted and share < wanted:
            slow.append(name)
        rate, p50, p99, server, database, client = (
            figures.middle(name, what) for what in ("rate", "p50_ms", "p99_ms", "server_us", "database_us", "busy")
        )
        print(f"{name:16}{rate:11.0f}{p50:8.1f}{p99:8.1f}{share:9.2f}{wanted or '':>8}{server:11.0f}{database:13.0f}"
              f"{client:8.0%}")  # fmt: skip
    print(
        "\nbare: one indexed SELECT in a plain Django view, without any of this project around it; reference: the same"
        "\nview behind this project's middleware. µs: processor time of a call, of the server and of PostgreSQL on this"
        "\nmachine. client: how busy the load generator was."
    )
    print(f"\nSlower than wanted: {', '.join(slow)}." if slow else "\nAll as fast as wanted.")
    return 1 if slow else 0
