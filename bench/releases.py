"""Two releases on one database, through a rolling upgrade under load.

    ./run bench releases [--earlier TAG] [--decisions 20] [--people 4]

The earlier release is TAG, or the newest one that is tagged before this commit; where there is none, this says so and
ends with 5. It makes the database and serves, with a worker, while people decide, apps read and follow events, and
webhooks arrive. Then this release migrates the database, comes to stand beside the earlier one behind nginx, which
hands each request to the next of them, and at last serves alone. Nobody is answered with a 5xx, each release reads
what the other wrote, and nothing that was acknowledged is lost or doubled; else this names what is wrong and fails. So
does a migration of TAG that is another one here.
"""

import argparse
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.faults.cluster import Cluster
from bench.faults.deciders import Decider, Ledger, deciding
from bench.faults.listeners import Follower, Receiver
from bench.faults.release import Front, Release, changed_since, newest_tag, worktree
from bench.faults.service import end_in_order, said_wrong
from bench.faults.verdict import everything_wrong, settle
from bench.staging import LIMITS_OFF, PURPOSE, SCOPE, StagedApp, StagedPerson
from consent_bridge.errors import BridgeError
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key

NO_EARLIER = 5  # the exit code, which `./run prove` shows as left out
_CROSSINGS = 6
_STAGE = """
import json, sys
import django
django.setup()
from bench.staging import add_webhook, make_apps, make_people
apps, people = make_apps(2), make_people(int(sys.argv[1]))
for app in apps:
    add_webhook(app, sys.argv[2], sys.argv[3])
print(json.dumps([[vars(app) for app in apps], [vars(person) for person in people]]))
"""


@dataclass
class Upgrade:
    """Both releases behind one address, and who uses it meanwhile."""

    earlier: Release
    later: Release
    front: Front
    receiver: Receiver
    apps: list[StagedApp]
    people: list[StagedPerson]

    @property
    def site(self) -> str:
        return f"http://localhost:{self.front.port}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench releases")
    parser.add_argument("--earlier", metavar="TAG", help="the earlier release")
    parser.add_argument("--decisions", type=int, default=20, help="in each of the four parts")
    parser.add_argument("--people", type=int, default=4, help="who decide at the same time")
    options = parser.parse_args()
    tag = options.earlier or newest_tag()
    if not tag:
        print("no earlier release")
        return NO_EARLIER
    end_in_order()
    home = Path(tempfile.mkdtemp(prefix="consent-releases-"))
    home.chmod(0o755)  # nginx's workers have another account
    with ExitStack() as stack:
        stack.enter_context(worktree(tag, home / "source"))
        wrong = [*changed_since(tag), *run(made(tag, home, options.people, stack), options)]
    return said_wrong(wrong, home, "Nothing lost, nothing doubled, no 5xx.")


def made(tag: str, home: Path, people: int, stack: ExitStack) -> Upgrade:
    """The database as the earlier release makes it, with apps and people; nothing serves yet."""
    cluster = Cluster()
    stack.callback(cluster.remove)
    front, receiver = Front(home), Receiver("whsec_" + secrets.token_hex(16))
    env = {
        **LIMITS_OFF, "BASE_URL": f"http://localhost:{front.port}", "DATABASE_URL": cluster.url, "LOG_LEVEL": "WARNING",
        "WEBHOOK_INTERNAL_ADDRESSES": "true", "DJANGO_SETTINGS_MODULE": "config.settings",
        "LOG_SIGNER_FILE": str(home / "log-signer.json"),
    }  # fmt: skip
    earlier = Release(f"the earlier release, {tag}", home / "source", home / "earlier", env)
    earlier.manage("make_keys", "--directory", str(earlier.home))
    earlier.manage("migrate", "-v0")
    earlier.manage("collectstatic", "-v0", "--no-input")
    apps, staged = json.loads(earlier.python("-c", _STAGE, str(people + 1), receiver.url, receiver.secret))
    later = earlier.beside("this release", home / "later", env)
    for release in (earlier, later):
        stack.callback(release.stop)
    stack.callback(front.end)
    return Upgrade(
        earlier, later, front, receiver, [StagedApp(**app) for app in apps], [StagedPerson(**each) for each in staged]
    )


def run(upgrade: Upgrade, options: Any) -> list[str]:
    """The four parts, one after the other; what is wrong."""
    earlier, later, front, site = upgrade.earlier, upgrade.later, upgrade.front, upgrade.site
    earlier.start()
    front.lead_to(earlier)
    time.sleep(1)
    ledger = Ledger()
    *people, onlooker = upgrade.people
    owner = onlooker.arrive(site)
    followers = [Follower(site, app) for app in upgrade.apps]
    for follower in followers:
        follower.start()
    with deciding([Decider(site, person, upgrade.apps, ledger, seed) for seed, person in enumerate(people)]):
        wrong = [*part("the earlier release alone", upgrade, ledger, options.decisions)]
        began = time.monotonic()
        later.manage("make_keys", "--directory", str(later.home))
        later.manage("migrate", "-v0")
        print(f"Migrated within {time.monotonic() - began:.1f} s", flush=True)
        wrong += part("the earlier release on this release's tables", upgrade, ledger, options.decisions)
        later.manage("collectstatic", "-v0", "--no-input")
        later.start()
        front.lead_to(earlier, later)
        wrong += crossings(upgrade, owner, onlooker)
        wrong += part("both", upgrade, ledger, options.decisions)
        front.lead_to(later)
        earlier.stop()
        wrong += part("this release alone", upgrade, ledger, options.decisions)
    return [*wrong, *verdict(upgrade, ledger, followers)]


def part(name: str, upgrade: Upgrade, ledger: Ledger, decisions: int) -> Iterator[str]:
    """So many decisions; afterwards what failed meanwhile."""
    before, releases = ledger.decisions, (upgrade.earlier, upgrade.later)
    ledger.wait_for(decisions)
    answers = upgrade.front.answers()
    counts = " and ".join(f"{answers.of(release)} to {release.name}" for release in releases)
    print(f"{name}: {ledger.decisions - before} decisions, requests: {counts}; {answers.failed.total()} with 5xx, "
          f"the slowest {answers.slowest:.1f} s", flush=True)  # fmt: skip
    yield from (f"{name}: {times} times {what}" for what, times in answers.failed.items())


def crossings(upgrade: Upgrade, owner: Owner, onlooker: StagedPerson) -> Iterator[str]:
    """Asked at one release, looked at and read at both."""
    sites = [f"http://localhost:{release.port}" for release in (upgrade.earlier, upgrade.later)]
    key, app = generate_connector_key(), upgrade.apps[0]
    for number in range(_CROSSINGS):
        first, second = (app.client(site) for site in (sites if number % 2 else sites[::-1]))
        with first, second:
            try:
                asked = first.request_consent(onlooker.name, SCOPE, purpose=PURPOSE, key=key)
                seen = second.status(asked.request_id).status
                owner.approve(owner.review(asked.request_id))
                read = [client.read(asked, key).data for client in (first, second)]
                ended = second.end(asked.request_id).status
                after = first.status(asked.request_id).grant
            except BridgeError as error:
                yield f"crossing {number + 1}: {error}"
                continue
        if seen != "pending" or read[0] != read[1] or not read[0] or after is None or after.status != "released":
            yield f"crossing {number + 1}: {seen}, {read}, {ended}, {after}"
    print(f"{_CROSSINGS} requests were asked at one release, and looked at, read and ended at the other", flush=True)


def verdict(upgrade: Upgrade, ledger: Ledger, followers: list[Follower]) -> list[str]:
    """What the database says when all is quiet, as this release reads it."""
    os.environ.update({name: value for name, value in upgrade.later.env.items() if name != "PYTHONPATH"})
    import django

    django.setup()
    wrong = [*settle(followers), *everything_wrong(ledger, upgrade.apps, upgrade.receiver, followers)]
    print(f"{ledger.decisions} decisions, {ledger.acknowledged} acknowledged; callers met {dict(ledger.troubles)}; "
          f"streams resumed {sum(follower.resumed for follower in followers)} times", flush=True)  # fmt: skip
    return wrong


if __name__ == "__main__":
    sys.exit(main())
