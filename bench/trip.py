"""Requests per second of the addresses of a trip, against the smallest view on the same server and database.

    ./run bench trip [--rounds 5] [--seconds 2] [--clients 16] [--profile]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it.
The limits that would refuse this load are off: requests per person and app, and the pause after a denial.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from psycopg import sql

from deploy.local.place import ROOT, VAR, VENV
from deploy.local.serving import free_port, is_free

WANTED = {"discovery": 0.5, "status": 0.5, "export 4 KiB": 0.4, "request": 0.25}
LIMITS_OFF = {
    "PENDING_REQUESTS_PER_PERSON": "0", "DENIAL_COOLDOWN_SECONDS": "0", "REQUESTS_PER_PERSON_PER_DAY": "0",
    "REQUEST_BUDGET_PER_HOUR": "0",
}  # fmt: skip
THREADS = 16  # of the one worker, as in deploy/ for the fast addresses


def main() -> int:
    options = arguments()
    with own_database() as url:
        os.environ.update(LIMITS_OFF, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="INFO")
        jobs = prepare()
        if options.profile:
            from bench.profiling import profile

            profile(jobs)
            return 0
        with granian("config.wsgi:application") as full, granian("bench.bare:application") as bare:
            ports = dict.fromkeys(jobs, full) | {"bare": bare}
            jobs["bare"] = jobs["reference"]
            return report(measure(jobs, ports, options), options)


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench trip")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--profile", action="store_true", help="say where the time goes instead, in this process")
    return parser.parse_args()


@contextmanager
def own_database() -> Iterator[str]:
    """The address of a fresh database beside that of DATABASE_URL."""
    given = os.environ.get("DATABASE_URL") or "postgres://root@127.0.0.1:5432/postgres"
    if not given.startswith("postgres"):
        sys.exit("This is measured on PostgreSQL: set DATABASE_URL=postgres://…")
    name = f"consent_bench_{os.getpid()}"
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
def granian(application: str, *, workers: int = 1, threads: int = THREADS) -> Iterator[int]:
    """Workers with so many threads each; their port."""
    port, log = free_port(), VAR / "logs" / f"bench-{application.split('.')[0]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        str(VENV / "bin/granian"), "--interface", "wsgi", "--port", str(port), "--workers", str(workers),
        "--blocking-threads", str(threads), "--no-ws", "--log-level", "warning", application,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(15)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        if process.poll() is None and not is_free(port):
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
            found = load(job)
            sent[name] += found["count"]
            if found["wrong"]:
                sys.exit(
                    f"{name}: {found['wrong']} of {found['count']} answers were refusals, such as {found['sample']}"
                )
            if turn:  # the first round only warms up
                figures[name].append(found)
        print(f"round {turn} of {options.rounds} done", flush=True)
    return figures


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

    print(
        f"\n{options.clients} clients, PostgreSQL, 1 worker with {THREADS} threads; medians of {options.rounds} "
        f"interleaved rounds of {options.seconds:g} s.\nOff for this load: {', '.join(LIMITS_OFF)}.\n"
    )
    heads = {
        "": 14,
        "requests/s": 11,
        "p50 ms": 8,
        "p99 ms": 8,
        "of reference": 14,
        "wanted": 8,
        "of bare": 9,
        "client": 8,
    }
    print("".join(f"{head:>{width}}" for head, width in heads.items()))
    slow = []
    for name in figures:
        ratio = middle(name, "rate") / middle("reference", "rate")
        of_bare = middle(name, "rate") / middle("bare", "rate")
        wanted = WANTED.get(name)
        if wanted and ratio < wanted:
            slow.append(name)
        print(
            f"{name:14}{middle(name, 'rate'):11.0f}{middle(name, 'p50_ms'):8.1f}{middle(name, 'p99_ms'):8.1f}"
            f"{ratio:14.2f}{wanted or '':>8}{of_bare:9.2f}{middle(name, 'busy'):8.0%}"
        )
    print(
        "\nreference: one indexed SELECT in a plain view, behind the same middleware; bare: the same view without any"
        "\nof this project around it. client: how busy the load generator was."
    )
    print(f"\nSlower than wanted: {', '.join(slow)}." if slow else "\nAll as fast as wanted.")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
