"""A base backup that was made under load is restored with its write-ahead log: to the archive's end, and to a moment.

    ./run bench backups [--decisions 20] [--people 4]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own that archives its write-ahead log.
People decide and apps read without a pause: before the base backup, while it is made, and after it. Then the machine
is gone. Of what was acknowledged before the last segment was archived nothing is missing in a cluster that recovered
from the backup and the archive; one that recovered to a moment has all from before it and nothing from after it. Both
hold before `manage.py verify_restore`, once the log was told of its restore, and people go on with the first. Else
this names what is wrong and fails.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.faults.cluster import Cluster
from bench.faults.deciders import Decider, Ledger, Outcome, deciding
from bench.faults.service import Deployment, Service, deployed, end_of, running
from bench.faults.verdict import doubled, gaps, missing
from bench.staging import close_connections, parse_options
from deploy.local.place import PYTHON, ROOT

_OF_THE_LOG = {"signer", "mirror"}  # lines that say that the log is further than the backup, before `restore_log`


@dataclass(frozen=True)
class Taken:
    """What was promised before a moment of the backup, and when that was by the database's clock."""

    outcomes: list[Outcome]
    at: str = ""


@dataclass(frozen=True)
class Restored:
    """A cluster that recovered, with a folder of its own that has the keys, the signer's memory and the mirror."""

    cluster: Cluster
    env: dict[str, str]
    began: float

    def manage(self, *arguments: str) -> tuple[int, str]:
        """One of Django's commands there: its exit code, and what it said."""
        done = subprocess.run(
            [PYTHON, "manage.py", *arguments], cwd=ROOT, env={**os.environ, **self.env}, check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout


def main() -> int:
    options = parse_options("backups", decisions=20, people=4)
    with deployed("backups", options.people, Cluster.archiving()) as deployment:
        deployment.env["LOG_MIRROR"] = os.environ["LOG_MIRROR"] = str(deployment.home / "mirror")
        return end_of(deployment, run(deployment, options))


def run(deployment: Deployment, options: Any) -> list[str]:
    """Back up under load, lose the machine, restore twice, and go on; what is wrong."""
    ledger, site, apps = Ledger(), deployment.site, deployment.apps
    with running(deployment.service):
        deciders = [Decider(site, person, apps, ledger, seed) for seed, person in enumerate(deployment.people)]
        with deciding(deciders):
            base, middle, last = backed_up(deployment.cluster, ledger, options.decisions)
    close_connections()
    deployment.cluster.stop()
    wrong = list(ledger.defects)
    print(f"{ledger.decisions} decisions in all, {len(middle.outcomes)} before the moment, {len(last.outcomes)} before "
          f"the last segment was archived", flush=True)  # fmt: skip
    with restored(deployment, base, middle.at) as to_a_moment:
        wrong += [*missing(middle.outcomes), *from_after(middle.at), *made_good(to_a_moment)]
        wrong += verified(to_a_moment)
    with restored(deployment, base) as to_the_end:
        wrong += [*missing(last.outcomes), *made_good(to_the_end)]
        wrong += [*gone_on(deployment, to_the_end, deciders, options.decisions), *missing(last.outcomes), *doubled()]
        wrong += [*gaps(deployment.apps), *verified(to_the_end)]
    return wrong


def backed_up(cluster: Cluster, ledger: Ledger, decisions: int) -> tuple[Path, Taken, Taken]:
    """The base backup, and what was promised before a moment after it and before the archive's end."""
    ledger.wait_for(decisions)
    before, began = ledger.decisions, time.monotonic()
    base = cluster.back_up()
    print(f"The base backup took {time.monotonic() - began:.1f} s; {ledger.decisions - before} decisions meanwhile")
    ledger.wait_for(decisions)
    outcomes = ledger.so_far()
    (at,) = cluster.query_row("SELECT clock_timestamp()::text")
    middle = Taken(outcomes, at)
    ledger.wait_for(decisions)
    last = Taken(ledger.so_far())
    print(f"{cluster.archive_all()} is the last segment that was waited for", flush=True)
    ledger.wait_for(decisions)
    return base, middle, last


@contextmanager
def restored(deployment: Deployment, base: Path, until: str = "") -> Iterator[Restored]:
    """A second cluster, which this process works on meanwhile."""
    from django.db import connection

    home = deployment.home / f"restored-{'moment' if until else 'end'}"
    shutil.copytree(
        deployment.home, home, ignore=shutil.ignore_patterns("restored-*", "queue*", "*.log", "*.pid", "beat*")
    )
    began = time.monotonic()
    cluster = Cluster.restored(base, deployment.cluster.archive, until)
    print(f"\nRestored to {until or 'the end of the archive'} in {time.monotonic() - began:.1f} s", flush=True)
    close_connections()
    own, connection.settings_dict["PORT"] = connection.settings_dict["PORT"], cluster.port
    try:
        env = {"DATABASE_URL": cluster.url, "CONSENT_VAR": str(home), "LOG_MIRROR": str(home / "mirror")}
        yield Restored(cluster, {**deployment.env, **env}, began)
    finally:
        close_connections()
        connection.settings_dict["PORT"] = own
        cluster.remove()


def from_after(moment: str) -> Iterator[str]:
    """Entries of the audit that a recovery to this moment should not have brought."""
    from consent.ledger.models import AuditEntry

    for entry in AuditEntry.objects.filter(at__gt=moment).order_by("pk")[:5]:
        yield f"{entry.kind} of {entry.at} is in a database that was restored to {moment}"


def made_good(world: Restored) -> Iterator[str]:
    """Nothing but the log is found wanting, and it is told of the restore as the handbook says."""
    code, output = world.manage("verify_restore", "--quick")
    faults = [line[10:] for line in output.splitlines() if line.startswith("FAILS")]
    yield from (fault for fault in faults if fault.partition(":")[0] not in _OF_THE_LOG)
    if not faults and code:
        yield f"verify_restore --quick: {output}"
    if not faults:
        return
    code, output = world.manage("restore_log", "--from-mirror")
    print(output.strip(), flush=True)
    if code:
        yield f"restore_log --from-mirror: {output}"


def gone_on(deployment: Deployment, world: Restored, deciders: list[Decider], decisions: int) -> Iterator[str]:
    """The same people, with the sessions and vaults that they had, decide at a service on the restored database."""
    ledger = Ledger()
    service = Service(deployment.service.port, world.env, Path(world.env["CONSENT_VAR"]))
    with running(service):
        print(f"Ready {time.monotonic() - world.began:.1f} s after the restore began", flush=True)
        for decider in deciders:
            decider.owner.take_older_state()  # as each person has to say after a restore
        again = [
            Decider(deployment.site, decider.person, deployment.apps, ledger, 99 + seed, decider.owner)
            for seed, decider in enumerate(deciders)
        ]
        with deciding(again):
            ledger.wait_for(decisions)
    print(f"{ledger.decisions} decisions at the restored service", flush=True)
    yield from ledger.defects
    if ledger.decisions < decisions:
        yield f"{ledger.decisions} of {decisions} decisions at the restored service"
    yield from missing(ledger.outcomes)


def verified(world: Restored) -> Iterator[str]:
    """Every entry enters the log, and `verify_restore` has nothing to say."""
    code, output = world.manage("sequence_log", "--once")
    if code:
        yield f"sequence_log: {output}"
    code, output = world.manage("verify_restore")
    lines = [line for line in output.splitlines() if line.startswith(("FAILS", "holds     a", "All"))]
    print("\n".join(lines), flush=True)
    if code or "Left out: nothing." not in output:
        yield f"verify_restore: {output}"
