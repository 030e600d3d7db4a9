"""Two thousand decisions while the server, the worker and the database are killed again and again.

    ./run bench chaos [--decisions 2000] [--kills 20] [--stops 2] [--players 6] [--seed N]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own; webhooks go to a receiver of their
own. Server and worker get SIGKILL `--kills` times each, PostgreSQL is stopped `--stops` times without being asked, all
at random moments. At the end nothing that was acknowledged is lost, nothing happened twice, every webhook arrived, no
sequence has a gap and all chains verify; else this names what is wrong and fails.
"""

import argparse
import os
import random
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
from bench.mayhem.players import Ledger, Player
from bench.mayhem.receiver import Receiver
from bench.mayhem.verdict import everything_wrong
from deploy.local.place import PYTHON, ROOT
from deploy.local.serving import Child, _end, _server, _start, _wait_until_ready, _worker, free_port

APPS = 2
LIMITS_OFF = dict.fromkeys(
    ["PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY", "REQUEST_BUDGET_PER_HOUR", "DENIAL_COOLDOWN_SECONDS",
     "STATUS_POLL_BURST"], "0",
)  # fmt: skip
_DOWN_FOR = 1.5  # seconds that the database stays away
_SETTLES_WITHIN = 300  # seconds: a killed worker's leases run out after one minute, failed webhooks wait for five
_STUCK_AFTER = 180  # seconds without one more decision


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


def main() -> int:
    options = arguments()
    home = Path(tempfile.mkdtemp(prefix="consent-chaos-"))
    with ExitStack() as stack:
        print("Starting a PostgreSQL of its own …", flush=True)
        cluster = Cluster()
        stack.callback(cluster.remove)
        receiver = Receiver("whsec_" + secrets.token_hex(16))
        port = free_port()
        env = {
            **LIMITS_OFF, "BASE_URL": f"http://localhost:{port}", "DATABASE_URL": cluster.url, "LOG_LEVEL": "WARNING",
            "CONSENT_VAR": str(home), "WEBHOOK_INTERNAL_ADDRESSES": "true",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }  # fmt: skip
        os.environ.update(env)
        apps, people = prepare(home, receiver, options.players)
        service = Stack(port, env, home)
        with running(service):
            outcome = play(service, cluster, receiver, apps, people, options)
    if outcome:
        print(f"The logs stay in {home}")
    else:
        shutil.rmtree(home)
    return outcome


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench chaos")
    parser.add_argument("--decisions", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20, help="of the server, and as many of the worker")
    parser.add_argument("--stops", type=int, default=2, help="of PostgreSQL")
    parser.add_argument("--players", type=int, default=6, help="people who decide at the same time")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    return parser.parse_args()


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


def play(
    service: Stack, cluster: Cluster, receiver: Receiver, apps: list[AppPart], people: list[Any], options: Any
) -> int:
    """Decide under fire, wait until all is quiet, and look."""
    dice, site = random.Random(options.seed), service.env["BASE_URL"]
    ledger = Ledger(options.decisions)
    followers = [Follower(site, app) for app in apps]
    players = [Player(site, person, apps, ledger, dice.getrandbits(32)) for person in people]
    began = time.monotonic()
    for thread in (*followers, *players):
        thread.start()
    shots = break_things(service, cluster, ledger, dice, options)
    for player in players:
        player.join(_STUCK_AFTER)
    fired = time.monotonic() - began
    print(f"{ledger.decisions} decisions in {fired:.0f} s; waiting until the webhooks have settled …", flush=True)
    unsettled = list(settle(followers))
    if unsettled:  # the worker writes into its log what its threads are doing
        service.children["worker"].process.send_signal(signal.SIGUSR1)
    wrong = [*unsettled, *everything_wrong(ledger, apps, receiver, followers), *verify_audit()]
    return report(ledger, receiver, followers, shots, fired, wrong, options)


def break_things(service: Stack, cluster: Cluster, ledger: Ledger, dice: random.Random, options: Any) -> dict[str, int]:
    """Each blow falls when a number of decisions drawn beforehand is reached."""
    blows = ["server"] * options.kills + ["worker"] * options.kills + ["database"] * options.stops
    due = sorted((dice.randrange(1, max(2, options.decisions * 19 // 20)), blow) for blow in blows)
    fallen = dict.fromkeys(("server", "worker", "database"), 0)
    moved_at, seen = time.monotonic(), 0
    while not ledger.is_full:
        if ledger.decisions > seen:
            moved_at, seen = time.monotonic(), ledger.decisions
        if time.monotonic() - moved_at > _STUCK_AFTER:
            ledger.defects.append(f"no decision for {_STUCK_AFTER} seconds")
        if due and due[0][0] <= ledger.decisions:
            _, blow = due.pop(0)
            time.sleep(dice.random() * 0.2)  # anywhere within whatever goes on
            fallen[blow] += 1
            if blow == "database":
                cluster.stop()
                time.sleep(_DOWN_FOR)
                cluster.start()
            else:
                service.kill(blow)
        time.sleep(0.02)
    return fallen


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


def report(
    ledger: Ledger, receiver: Receiver, followers: list[Follower], shots: dict[str, int], fired: float,
    wrong: list[str], options: Any,
) -> int:  # fmt: skip
    """Print the figures; 1 where anything is wrong."""
    from consent.exports.models import Read
    from consent.log.models import AuditCheckpoint
    from consent.notices.models import Notice

    by = {
        name: sum(promise.decision == name for promise in ledger.promises)
        for name in ("approved", "denied", "cancelled")
    }
    acknowledged = sum(promise.acknowledged for promise in ledger.promises)
    ended = [promise for promise in ledger.promises if promise.end]
    print(
        f"\nseed {options.seed}; {options.players} people, {APPS} apps, {fired:.0f} s under fire\n"
        f"killed: server {shots['server']} times, worker {shots['worker']}; PostgreSQL stopped: {shots['database']}\n"
        f"decisions: {ledger.decisions} ({', '.join(f'{count} {name}' for name, count in by.items())}), "
        f"{acknowledged} acknowledged, the others found done\n"
        f"ends: {len(ended)}, {sum(promise.end_acknowledged for promise in ended)} acknowledged; "
        f"reads: {sum(promise.reads for promise in ledger.promises)} answered, {Read.objects.count()} written down\n"
        f"notices: {Notice.objects.count()}; webhooks: {len(receiver.arrived)} messages in "
        f"{sum(receiver.times.values())} deliveries; streams resumed {sum(f.resumed for f in followers)} times; "
        f"{AuditCheckpoint.objects.count()} checkpoints\n"
        f"refusals and breaks that callers met: {dict(ledger.troubles.most_common())}"
    )
    for line in wrong[:20]:
        print(f"WRONG  {line}")
    print("Nothing lost, nothing doubled, nothing missing." if not wrong else f"{len(wrong)} things are wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
