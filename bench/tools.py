"""`tools/call` of check_consent_status against the same call by REST, in the same run.

    ./run bench tools [--rounds 20] [--seconds 0.5] [--clients 8] [--workers 2]

Both are answered by the same processes, in the workers that `deploy/` gives the tools, and both read the same requests
from PostgreSQL. The newest revision of the protocol is held to twice the time of REST; the previous one is measured
too. The rounds are short and many, since the speed of a shared machine changes within seconds.
"""

import argparse
import json
import os
import sys
from statistics import median
from typing import Any

from bench.trip import granian, load, own_database

WANTED = 2.0  # times the time of the same call by REST, at most
WORKERS, THREADS = 2, 450  # of the processes for tools in deploy/; the threads are of each worker
NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
REST = "REST"
# paced per request and process, which is not what is measured
LIMITS_OFF = {"STATUS_POLL_BURST": "0"}


def main() -> int:
    options = arguments()
    with own_database() as url:
        os.environ.update(LIMITS_OFF, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings", LOG_LEVEL="INFO")
        token, request_ids = prepare()
        with granian("config.wsgi:application", workers=options.workers, threads=THREADS) as port:
            jobs = {REST: rest_requests(request_ids, port, token)}
            for revision in (NEWEST, PREVIOUS):
                jobs[f"tool {revision}"] = tool_requests(request_ids, revision, port, token)
            return report(measure(jobs, port, options), options)


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


def rest_requests(request_ids: list[str], port: int, token: str) -> list[str]:
    """`GET /consent-status` of each request, ready to send."""
    return [
        f"GET /api/v1/consent-status?request_id={request_id} HTTP/1.1\r\n"
        f"Host: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
        for request_id in request_ids
    ]


def tool_requests(request_ids: list[str], revision: str, port: int, token: str) -> list[str]:
    """`tools/call` for each request, ready to send."""
    headers = [
        "POST /mcp HTTP/1.1", f"Host: localhost:{port}", "Content-Type: application/json", "Accept: application/json",
        f"MCP-Protocol-Version: {revision}", f"Authorization: Bearer {token}",
    ]  # fmt: skip
    params: dict[str, Any] = {"name": "check_consent_status"}
    if revision == NEWEST:
        headers.extend(["Mcp-Method: tools/call", "Mcp-Name: check_consent_status"])
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    requests = []
    for number, request_id in enumerate(request_ids):
        call = {**params, "arguments": {"request_id": request_id}}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        requests.append("\r\n".join([*headers, f"Content-Length: {len(body)}", "", body]))
    return requests


Figures = dict[str, list[dict[str, Any]]]


def measure(jobs: dict[str, list[str]], port: int, options: Any) -> Figures:
    """The figures of each, round by round; in each round each has its turn."""
    figures: Figures = {name: [] for name in jobs}
    for turn in range(options.rounds + 1):
        for name, requests in jobs.items():
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


def times_rest(figures: Figures, name: str) -> float:
    """The time of a call as a multiple of REST's in the same round, in the median of the rounds."""
    rounds = zip(figures[name], figures[REST], strict=True)
    return median(rest["rate"] / tool["rate"] for tool, rest in rounds)


def report(figures: Figures, options: Any) -> int:
    """Print the table; 1 where the newest revision is slower than it should be."""

    def middle(name: str, what: str) -> float:
        return median(figure[what] for figure in figures[name])

    print(
        f"\n{options.clients} clients, PostgreSQL, {options.workers} workers; medians of {options.rounds} interleaved "
        f"rounds of {options.seconds:g} s.\nOff for this load: {', '.join(LIMITS_OFF)}.\n"
    )
    print(f"{'':18}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'x REST':>8}{'wanted':>8}{'client':>8}")
    for name in figures:
        wanted = f"≤ {WANTED:g}" if name == f"tool {NEWEST}" else ""
        print(
            f"{name:18}{middle(name, 'rate'):11.0f}{middle(name, 'p50_ms'):8.1f}{middle(name, 'p99_ms'):8.1f}"
            f"{times_rest(figures, name):8.2f}{wanted:>8}{middle(name, 'busy'):8.0%}"
        )
    fast = times_rest(figures, f"tool {NEWEST}") <= WANTED
    print("\nx REST: the mean time of a call as a multiple of REST's in the same round.")
    print("\nFast enough." if fast else "\nSlower than wanted.")
    return 0 if fast else 1


if __name__ == "__main__":
    sys.exit(main())
