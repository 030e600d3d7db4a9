"""Two releases on one database, through a rolling upgrade under load.

    ./run bench releases [--earlier TAG] [--decisions 20] [--people 4]

The earlier release is TAG, or the newest one that is tagged before this commit; where there is none, this says so and
ends with 5. It makes the database and serves, with a worker, while people decide, apps read and follow events, and
webhooks arrive. Then this release migrates the database, comes to stand beside the earlier one behind nginx, which
hands each request to the next of them, and at last serves alone. Nobody is answered with a 5xx, each release reads
what the other wrote, and nothing that was acknowledged is lost or doubled; else this names what is wrong and fails. So
does a migration of TAG that is another one here.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.faults.cluster import Cluster
from bench.faults.deciders import Decider, Ledger, deciding
from bench.faults.listeners import Follower, Receiver, following
from bench.faults.service import configure_nginx, end_in_order, report, start_nginx
from bench.faults.verdict import everything_wrong, settle
from bench.staging import LIMITS_OFF, PURPOSE, SCOPE, StagedApp, StagedPerson, parse_options
from consent_bridge.errors import BridgeError
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key
from deploy.local.place import ROOT, must
from deploy.local.serving import Child, _end, _server, _start, _wait_until_ready, _worker, free_port

_LOCKED = ("requirements.lock", "requirements-dev.lock")


@dataclass
class Release:
    """`home` is its CONSENT_VAR; database, keys, queue and the log signer's memory are those of both."""

    name: str
    source: Path
    home: Path
    env: dict[str, str]
    port: int = field(default_factory=free_port)
    children: list[Child] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home.mkdir(exist_ok=True)
        self.env = {
            **os.environ, **self.env, "CONSENT_VAR": str(self.home), "RELEASE_CHECK": "warn",
            "PYTHONPATH": f"{self.source}:{self.source / 'bridge'}",
        }  # fmt: skip

    def beside(self, name: str, home: Path, env: dict[str, str]) -> "Release":
        """This checkout's own source, with the secrets and the queue of this one."""
        home.mkdir()
        shutil.copy(self.home / "env", home / "env")
        for shared in ("queue", "queue-control"):
            (self.home / shared).mkdir(exist_ok=True)
            (home / shared).symlink_to(self.home / shared)
        return Release(name, ROOT, home, env)

    def python(self, *arguments: str) -> str:
        """What a program of its own printed."""
        command = [str(self.source / ".venv/bin/python"), *arguments]
        done = subprocess.run(command, cwd=self.source, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(arguments)[:80]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def manage(self, *arguments: str) -> str:
        return self.python("manage.py", *arguments)

    def start(self) -> None:
        """The server and the worker, ready."""
        for name, command in {"server": _server(self.port), "worker": _worker(self.home)}.items():
            own = [str(self.source / ".venv/bin" / Path(command[0]).name), *command[1:]]
            log = self.home / f"{name}.log"
            self.children.append(_start(f"{name} of {self.name}", own, log, self.env, self.source))
        _wait_until_ready(self.port, self.children)

    def stop(self) -> None:
        _end(self.children)
        self.children = []


@dataclass
class Front:
    """nginx, which hands each request to the next of the releases that it knows of."""

    home: Path
    port: int = field(default_factory=free_port)
    read: int = 0
    child: Child | None = None

    def lead_to(self, *releases: Release) -> None:
        """From now on requests go to these; what is under way is answered by whom it went to."""
        servers = " ".join(f"server 127.0.0.1:{release.port};" for release in releases)
        configure_nginx(
            self.home,
            "log_format own '$status $upstream_addr $request_time $request_method $uri';\n"
            f"access_log {self.home}/requests own; upstream service {{ {servers} }}\n"
            f"server {{ listen 127.0.0.1:{self.port}; client_max_body_size 20m; location / {{\n"
            "proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Host $http_host;\n"
            'proxy_set_header Connection ""; proxy_buffering off; proxy_next_upstream off; } }\n',
        )
        if self.child:
            self.child.process.send_signal(signal.SIGHUP)
            time.sleep(2)  # its old processes end with the requests that they have
        else:
            self.child = start_nginx(self.home)

    def end(self) -> None:
        _end([self.child] if self.child else [])

    def answers(self) -> "Answers":
        """Of the requests since this was asked last."""
        with (self.home / "requests").open() as log:
            log.seek(self.read)
            lines, self.read = log.readlines(), log.tell()
        answers = Answers()
        for line in lines:
            status, server, seconds, method, path = line.split(maxsplit=4)
            answers.count(int(status), server, float(seconds), f"{method} {path.strip()}")
        return answers


@dataclass
class Answers:
    """By which server, and what failed; `slowest` of those that were not held on purpose, in seconds."""

    by_server: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def count(self, status: int, server: str, seconds: float, call: str) -> None:
        self.by_server[server] += 1
        if status >= 500:
            self.failed[f"{call}: {status} of {server}"] += 1
        if "events" not in call:
            self.slowest = max(self.slowest, seconds)

    def of(self, release: Release) -> int:
        return self.by_server[f"127.0.0.1:{release.port}"]


# --- The earlier one ------------------------------------------------------------------------------------------------


def newest_tag() -> str:
    """The newest release before this commit; empty where there is none yet."""
    done = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0", "HEAD^"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


@contextmanager
def worktree(tag: str, folder: Path) -> Iterator[None]:
    """The source of a release, with packages as its lock files say."""
    must("git worktree add", ["git", "worktree", "add", "--quiet", "--detach", folder, tag])
    try:
        if all((folder / lock).read_bytes() == (ROOT / lock).read_bytes() for lock in _LOCKED):
            (folder / ".venv").symlink_to(ROOT / ".venv")
        else:  # its own command makes what it needs
            own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONSENT_VAR")}
            subprocess.run([sys.executable, "run", "bench", "nothing"], cwd=folder, env=own, check=False)
        yield
    finally:
        must("git worktree remove", ["git", "worktree", "remove", "--force", folder])


def changed_since(tag: str) -> Iterator[str]:
    """Migrations that were there and are others now: a database that has them never gets what was changed."""
    difference = ["git", "diff", "--name-only", "--diff-filter=MDR", tag, "--", "*/migrations/*.py"]
    yield from (f"a migration that was released was changed: {name}" for name in must("git diff", difference).split())


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
    options = parse_options("releases", earlier="", decisions=20, people=4)
    tag = options.earlier or newest_tag()
    if not tag:
        print("no earlier release")
        return NO_EARLIER
    end_in_order()
    home = Path(tempfile.mkdtemp(prefix="consent-releases-"))
    with ExitStack() as stack:
        stack.enter_context(worktree(tag, home / "source"))
        wrong = [*changed_since(tag), *run(made(tag, home, options.people, stack), options)]
    return report(wrong, home, "Nothing lost, nothing doubled, no 5xx.")


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
    followers = following(site, upgrade.apps)
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
                request = first.request_consent(onlooker.name, SCOPE, purpose=PURPOSE, key=key)
                seen = second.status(request.request_id).status
                owner.approve(owner.review(request.request_id))
                read = [client.read(request, key).data for client in (first, second)]
                ended = second.end(request.request_id).status
                after = first.status(request.request_id).grant
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
