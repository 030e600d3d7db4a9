"""`tools/call` of check_consent_status against the SDK's own bare server, in the same run.

    ./run bench tools [--rounds 20] [--seconds 0.5] [--clients 8] [--workers 2]

Beside the newest revision, which is what is held to 0.5, the previous one is measured too. The bare server answers
from memory to everybody, in the one process that it has by itself; ours finds the token, counts, and reads the request
from PostgreSQL, in the workers that `deploy/` gives the tools. With `--workers 1` it is process against process. The
rounds are short and many, since the speed of a shared machine changes within seconds.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from bench.trip import granian, load, own_database, wait_for
from deploy.local.place import PYTHON, ROOT, VAR
from deploy.local.serving import free_port

WANTED = 0.5
WORKERS, THREADS = 2, 450  # of the processes for tools in deploy/; the threads are of each worker
NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
# paced per request and process, which is not what is measured
LIMITS_OFF = {"STATUS_POLL_BURST": "0"}


def main() -> int:
    options = arguments()
    with own_database() as url:
        os.environ.update(LIMITS_OFF, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings", LOG_LEVEL="INFO")
        token, names = prepare()
        with (
            granian("config.wsgi:application", workers=options.workers, threads=THREADS) as ours,
            bare() as theirs,
        ):
            jobs = {
                f"{who} {revision}": (port, messages(names, revision, port, token if who == "ours" else ""))
                for revision in (NEWEST, PREVIOUS)
                for who, port in (("ours", ours), ("bare", theirs))
            }
            return report(measure(jobs, options), options)


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench tools")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--workers", type=int, default=WORKERS)
    return parser.parse_args()


def prepare() -> tuple[str, list[str]]:
    """Migrate and fill the database; a token, and the requests to ask about."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from bench.population import populate

    print("Migrating and filling a database of its own …", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    population = populate()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    connection.close()
    connection.close_pool()
    return population.token, population.statuses


@contextmanager
def bare() -> Iterator[int]:
    """The SDK's own server, as it serves itself; its port."""
    port, log = free_port(), VAR / "logs" / "bench-tools-bare.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(PYTHON), "-m", "bench.tools_bare", str(port)], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(15)


def messages(names: list[str], revision: str, port: int, token: str) -> list[str]:
    """A `tools/call` for each request, ready to send."""
    heads = [
        "POST /mcp HTTP/1.1", f"Host: localhost:{port}", "Content-Type: application/json", "Accept: application/json",
        f"MCP-Protocol-Version: {revision}",
    ]  # fmt: skip
    if token:
        heads.append(f"Authorization: Bearer {token}")
    params: dict[str, Any] = {"name": "check_consent_status"}
    if revision == NEWEST:
        heads.extend(["Mcp-Method: tools/call", "Mcp-Name: check_consent_status"])
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    made = []
    for number, name in enumerate(names):
        given = {**params, "arguments": {"request_id": name}}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": given})
        made.append("\r\n".join([*heads, f"Content-Length: {len(body)}", "", body]))
    return made


Figures = dict[str, list[dict[str, Any]]]


def measure(jobs: dict[str, tuple[int, list[str]]], options: Any) -> Figures:
    """The figures of each, round by round; in each round each has its turn."""
    figures: Figures = {name: [] for name in jobs}
    for turn in range(options.rounds + 1):
        for name, (port, requests) in jobs.items():
            found = load(
                {"port": port, "clients": options.clients, "status": 200, "requests": requests,
                 "seconds": options.seconds if turn else 1.0}
            )  # fmt: skip
            if found["wrong"]:
                sys.exit(f"{name}: {found['wrong']} of {found['count']} answers were refusals: {found['sample']}")
            if turn:  # the first round only warms up
                figures[name].append(found)
        print(f"round {turn} of {options.rounds} done", flush=True)
    return figures


def report(figures: Figures, options: Any) -> int:
    """Print the table; 1 where the newest revision is slower than it should be."""

    def middle(name: str, what: str) -> float:
        return median(figure[what] for figure in figures[name])

    print(
        f"\n{options.clients} clients, PostgreSQL, {options.workers} workers of ours, one process of theirs; medians "
        f"of {options.rounds} interleaved rounds of {options.seconds:g} s.\n"
        f"Off for this load: {', '.join(LIMITS_OFF)}.\n"
    )
    print(f"{'':18}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'of bare':>9}{'wanted':>8}{'client':>8}")
    for name in figures:
        ratio = middle(name, "rate") / middle(f"bare {name.split()[1]}", "rate")
        wanted = WANTED if name == f"ours {NEWEST}" else ""
        print(
            f"{name:18}{middle(name, 'rate'):11.0f}{middle(name, 'p50_ms'):8.1f}{middle(name, 'p99_ms'):8.1f}"
            f"{ratio:9.2f}{wanted:>8}{middle(name, 'busy'):8.0%}"
        )
    ratio = middle(f"ours {NEWEST}", "rate") / middle(f"bare {NEWEST}", "rate")
    print("\nFast enough." if ratio >= WANTED else "\nSlower than wanted.")
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
