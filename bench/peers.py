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
from urllib.parse import urlencode

from bench.measuring import Figures, Target, granian, measure, options_of, serving, setting_of
from bench.staging import own_database
from bench.targets import post, prepared, targets_at
from deploy.local import node
from deploy.local.place import ROOT, VAR, must, step
from deploy.local.serving import free_port

SERVERS = ROOT / "bench" / "peer_servers"
TOKENS = 2000  # of each peer
WANTED = {"oidc-provider": 0.7, "django-oauth-toolkit": 5.0}


def main() -> int:
    options = options_of("peers")
    python = environment()
    node.install(SERVERS)
    with ExitStack() as running:
        theirs, toolkits, ours = (running.enter_context(own_database(suffix)) for suffix in ("_oidc", "_toolkit", ""))
        requests = {"status": prepared(ours)["status"]}
        targets = targets_at(running.enter_context(granian("config.wsgi:application")), requests)
        targets["oidc-provider"] = running.enter_context(oidc_provider(theirs))
        targets["django-oauth-toolkit"] = running.enter_context(toolkit(toolkits, python))
        for name in WANTED:
            require_active(name, targets[name])
        return report(measure(targets, options), options)


def environment() -> Path:
    """The Python of an environment with the packages of the lock, made anew where the lock has changed."""
    lock = SERVERS / "requirements.lock"
    folder = VAR / "bench-peers" / hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        step("Making an environment for django-oauth-toolkit")
        must("Making an environment", [sys.executable, "-m", "venv", "--clear", folder])
        must("Installing", [python, "-m", "pip", "--quiet", "install", "--require-hashes", "-r", lock])
        (folder / "ready").touch()
    return python


@contextmanager
def oidc_provider(url: str) -> Iterator[Target]:
    port, env = free_port(), {**os.environ, "DATABASE_URL": url, "NODE_ENV": "production"}
    with (VAR / "logs" / "bench-oidc.log").open("wb") as log:
        process = subprocess.Popen(
            [node.command(), "oidc.mjs", str(port), str(TOKENS)], cwd=SERVERS, stdout=subprocess.PIPE, stderr=log,
            env=env,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        tokens = process.stdout.readline()
        if not tokens:
            sys.exit("oidc-provider does not start; var/logs/bench-oidc.log says why")
        caller = f"Basic {base64.b64encode(b'bench:bench-secret').decode()}"
        server = serving(port, process)
        yield Target(server, introspections("/token/introspection", caller, json.loads(tokens)))
    finally:
        process.terminate()
        process.wait(15)


@contextmanager
def toolkit(url: str, python: Path) -> Iterator[Target]:
    env = {**os.environ, "DATABASE_URL": url}
    env.pop("DJANGO_SETTINGS_MODULE", None)
    command = [python, "toolkit.py", str(TOKENS)]
    made = json.loads(subprocess.run(command, cwd=SERVERS, env=env, check=True, stdout=subprocess.PIPE).stdout)
    with granian("toolkit:application", command=python.with_name("granian"), folder=SERVERS, env=env) as server:
        yield Target(server, introspections("/introspect/", f"Bearer {made['caller']}", made["tokens"]))


def introspections(path: str, authorization: str, tokens: list[str]) -> list[str]:
    bodies = [urlencode({"token": token, "token_type_hint": "access_token"}) for token in tokens]
    headers, kind = f"Authorization: {authorization}\r\n", "application/x-www-form-urlencoded"
    return [post(path, headers, body, kind) for body in bodies]


def require_active(name: str, target: Target) -> None:
    """An introspection answers 200 whatever it found: what is measured has to be a token that is good."""
    with socket.create_connection(("127.0.0.1", target.server.port)) as made:
        made.sendall(target.requests[0].encode())
        with HTTPResponse(made) as answer:  # head and body may come apart
            answer.begin()
            body = answer.read()
    if not re.search(rb'"active": ?true', body):
        sys.exit(f"{name} does not know the token that it made: {body[-300:]!r}")


def report(figures: Figures, options: argparse.Namespace) -> int:
    """Print the table; 1 where a ratio is less than wanted."""
    print(f"{setting_of(options)} oidc-provider is one process of Node.\n")
    print(f"{'':24}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'status of':>11}{'wanted':>8}{'server µs':>11}")
    for name in figures:
        rate, p50, p99, server = (figures.middle(name, what) for what in ("rate", "p50_ms", "p99_ms", "server_us"))
        compared = f"{figures.ratio('status', name):11.2f}{WANTED[name]:>8}" if name in WANTED else " " * 19
        print(f"{name:24}{rate:11.0f}{p50:8.1f}{p99:8.1f}{compared}{server:11.0f}")
    return 1 if any(figures.ratio("status", name) < wanted for name, wanted in WANTED.items()) else 0
