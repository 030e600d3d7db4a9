"""Requests per second of the addresses of a trip, as shares of a bare Django view on the same server and database.

    ./run bench trip [--rounds 5] [--seconds 2] [--clients 16] [--profile]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it.
Production's limits are on, at production's numbers: as many apps ask as that takes. A worker and beat run beside unless
`--alone` says otherwise.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from psycopg import sql

from bench import processor
from deploy.local.place import ROOT, VAR, VENV
from deploy.local.serving import free_port, is_free

WANTED = {"discovery": 0.58, "status": 0.62, "export 4 KiB": 0.5, "request": 0.27}  # of bare
THREADS = 16  # of the one worker, as in deploy/ for the fast addresses
SERVERS: dict[int, int] = {}  # the process that serves a port, as `wait_for` found it


def main() -> int:
    options = arguments()
    with own_database() as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="INFO")
        jobs = prepare()
        if options.profile:
            from bench.profiling import profile

            profile(jobs)
            return 0
        with ExitStack() as running:
            if not options.alone:
                running.enter_context(worker_and_beat())
            full = running.enter_context(granian("config.wsgi:application"))
            bare = running.enter_context(granian("bench.bare:application"))
            ports = dict.fromkeys(jobs, full) | {"bare": bare}
            jobs["bare"] = jobs["reference"]
            return report(measure(jobs, ports, options), options)


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench trip")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--alone", action="store_true", help="without a worker and beat beside")
    parser.add_argument("--profile", action="store_true", help="say where the time goes instead, in this process")
    return parser.parse_args()


@contextmanager
def own_database(suffix: str = "") -> Iterator[str]:
    """The address of a fresh database beside that of DATABASE_URL."""
    given = os.environ.get("DATABASE_URL") or "postgres://root@127.0.0.1:5432/postgres"
    if not given.startswith("postgres"):
        sys.exit("This is measured on PostgreSQL: set DATABASE_URL=postgres://…")
    name = f"consent_bench_{os.getpid()}{suffix}"
    with psycopg.connect(given.replace("postgres://", "postgresql://", 1), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield given.rsplit("/", 1)[0] + f"/{name}"
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def prepare() -> dict[str, tuple[list[str], int]]:
    """Migrate and fill the database; the requests to send."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from bench.population import populate, requests_of

    print("Migrating and filling a database of its own …", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    jobs = requests_of(populate())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    connection.close()
    connection.close_pool()
    return jobs


@contextmanager
def worker_and_beat() -> Iterator[None]:
    """Both, as a deployment runs them, on the queue of the settings."""
    celery, log = str(VENV / "bin/celery"), VAR / "logs" / "bench-worker.log"
    schedule = f"--schedule={VAR / 'logs' / f'bench-beat-{os.getpid()}'}"
    commands = (
        [celery, "--app", "config", "worker", "--pool", "threads", "--concurrency", "16"],
        [celery, "--app", "config", "beat", schedule, "--pidfile="],
    )
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        running = [subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) for command in commands]
    try:
        yield
        if any(process.poll() is not None for process in running):
            sys.exit(f"the worker or beat ended while it was measured; {log} says why")
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


@contextmanager
def granian(
    application: str, *, workers: int = 1, threads: int = THREADS, command: Path = VENV / "bin" / "granian",
    folder: Path = ROOT, env: dict[str, str] | None = None,
) -> Iterator[int]:  # fmt: skip
    """Workers with so many threads each; their port. `env` is another environment than this process's."""
    port, log = free_port(), VAR / "logs" / f"bench-{re.split('[.:]', application)[0]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    arguments = [
        "--interface", "wsgi", "--port", str(port), "--workers", str(workers),
        "--blocking-threads", str(threads), "--no-ws", "--log-level", "warning", application,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(command), *arguments], cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(15)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Until this process serves the port."""
    for _ in range(300):
        if process.poll() is None and not is_free(port):
            SERVERS[port] = process.pid
            return
        time.sleep(0.1)
    sys.exit("the server does not start; its log is in var/logs/")


Figures = dict[str, list[dict[str, Any]]]


def measure(jobs: dict[str, tuple[list[str], int]], ports: dict[str, int], options: Any) -> Figures:
    """The figures of every address, round by round; in each round every address has its turn."""
    figures: Figures = {name: [] for name in jobs}
    sent = dict.fromkeys(jobs, 0)
    for turn in range(options.rounds + 1):
        for name, (requests, status) in jobs.items():
            start = sent[name] % len(requests)
            job = {
                "port": ports[name], "clients": options.clients, "status": status,
                "seconds": options.seconds if turn else 1.0,
                "requests": requests[start:] + requests[:start],
            }  # fmt: skip
            found = load_and_cost(job)
            sent[name] += found["count"]
            if name == "first discovery" and sent[name] > len(requests):
                sys.exit(f"{name}: everybody was discovered already; measure for fewer rounds or seconds")
            if found["wrong"]:
                sys.exit(
                    f"{name}: {found['wrong']} of {found['count']} answers were refusals, such as {found['sample']}"
                )
            if turn:  # the first round only warms up
                figures[name].append(found)
        print(f"round {turn} of {options.rounds} done", flush=True)
    return figures


def load_and_cost(job: dict[str, Any]) -> dict[str, Any]:
    """The figures of a load, with the microseconds of processor that a call took of the server and of PostgreSQL."""
    server = SERVERS[job["port"]]
    before = (processor.of_tree(server), processor.of_postgres())
    found = load(job)
    after = (processor.of_tree(server), processor.of_postgres())
    took = [(now - then) / found["count"] * 1_000_000 for now, then in zip(after, before, strict=True)]
    return {**found, "server_us": took[0], "database_us": took[1]}


def load(job: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("load.py"))],
        input=json.dumps(job), capture_output=True, text=True, check=False, timeout=job["seconds"] + 60,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(figures: Figures, options: Any) -> int:
    """Print the table; 1 where an address is slower than it should be."""

    def middle(name: str, what: str) -> float:
        return median(figure[what] for figure in figures[name])

    def share(name: str) -> float:
        """The median of the shares of each round: what slows the machine slows both."""
        return median(one["rate"] / bare["rate"] for one, bare in zip(figures[name], figures["bare"], strict=True))

    print(
        f"\n{options.clients} clients, PostgreSQL, {os.cpu_count()} processors, 1 worker with {THREADS} threads, "
        f"{'nothing' if options.alone else 'a worker and beat'} beside; medians of {options.rounds} interleaved rounds "
        f"of {options.seconds:g} s. All limits are production's.\n"
    )
    heads = {
        "": 16, "requests/s": 11, "p50 ms": 8, "p99 ms": 8, "of bare": 9, "wanted": 8, "server µs": 11,
        "database µs": 13, "client": 8,
    }  # fmt: skip
    print("".join(f"{head:>{width}}" for head, width in heads.items()))
    slow = []
    for name in figures:
        wanted = WANTED.get(name)
        if wanted and share(name) < wanted:
            slow.append(name)
        print(
            f"{name:16}{middle(name, 'rate'):11.0f}{middle(name, 'p50_ms'):8.1f}{middle(name, 'p99_ms'):8.1f}"
            f"{share(name):9.2f}{wanted or '':>8}{middle(name, 'server_us'):11.0f}{middle(name, 'database_us'):13.0f}"
            f"{middle(name, 'busy'):8.0%}"
        )
    print(
        "\nbare: one indexed SELECT in a plain Django view, without any of this project around it; reference: the same"
        "\nview behind this project's middleware. µs: processor time of a call, of the server and of PostgreSQL on this"
        "\nmachine. client: how busy the load generator was."
    )
    print(f"\nSlower than wanted: {', '.join(slow)}." if slow else "\nAll as fast as wanted.")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
