"""A poll of a status beside what other authorization servers take to say whether a token is good: one process each.

    ./run bench peers [--rounds 5] [--seconds 2] [--clients 16]

Measures `GET /consent-status` of this service, token introspection (RFC 7662) of oidc-provider on Node, and that of
django-oauth-toolkit under the same server as ours, all on databases of their own on the PostgreSQL of DATABASE_URL.
Each is one process; theirs run from `bench/peer_servers/`, with exactly the packages of its two lock files. The targets
take turns, and what is printed is the median of the ratios within each round.

It is not the same work: a status tells more than an introspection does, and its poll is counted and written down.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from bench.trip import THREADS, Figures, granian, measure, own_database, prepare, wait_for
from deploy.local import node
from deploy.local.place import ROOT, VAR, must, step
from deploy.local.serving import free_port

SERVERS = ROOT / "bench" / "peer_servers"
TOKENS = 2000  # of each peer
WANTED = {"oidc-provider": 0.7, "django-oauth-toolkit": 5.0}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench peers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    python = environment()
    node.install(SERVERS)
    with ExitStack() as running:
        theirs, toolkits, ours = (running.enter_context(own_database(suffix)) for suffix in ("_oidc", "_toolkit", ""))
        os.environ.update(DATABASE_URL=ours, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="INFO")
        jobs = {"status": prepare()["status"]}
        ports = {"status": running.enter_context(granian("config.wsgi:application"))}
        ports["oidc-provider"], jobs["oidc-provider"] = running.enter_context(oidc_provider(theirs))
        ports["django-oauth-toolkit"], jobs["django-oauth-toolkit"] = running.enter_context(toolkit(toolkits, python))
        for name in WANTED:
            require_active(name, ports[name], jobs[name][0][0])
        return report(measure(jobs, ports, options), options)


def environment() -> Path:
    """The Python of an environment with the packages of the lock, made anew where the lock has changed."""
    lock = SERVERS / "requirements.lock"
    name = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    folder = VAR / "bench-peers" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        step("Making an environment for django-oauth-toolkit")
        must("Making an environment", [sys.executable, "-m", "venv", "--clear", folder])
        must("Installing", [python, "-m", "pip", "--quiet", "install", "--require-hashes", "-r", lock])
        (folder / "ready").touch()
    return python


Target = tuple[int, tuple[list[str], int]]  # a port, and what is sent there with the status that answers it


@contextmanager
def oidc_provider(url: str) -> Iterator[Target]:
    port = free_port()
    with (VAR / "logs" / "bench-oidc.log").open("wb") as log:
        process = subprocess.Popen(
            [node.command(), "oidc.mjs", str(port), str(TOKENS)], cwd=SERVERS, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, "DATABASE_URL": url, "NODE_ENV": "production"},
        )  # fmt: skip
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        if not told:
            sys.exit("oidc-provider does not start; var/logs/bench-oidc.log says why")
        wait_for(port, process)
        secret = base64.b64encode(b"bench:bench-secret").decode()
        yield port, introspections("/token/introspection", f"Basic {secret}", json.loads(told))
    finally:
        process.terminate()
        process.wait(15)


@contextmanager
def toolkit(url: str, python: Path) -> Iterator[Target]:
    env = {**os.environ, "DATABASE_URL": url}
    env.pop("DJANGO_SETTINGS_MODULE", None)
    made = subprocess.run(
        [python, "toolkit.py", str(TOKENS)], cwd=SERVERS, env=env, check=True, stdout=subprocess.PIPE
    )  # fmt: skip
    told = json.loads(made.stdout)
    server = granian("toolkit:application", command=python.with_name("granian"), folder=SERVERS, env=env)
    with server as port:
        yield port, introspections("/introspect/", f"Bearer {told['caller']}", told["tokens"])


def introspections(path: str, authorization: str, tokens: list[str]) -> tuple[list[str], int]:
    requests = []
    for token in tokens:
        body = urlencode({"token": token, "token_type_hint": "access_token"})
        requests.append(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
    return requests, 200


def require_active(name: str, port: int, request: str) -> None:
    """An introspection answers 200 whatever it found: what is measured has to be a token that is good."""
    with socket.create_connection(("127.0.0.1", port)) as made:
        made.sendall(request.encode())
        with HTTPResponse(made) as answer:  # head and body may come apart
            answer.begin()
            body = answer.read()
    if not re.search(rb'"active": ?true', body):
        sys.exit(f"{name} does not know the token that it made: {body[-300:]!r}")


def report(figures: Figures, options: Any) -> int:
    """Print the table; 1 where a ratio is less than wanted."""

    def middle(name: str, what: str) -> float:
        return median(figure[what] for figure in figures[name])

    def ratio(name: str) -> float:
        pairs = zip(figures["status"], figures[name], strict=True)
        return median(ours["rate"] / theirs["rate"] for ours, theirs in pairs)

    print(
        f"\n{options.clients} clients, PostgreSQL, {os.cpu_count()} processors, one process each (granian with "
        f"{THREADS} threads, or Node); medians of {options.rounds} interleaved rounds of {options.seconds:g} s.\n"
    )
    print(f"{'':24}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'status of':>11}{'wanted':>8}{'server µs':>11}")
    short = False
    for name in figures:
        told = f"{name:24}{middle(name, 'rate'):11.0f}{middle(name, 'p50_ms'):8.1f}{middle(name, 'p99_ms'):8.1f}"
        short |= name in WANTED and ratio(name) < WANTED[name]
        told += f"{ratio(name):11.2f}{WANTED[name]:>8}" if name in WANTED else " " * 19
        print(f"{told}{middle(name, 'server_us'):11.0f}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
