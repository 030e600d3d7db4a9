"""A service of one's own with people and apps, to be broken: what `chaos`, `away` and `backups` begin with."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.cast import AppPart, make_apps, make_people
from bench.mayhem.cluster import Cluster
from bench.mayhem.following import Follower
from bench.mayhem.receiver import Receiver
from deploy.local.place import PYTHON, ROOT
from deploy.local.serving import Child, _end, _server, _start, _wait_until_ready, _worker, free_port

APPS = 2
LIMITS_OFF = dict.fromkeys(
    ["PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY", "REQUEST_BUDGET_PER_HOUR", "DENIAL_COOLDOWN_SECONDS",
     "STATUS_POLL_BURST"], "0",
)  # fmt: skip
_SETTLES_WITHIN = 300  # seconds: a killed worker's leases run out after one minute, failed webhooks wait for five


@dataclass
class Stack:
    """The server and the worker, to be killed and started again."""

    port: int
    env: dict[str, str]
    logs: Path
    children: dict[str, Child] = field(default_factory=dict)
    starts: int = 0

    def start(self, name: str) -> None:
        self.starts += 1
        command = _server(self.port) if name == "server" else _worker(self.logs)
        self.children[name] = _start(name, command, self.logs / f"{name}-{self.starts}.log", self.env)

    def kill(self, name: str) -> None:
        """SIGKILL to the process and to those it started, then a fresh one at once."""
        process = self.children[name].process
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.start(name)

    def end(self) -> None:
        _end(list(self.children.values()))


@dataclass
class Stage:
    """Who is there, and what they stand on. `env` is the service's; Django is set up on the same database."""

    home: Path
    cluster: Cluster
    receiver: Receiver
    service: Stack
    apps: list[AppPart]
    people: list[Any]

    @property
    def env(self) -> dict[str, str]:
        return self.service.env

    @property
    def site(self) -> str:
        return self.env["BASE_URL"]


@contextmanager
def stage(name: str, people: int, cluster: Cluster | None = None, **settings: str) -> Iterator[Stage]:
    """All of it, on a fresh cluster and with nothing running yet; `settings` are the service's own."""
    home = Path(tempfile.mkdtemp(prefix=f"consent-{name}-"))
    end_in_order()
    with ExitStack() as stack:
        print("Starting a PostgreSQL of its own …", flush=True)
        cluster = cluster or Cluster()
        stack.callback(cluster.remove)
        receiver = Receiver("whsec_" + secrets.token_hex(16))
        port = free_port()
        env = {
            **LIMITS_OFF, "BASE_URL": f"http://localhost:{port}", "DATABASE_URL": cluster.url, "LOG_LEVEL": "WARNING",
            "CONSENT_VAR": str(home), "WEBHOOK_INTERNAL_ADDRESSES": "true",
            "DJANGO_SETTINGS_MODULE": "config.settings", **settings,
        }  # fmt: skip
        os.environ.update(env)
        yield Stage(home, cluster, receiver, Stack(port, env, home), *prepare(home, receiver, people))


def end_in_order() -> None:
    """At SIGTERM, too, what was started is ended."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def end_of(scene: Stage, wrong: list[str]) -> int:
    """Say what is wrong, and keep the logs where anything is; the exit code."""
    for line in wrong[:20]:
        print(f"WRONG  {line}")
    if wrong:
        print(f"{len(wrong)} things are wrong. The logs stay in {scene.home}")
        return 1
    print("Nothing lost, nothing doubled, nothing missing.")
    shutil.rmtree(scene.home)
    return 0


def prepare(home: Path, receiver: Receiver, players: int) -> tuple[list[AppPart], list[Any]]:
    """Fresh secrets, a migrated database, people, and apps whose webhooks the receiver takes."""
    for arguments in (
        ["make_keys", "--directory", str(home)],
        ["migrate", "-v0"],
        ["collectstatic", "-v0", "--no-input"],
    ):
        subprocess.run([PYTHON, "manage.py", *arguments], cwd=ROOT, check=True)
    import django

    django.setup()
    from common import encryption
    from developers.models import WebhookEndpoint

    apps, people = make_apps(APPS), make_people(players)
    for app in apps:
        WebhookEndpoint.objects.create(app_id=app.pk, url=receiver.url, secret=encryption.sealed(receiver.secret))
    let_go()
    return apps, people


def let_go() -> None:
    """Hold no connection while the database comes and goes."""
    from django.db import connection

    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's connections


@contextmanager
def running(service: Stack) -> Iterator[None]:
    try:
        for name in ("server", "worker"):
            service.start(name)
        _wait_until_ready(service.port, list(service.children.values()))
        yield
    finally:
        service.end()


def settle(followers: list[Follower]) -> Iterator[str]:
    """Wait until nothing is on its way any more."""
    from consent.exports.models import Read
    from consent.notices.models import Notice, WebhookDelivery

    deadline = time.monotonic() + _SETTLES_WITHIN
    while True:
        waiting = WebhookDelivery.objects.filter(status="waiting").count() + Read.objects.filter(batch="").count()
        behind = Notice.objects.count() - sum(len(follower.events) for follower in followers)
        if not waiting and behind <= 0:
            break
        if time.monotonic() > deadline:
            yield f"{waiting} webhooks or reads still wait, {behind} events were not told"
            stuck = WebhookDelivery.objects.filter(status="waiting").order_by("pk")[:3]
            yield from (
                f"{row.pk}: attempt {row.attempt}, next {row.next_at}, {row.failure or 'no answer'}" for row in stuck
            )
            break
        time.sleep(0.5)
    for follower in followers:
        follower.over.set()


def verify_audit() -> Iterator[str]:
    done = subprocess.run(
        [PYTHON, "manage.py", "verify_audit"], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    print(done.stdout.strip(), flush=True)
    if done.returncode:
        yield f"verify_audit: {done.stderr}"
