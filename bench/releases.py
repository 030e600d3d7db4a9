"""Two releases on one database, through a rolling upgrade under load.

    ./run bench releases [--earlier REV] [--decisions 20] [--players 4]

The earlier release is unpacked from this repository's history: REV, or the newest commit to whose migrations others
were added since and none was changed. It makes the database and serves, with a worker, while people decide, apps read
and follow events, and webhooks arrive. Then this release migrates the database, comes to stand beside the earlier one
behind nginx, which hands each request to the next of them, and at last serves alone. Nobody is answered with a 5xx,
each release reads what the other wrote, and nothing that was acknowledged is lost or doubled; else this names what is
wrong and fails. So does a migration of REV that is another one here.
"""

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cast import PURPOSE, SCOPE, AppPart, PersonPart
from bench.mayhem.cluster import Cluster
from bench.mayhem.following import Follower
from bench.mayhem.players import Ledger, Player
from bench.mayhem.receiver import Receiver
from bench.mayhem.releases import Front, Release, Told, changed_since, newest_with_other_migrations, shared, unpack
from bench.mayhem.stage import LIMITS_OFF, end_in_order, settle, verify_audit
from bench.mayhem.verdict import everything_wrong
from consent_bridge.errors import BridgeError
from consent_bridge.sealed import generate_connector_key
from deploy.local.place import ROOT, Stop

_STUCK_AFTER = 300  # seconds without so many decisions
_CROSSINGS = 6
_TRIP = (  # what each release has to have answered while both serve
    "POST /api/v1/request-consent", "GET /api/v1/consent-status", "GET /api/v1/consent-export",
    "POST /consent/requests/…/decision",
)  # fmt: skip
_CAST = """
import json, sys
import django
django.setup()
from bench.cast import make_apps, make_people
from common import encryption
from developers.models import WebhookEndpoint
apps, people = make_apps(2), make_people(int(sys.argv[1]))
for app in apps:
    WebhookEndpoint.objects.create(app_id=app.pk, url=sys.argv[2], secret=encryption.sealed(sys.argv[3]))
print(json.dumps([[vars(app) for app in apps], [vars(person) for person in people]]))
"""


@dataclass
class Upgrade:
    """Both releases behind one address, and who uses it meanwhile."""

    earlier: Release
    later: Release
    front: Front
    receiver: Receiver
    apps: list[AppPart]
    people: list[PersonPart]

    @property
    def site(self) -> str:
        return f"http://localhost:{self.front.port}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench releases")
    parser.add_argument("--earlier", metavar="REV", help="the commit of the earlier release")
    parser.add_argument("--decisions", type=int, default=20, help="in each of the four parts")
    parser.add_argument("--players", type=int, default=4, help="people who decide at the same time")
    options = parser.parse_args()
    end_in_order()
    home = Path(tempfile.mkdtemp(prefix="consent-releases-"))
    home.chmod(0o755)  # nginx's workers have another account
    try:
        with ExitStack() as stack:
            wrong = upgrade(home, options, stack)
    except Stop as reason:
        shutil.rmtree(home)
        print(reason)
        return 1
    for line in wrong[:20]:
        print(f"WRONG  {line}")
    if wrong:
        print(f"{len(wrong)} things are wrong. The logs stay in {home}")
        return 1
    shutil.rmtree(home)
    print("Nothing lost, nothing doubled, no 5xx.")
    return 0


def upgrade(home: Path, options: Any, stack: ExitStack) -> list[str]:
    commit = options.earlier or newest_with_other_migrations()
    name = unpack(commit, home / "source")
    print(f"The earlier release is {name}", flush=True)
    cluster = Cluster()
    stack.callback(cluster.remove)
    front, receiver = Front(home), Receiver("whsec_" + secrets.token_hex(16))
    env = {
        **LIMITS_OFF, "BASE_URL": f"http://localhost:{front.port}", "DATABASE_URL": cluster.url, "LOG_LEVEL": "WARNING",
        "WEBHOOK_INTERNAL_ADDRESSES": "true", "DJANGO_SETTINGS_MODULE": "config.settings",
        "LOG_SIGNER_FILE": str(home / "log-signer.json"),
    }  # fmt: skip
    earlier = Release(f"the earlier release, {name}", home / "source", home / "earlier", env)
    for command in (
        ["make_keys", "--directory", str(earlier.home)],
        ["migrate", "-v0"],
        ["collectstatic", "-v0", "--no-input"],
    ):
        earlier.manage(*command)
    apps, people = json.loads(earlier.python("-c", _CAST, str(options.players + 1), receiver.url, receiver.secret))
    shared(earlier.home, home / "later", ("queue", "queue-control"))
    later = Release("this release", ROOT, home / "later", env)
    scene = Upgrade(
        earlier, later, front, receiver, [AppPart(**app) for app in apps], [PersonPart(**each) for each in people]
    )
    for release in (earlier, later):
        stack.callback(release.stop)
    stack.callback(front.end)
    return [*changed_since(name), *play(scene, options)]


def play(scene: Upgrade, options: Any) -> list[str]:
    """The four parts, one after the other; what is wrong."""
    scene.earlier.start()
    scene.front.lead_to(scene.earlier)
    time.sleep(1)
    ledger = Ledger(10**9)
    *people, onlooker = scene.people
    owner = onlooker.arrive(scene.site)
    followers = [Follower(scene.site, app) for app in scene.apps]
    players = [Player(scene.site, person, scene.apps, ledger, seed) for seed, person in enumerate(people)]
    for thread in (*followers, *players):
        thread.start()
    wrong = [*part("the earlier release alone", scene, ledger, options.decisions)]
    began = time.monotonic()
    scene.later.manage("make_keys", "--directory", str(scene.later.home))
    scene.later.manage("migrate", "-v0")
    print(f"Migrated within {time.monotonic() - began:.1f} s", flush=True)
    wrong += part("the earlier release on this release's tables", scene, ledger, options.decisions)
    scene.later.manage("collectstatic", "-v0", "--no-input")
    scene.later.start()
    scene.front.lead_to(scene.earlier, scene.later)
    wrong += crossings(scene, owner, onlooker)
    wrong += part("both", scene, ledger, options.decisions, of=_TRIP)
    scene.front.lead_to(scene.later)
    scene.earlier.stop()
    wrong += part("this release alone", scene, ledger, options.decisions)
    ledger.wanted = 0
    for player in players:
        player.join(_STUCK_AFTER)
    return [*wrong, *verdict(scene, ledger, followers)]


def part(name: str, scene: Upgrade, ledger: Ledger, decisions: int, of: tuple[str, ...] = ()) -> Iterator[str]:
    """So many decisions; afterwards what failed meanwhile, and what a release has not answered that it should have."""
    before = ledger.decisions
    ledger.go_on(decisions, _STUCK_AFTER)
    told: Told = scene.front.told()
    counts = [sum(told.of(release).values()) for release in (scene.earlier, scene.later)]
    print(f"{name}: {ledger.decisions - before} decisions, {counts[0]} requests to the earlier and {counts[1]} to this "
          f"release, {sum(told.failed.values())} with 5xx, the slowest {told.slowest:.1f} s", flush=True)  # fmt: skip
    yield from (f"{name}: {times} times {what}" for what, times in told.failed.items())
    for release in (scene.earlier, scene.later):
        answered = told.of(release)
        yield from (f"{name}: {release.name} was never asked {kind}" for kind in of if not answered[kind])


def crossings(scene: Upgrade, owner: Any, onlooker: PersonPart) -> Iterator[str]:
    """Asked at one release, looked at and read at both."""
    sites = [f"http://localhost:{release.port}" for release in (scene.earlier, scene.later)]
    key, app = generate_connector_key(), scene.apps[0]
    for number in range(_CROSSINGS):
        first, second = (app.client(site) for site in (sites if number % 2 else sites[::-1]))
        with first, second:
            try:
                asked = first.request_consent(onlooker.user_id, SCOPE, purpose=PURPOSE, key=key)
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


def verdict(scene: Upgrade, ledger: Ledger, followers: list[Follower]) -> list[str]:
    """What the database says when all is quiet, as this release reads it."""
    os.environ.update({name: value for name, value in scene.later.env.items() if name != "PYTHONPATH"})
    import django

    django.setup()
    wrong = [*settle(followers), *everything_wrong(ledger, scene.apps, scene.receiver, followers), *verify_audit()]
    acknowledged = sum(promise.acknowledged for promise in ledger.promises)
    print(f"{ledger.decisions} decisions, {acknowledged} acknowledged; callers met {dict(ledger.troubles)}; streams "
          f"resumed {sum(follower.resumed for follower in followers)} times", flush=True)  # fmt: skip
    return wrong


if __name__ == "__main__":
    sys.exit(main())
