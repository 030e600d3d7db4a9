"""Two thousand decisions while the server, the worker and the database are killed again and again.

    ./run bench chaos [--decisions 2000] [--kills 20] [--stops 2] [--players 6] [--seed N]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own; webhooks go to a receiver of their
own. Server and worker get SIGKILL `--kills` times each, PostgreSQL is stopped `--stops` times without being asked, all
at random moments. At the end nothing that was acknowledged is lost, nothing happened twice, every webhook arrived, no
sequence has a gap and all chains verify; else this names what is wrong and fails.
"""

import argparse
import random
import secrets
import signal
import sys
import time
from typing import Any

from bench.mayhem.cluster import Cluster
from bench.mayhem.following import Follower
from bench.mayhem.players import Ledger, Player
from bench.mayhem.stage import APPS, Stack, Stage, end_of, running, settle, stage, verify_audit
from bench.mayhem.verdict import everything_wrong

_DOWN_FOR = 1.5  # seconds that the database stays away
_STUCK_AFTER = 180  # seconds without one more decision


def main() -> int:
    options = arguments()
    with stage("chaos", options.players) as scene:
        with running(scene.service):
            wrong = play(scene, options)
        return end_of(scene, wrong)


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench chaos")
    parser.add_argument("--decisions", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20, help="of the server, and as many of the worker")
    parser.add_argument("--stops", type=int, default=2, help="of PostgreSQL")
    parser.add_argument("--players", type=int, default=6, help="people who decide at the same time")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    return parser.parse_args()


def play(scene: Stage, options: Any) -> list[str]:
    """Decide under fire, wait until all is quiet, and look; what is wrong."""
    dice, site = random.Random(options.seed), scene.site
    ledger = Ledger(options.decisions)
    followers = [Follower(site, app) for app in scene.apps]
    players = [Player(site, person, scene.apps, ledger, dice.getrandbits(32)) for person in scene.people]
    began = time.monotonic()
    for thread in (*followers, *players):
        thread.start()
    shots = break_things(scene.service, scene.cluster, ledger, dice, options)
    for player in players:
        player.join(_STUCK_AFTER)
    fired = time.monotonic() - began
    print(f"{ledger.decisions} decisions in {fired:.0f} s; waiting until the webhooks have settled …", flush=True)
    unsettled = list(settle(followers))
    if unsettled:  # the worker writes into its log what its threads are doing
        scene.service.children["worker"].process.send_signal(signal.SIGUSR1)
    wrong = [*unsettled, *everything_wrong(ledger, scene.apps, scene.receiver, followers), *verify_audit()]
    report(scene, ledger, followers, shots, fired, options)
    return wrong


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


def report(
    scene: Stage, ledger: Ledger, followers: list[Follower], shots: dict[str, int], fired: float, options: Any
) -> None:
    """Print the figures."""
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
        f"notices: {Notice.objects.count()}; webhooks: {len(scene.receiver.arrived)} messages in "
        f"{sum(scene.receiver.times.values())} deliveries; streams resumed {sum(f.resumed for f in followers)} times; "
        f"{AuditCheckpoint.objects.count()} checkpoints\n"
        f"refusals and breaks that callers met: {dict(ledger.troubles.most_common())}"
    )


if __name__ == "__main__":
    sys.exit(main())
