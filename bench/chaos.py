"""Two thousand decisions while processes, links, the disk and the clocks of a service break again and again.

    ./run bench chaos [--decisions 2000] [--kills 20] [--stops 2] [--cuts 6] [--full-disk 2] [--clocks 4] [--people 6]
                      [--seed N]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own; webhooks go to a receiver of their
own. All at random moments

- server and worker get SIGKILL `--kills` times each, and PostgreSQL is stopped `--stops` times without being asked,
- links are cut `--cuts` times for some seconds, refused and silent in turn: to PostgreSQL, to the service, to the
  receiver,
- the file system of the database, a small one of its own, is filled `--full-disk` times until decisions are refused,
- the server or the worker is killed and started with a clock that is an hour early or late `--clocks` times, and keeps
  it until it is killed again. PostgreSQL has the right time.

At the end nothing that was acknowledged is lost, nothing happened twice, every webhook arrived, no sequence has a gap,
all chains verify, and where the processes served on a decision went through within 5 seconds of the fault's end; else
this names what is wrong and fails. What this machine has no means for is left out, and said.
"""

import random
import secrets
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, product
from operator import itemgetter
from typing import Any

from bench.away import BACK_WITHIN
from bench.faults.cluster import Cluster
from bench.faults.deciders import Decider, Ledger, deciding
from bench.faults.listeners import Follower, following
from bench.faults.service import APPS, Deployment, deployed, end_in_order, end_of, moved_clock, running
from bench.faults.verdict import everything_wrong, settle
from bench.staging import parse_options
from tests.config.gate import Gate

_DOWN_FOR = 1.5  # seconds that the database stays away
_CUT_FOR = (2.0, 7.0)  # seconds, the least and the most
_FULL_FOR = (2.0, 8.0)  # seconds after the first refusal
_REFUSED_WITHIN = 30  # seconds of a full disk
_STUCK_AFTER = 180  # seconds without one more decision
_DISK, _DISK_PER_DECISION = 256, 0.05  # megabytes
_KEPT = 6  # kB that an ended request may leave for ever
_FOR_EVER = """
SELECT relname, greatest(reltuples, 0)::int, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relname IN ('consent_requests', 'consent_grants', 'consent_exports', 'consent_receipts', 'consent_notices',
 'consent_audit', 'audit_facts', 'consent_log_leaves', 'consent_log_tiles') ORDER BY pg_total_relation_size(oid) DESC"""
_SHORT_WAL = {"min_wal_size": "2MB", "max_wal_size": "16MB"}  # so that no old segments are left to write into


def main() -> int:
    options = parse_options(
        "chaos", decisions=2000, kills=20, stops=2, cuts=6, full_disk=2, clocks=4, people=6, seed=secrets.randbits(32)
    )  # fmt: skip
    gates: dict[str, Gate] = {}

    def way(name: str, port: int) -> int:
        gates[name] = Gate(("127.0.0.1", port))
        return gates[name].port

    end_in_order()
    disk = _DISK + int(_DISK_PER_DECISION * options.decisions) if options.full_disk else 0
    cluster = Cluster(disk, **_SHORT_WAL if disk else {})
    with deployed("chaos", options.people, cluster, way) as deployment:
        with running(deployment.service):
            wrong = run(deployment, gates, options)
        return end_of(deployment, wrong)


def run(deployment: Deployment, gates: dict[str, Gate], options: Any) -> list[str]:
    """Decide under fire, wait until all is quiet, and look; what is wrong."""
    dice, site, apps = random.Random(options.seed), deployment.site, deployment.apps
    ledger = Ledger()
    deciders = [Decider(site, person, apps, ledger, dice.getrandbits(32)) for person in deployment.people]
    storm = Storm(deployment, gates, ledger, dice)
    empty = weighed()
    began = time.monotonic()
    followers = following(site, apps)
    with deciding(deciders):
        storm.rage(options)
    took = time.monotonic() - began
    print(f"{ledger.decisions} decisions in {took:.0f} s; waiting until the webhooks have settled …", flush=True)
    unsettled = list(settle(followers))
    if unsettled:  # the worker writes into its log what its threads are doing
        deployment.service.children["worker"].process.send_signal(signal.SIGUSR1)
    wrong = [*unsettled, *storm.wrong(), *everything_wrong(ledger, apps, deployment.receiver, followers)]
    report(deployment, ledger, followers, storm, options)
    say_kept(empty, ledger.decisions)
    return wrong


def weighed() -> dict[str, tuple[int, ...]]:
    """{table: (rows, octets of them, octets of its indexes)} of what is kept for ever."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(_FOR_EVER)
        return {name: sizes for name, *sizes in cursor.fetchall()}


def say_kept(empty: dict[str, tuple[int, ...]], requests: int) -> None:
    print(f"\n{f'kB for ever per request (wanted {_KEPT})':34} {'rows':>6} {'kept':>6} {'indexes':>8} {'sum':>6}")
    kept = {
        name: [(each - empty[name][at]) / requests for at, each in enumerate(now)] for name, now in weighed().items()
    }
    for name, (rows, own, indexes) in {**kept, "all": map(sum, zip(*kept.values(), strict=True))}.items():
        print(f"{name:34} {rows:6.2f} {own / 1000:6.2f} {indexes / 1000:8.2f} {(own + indexes) / 1000:6.2f}")


@dataclass
class Fault:
    """How often it happened, and what came of it at worst."""

    times: int = 0
    refused: int = 0  # calls, until a decision went through again
    back: float = 0.0  # seconds from its end until then, the longest


class Storm:
    """Breaks one thing after the other, each when a number of decisions is reached that was drawn beforehand."""

    def __init__(self, deployment: Deployment, gates: dict[str, Gate], ledger: Ledger, dice: random.Random) -> None:
        self.service, self.cluster = deployment.service, deployment.cluster
        self.gates, self.ledger, self.dice = gates, ledger, dice
        self.faults: dict[str, Fault] = defaultdict(Fault)

    def rage(self, options: Any) -> None:
        """Until so many decisions are made and all has happened, or something is wrong."""
        for number, blow in self._drawn(options):
            self._await(number)
            time.sleep(self.dice.random() * 0.2)  # anywhere within whatever goes on
            refused = self.ledger.troubles.total()
            fault = self.faults[blow()]
            over_at = time.monotonic()
            self._await(self.ledger.decisions + 1)
            fault.times += 1
            fault.refused += self.ledger.troubles.total() - refused
            fault.back = max(fault.back, time.monotonic() - over_at)
        self._await(options.decisions)

    def _await(self, decisions: int) -> None:
        """Until there are so many, or something is wrong."""
        moved_at, seen = time.monotonic(), self.ledger.decisions
        while self.ledger.decisions < decisions and not self.ledger.defects:
            if self.ledger.decisions > seen:
                moved_at, seen = time.monotonic(), self.ledger.decisions
            if time.monotonic() - moved_at > _STUCK_AFTER:
                self.ledger.defects.append(f"no decision for {_STUCK_AFTER} seconds")
            time.sleep(0.02)

    def _drawn(self, options: Any) -> list[tuple[int, Callable[[], str]]]:
        """Every blow with its number of decisions, in order. A blow ends with its fault, whose name it gives back."""
        clocks_moved = options.clocks if moved_clock(1) else 0
        links, clocks = product(self.gates, (False, True)), product((1, -1), ("server", "worker"))
        blows = [
            *[partial(self._kill, name) for name in ("server", "worker")] * options.kills,
            *[self._stop] * options.stops,
            *[partial(self._cut, *link) for link in islice(cycle(links), options.cuts)],
            *[self._fill] * (options.full_disk * self.cluster.has_own_disk),
            *[partial(self._move_clock, *clock) for clock in islice(cycle(clocks), clocks_moved)],
        ]  # fmt: skip
        numbers = [self.dice.randrange(1, max(2, options.decisions * 19 // 20)) for _ in blows]
        return sorted(zip(numbers, blows, strict=True), key=itemgetter(0))

    def _kill(self, name: str) -> str:
        self.service.kill(name)
        return f"{name} killed"

    def _move_clock(self, hours: int, name: str) -> str:
        self.service.kill(name, **moved_clock(hours))
        return f"clock of the {name} {hours:+} h"

    def _stop(self) -> str:
        self.cluster.stop()
        time.sleep(_DOWN_FOR)
        self.cluster.start()
        return "PostgreSQL stopped"

    def _cut(self, link: str, is_silent: bool) -> str:
        gate = self.gates[link]
        (gate.be_silent if is_silent else gate.refuse)()
        time.sleep(self.dice.uniform(*_CUT_FOR))
        gate.open()
        return f"link to {link} {'silent' if is_silent else 'refused'}"

    def _fill(self) -> str:
        refused, began = self.ledger.troubles.total(), time.monotonic()
        ends = began + _REFUSED_WITHIN
        while time.monotonic() < ends:
            self.cluster.fill_disk()
            if self.ledger.troubles.total() == refused:  # until the first refusal
                ends = min(began + _REFUSED_WITHIN, time.monotonic() + self.dice.uniform(*_FULL_FOR))
            time.sleep(0.02)
        self.cluster.free_disk()
        return "disk full"

    def wrong(self) -> Iterator[str]:
        """What was not back in time although no process of the service had to start again."""
        for name, fault in self.faults.items():
            if fault.back > BACK_WITHIN and not name.endswith(("killed", "h")):
                yield f"after {name} the next decision went through after {fault.back:.1f} s"

    def times(self, name: str) -> int:
        return sum(fault.times for each, fault in self.faults.items() if name in each)


def report(deployment: Deployment, ledger: Ledger, followers: list[Follower], storm: Storm, options: Any) -> None:
    from consent.exports.models import Read
    from consent.log.models import AuditCheckpoint
    from consent.notices.models import Notice

    by = Counter(outcome.decision for outcome in ledger.outcomes)
    ended = [outcome for outcome in ledger.outcomes if outcome.end]
    receiver = deployment.receiver
    full = f"{storm.times('disk')} (PostgreSQL gave up {deployment.cluster.panics} times)"
    if options.full_disk and not deployment.cluster.has_own_disk:
        full = "left out: no file system can be mounted here"
    moved = str(storm.times("clock"))
    if options.clocks and not moved_clock(1):
        moved = "left out: libfaketime is not installed"
    print(
        f"\nseed {options.seed}; {options.people} people, {APPS} apps\n"
        f"killed: server {storm.times('server killed')} times, worker {storm.times('worker killed')}; "
        f"PostgreSQL stopped: {storm.times('stopped')}; links cut: {storm.times('link')}; disk full: {full}; "
        f"clocks moved: {moved}\n"
        f"{'fault':34} {'times':>6} {'refused':>8} {'next decision, s':>17}"
    )
    for name, fault in sorted(storm.faults.items()):
        print(f"{name:34} {fault.times:6} {fault.refused:8} {fault.back:17.1f}")
    print(
        f"decisions: {ledger.decisions} ({', '.join(f'{count} {name}' for name, count in by.items())}), "
        f"{ledger.acknowledged} acknowledged, the others found done\n"
        f"ends: {len(ended)}, {sum(outcome.end_acknowledged for outcome in ended)} acknowledged; "
        f"reads: {sum(outcome.reads for outcome in ledger.outcomes)} answered, {Read.objects.count()} written down\n"
        f"notices: {Notice.objects.count()}; webhooks: {len(receiver.arrived)} messages in "
        f"{sum(receiver.times.values())} deliveries; streams resumed {sum(f.resumed for f in followers)} times; "
        f"{AuditCheckpoint.objects.count()} checkpoints\n"
        f"refusals and breaks that callers met: {dict(ledger.troubles.most_common())}"
    )
