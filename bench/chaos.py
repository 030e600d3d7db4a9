"""Two thousand decisions while the server, the worker and the database are killed again and again.

    ./run bench chaos [--decisions 2000] [--kills 20] [--stops 2] [--people 6] [--seed N]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own; webhooks go to a receiver of their
own. Server and worker get SIGKILL `--kills` times each, PostgreSQL is stopped `--stops` times without being asked, all
at random moments. At the end nothing that was acknowledged is lost, nothing happened twice, every webhook arrived, no
sequence has a gap and all chains verify; else this names what is wrong and fails.
"""

import random
import secrets
import signal
import time
from collections import Counter
from typing import Any

from bench.faults.cluster import Cluster
from bench.faults.deciders import Decider, Ledger, deciding
from bench.faults.listeners import Follower
from bench.faults.service import APPS, Deployment, Service, deployed, end_of, running
from bench.faults.verdict import everything_wrong, settle
from bench.staging import parse_options

_DOWN_FOR = 1.5  # seconds that the database stays away
_STUCK_AFTER = 180  # seconds without one more decision


def main() -> int:
    options = parse_options("chaos", decisions=2000, kills=20, stops=2, people=6, seed=secrets.randbits(32))
    with deployed("chaos", options.people) as deployment:
        with running(deployment.service):
            wrong = run(deployment, options)
        return end_of(deployment, wrong)


def run(deployment: Deployment, options: Any) -> list[str]:
    """Decide under fire, wait until all is quiet, and look; what is wrong."""
    dice, site, apps = random.Random(options.seed), deployment.site, deployment.apps
    ledger = Ledger(options.decisions)
    followers = [Follower(site, app) for app in apps]
    deciders = [Decider(site, person, apps, ledger, dice.getrandbits(32)) for person in deployment.people]
    began = time.monotonic()
    for follower in followers:
        follower.start()
    with deciding(deciders):
        kills = break_things(deployment.service, deployment.cluster, ledger, dice, options)
    took = time.monotonic() - began
    print(f"{ledger.decisions} decisions in {took:.0f} s; waiting until the webhooks have settled …", flush=True)
    unsettled = list(settle(followers))
    if unsettled:  # the worker writes into its log what its threads are doing
        deployment.service.children["worker"].process.send_signal(signal.SIGUSR1)
    wrong = [*unsettled, *everything_wrong(ledger, apps, deployment.receiver, followers)]
    report(deployment, ledger, followers, kills, options)
    return wrong


def break_things(
    service: Service, cluster: Cluster, ledger: Ledger, dice: random.Random, options: Any
) -> dict[str, int]:
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


def report(
    deployment: Deployment, ledger: Ledger, followers: list[Follower], kills: dict[str, int], options: Any
) -> None:
    from consent.exports.models import Read
    from consent.log.models import AuditCheckpoint
    from consent.notices.models import Notice

    by = Counter(outcome.decision for outcome in ledger.outcomes)
    ended = [outcome for outcome in ledger.outcomes if outcome.end]
    receiver = deployment.receiver
    print(
        f"\nseed {options.seed}; {options.people} people, {APPS} apps\n"
        f"killed: server {kills['server']} times, worker {kills['worker']}; PostgreSQL stopped: {kills['database']}\n"
        f"decisions: {ledger.decisions} ({', '.join(f'{count} {name}' for name, count in by.items())}), "
        f"{ledger.acknowledged} acknowledged, the others found done\n"
        f"ends: {len(ended)}, {sum(outcome.end_acknowledged for outcome in ended)} acknowledged; "
        f"reads: {sum(outcome.reads for outcome in ledger.outcomes)} answered, {Read.objects.count()} written down\n"
        f"notices: {Notice.objects.count()}; webhooks: {len(receiver.arrived)} messages in "
        f"{sum(receiver.times.values())} deliveries; streams resumed {sum(f.resumed for f in followers)} times; "
        f"{AuditCheckpoint.objects.count()} checkpoints\n"
        f"refusals and breaks that callers met: {dict(ledger.troubles.most_common())}"
    )
