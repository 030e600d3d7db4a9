"""Reads that race revocations, over HTTP: none that starts after the acknowledgement may succeed, and it comes soon.

    ./run bench revocations [--reads 500] [--revocations 1] [--readers 6]

The server is started as `./run` starts it, on PostgreSQL, in a database of its own. Again and again a person approves,
readers read as fast as they can, and the person revokes in the middle; each read is judged by when it was sent. Every
second reader is the client, which sends an Idempotency-Key, and the others send none.

The acknowledgement is timed from the person's POST to its answer, among all those reads. Its p99 may be half a second:
nobody is told a figure anywhere, and this is half of the second within which somebody who presses "Stop" still takes
the answer for a consequence of it.
"""

import math
import os
import threading
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import requests

from bench import staging
from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key
from deploy.local.serving import free_port, service

ACKNOWLEDGED_WITHIN = 0.5  # seconds, at p99
Reader = Callable[[str], str]  # reads what a request was approved for: the code of the refusal, or nothing
_AFTERWARDS = 3  # reads of each reader after the first one that knew of the revocation


class Race:
    """One grant, its readers, and when its revocation was sent and acknowledged."""

    def __init__(self, request_id: str, readers: list[Reader]) -> None:
        self.request_id, self.readers = request_id, readers
        self.revoked = self.acknowledged = float("inf")
        self.reads: list[tuple[float, float, bool]] = []  # sent, answered, succeeded
        self.others: list[str] = []

    def run(self, owner: Owner, grant_id: str) -> None:
        threads = [threading.Thread(target=self._read, args=[reader]) for reader in self.readers]
        for thread in threads:
            thread.start()
        time.sleep(0.03)  # so that all of them are at it
        self.revoked = time.perf_counter()
        owner.revoke(grant_id)
        self.acknowledged = time.perf_counter()
        for thread in threads:
            thread.join()

    def _read(self, reader: Reader) -> None:
        late = 0
        while late < _AFTERWARDS:
            sent = time.perf_counter()
            late += sent > self.acknowledged
            refused = reader(self.request_id)
            if refused not in ("", "grant_ended"):
                self.others.append(refused)
            self.reads.append((sent, time.perf_counter(), not refused))


def by_the_client(client: Client) -> Reader:
    def read(request_id: str) -> str:
        try:
            client.fetch_export(request_id)
        except Problem as problem:
            return problem.code
        return ""

    return read


def plainly(site: str, token: str) -> Reader:
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"

    def read(request_id: str) -> str:
        answer = session.get(f"{site}/api/v1/consent-export", params={"request_id": request_id}, timeout=30)
        return "" if answer.ok else str(answer.json()["code"])

    return read


def main() -> int:
    options = staging.parse_options("revocations", reads=500, revocations=1, readers=6)
    port = free_port()
    with staging.own_database() as url:
        env = {
            "BASE_URL": f"http://localhost:{port}",
            "DATABASE_URL": url,
            "LOG_LEVEL": "WARNING",
            **staging.LIMITS_OFF,
        }
        os.environ.update(env, DJANGO_SETTINGS_MODULE="config.settings")
        staging.prepare()
        [app], [person] = staging.make_apps(1), staging.make_people(1)
        staging.close_connections()
        with service(port, env):
            return report(races(env["BASE_URL"], app, person, options))


def races(site: str, app: staging.StagedApp, person: staging.StagedPerson, options: Any) -> list[Race]:
    run: list[Race] = []
    key = generate_connector_key()
    readers = [
        plainly(site, app.token) if number % 2 else by_the_client(app.client(site)) for number in range(options.readers)
    ]
    with app.client(site) as client, person.arrive(site) as owner:
        while len(run) < options.revocations or sum(len(race.reads) for race in run) < options.reads:
            request = client.request_consent(person.name, staging.SCOPE, purpose=staging.PURPOSE, key=key)
            grant = owner.approve(owner.review(request.request_id)).grant
            assert grant is not None
            race = Race(request.request_id, readers)
            race.run(owner, grant.grant_id)
            run.append(race)
            status = client.status(request.request_id).grant
            counted = status.reads if status else 0
            if counted != sum(succeeded for _, _, succeeded in race.reads):
                race.others.append(f"{counted} reads were counted")
    return run


def report(run: list[Race]) -> int:
    """Print the figures; 1 where a revoked grant was read, or an acknowledgement came late."""
    reads = [(race, *read) for race in run for read in race.reads]
    across = sum(sent <= race.acknowledged <= answered for race, sent, answered, _ in reads)
    after = [succeeded for race, sent, _, succeeded in reads if sent > race.acknowledged]
    others = [code for race in run for code in race.others]
    took = [race.acknowledged - race.revoked for race in run]
    print(
        f"\n{len(run)} revocations, {len(reads)} reads; {sum(ok for *_, ok in reads)} succeeded and were counted\n"
        f"{across} were under way when the revocation was acknowledged\n"
        f"{len(after)} were sent after it, {sum(after)} of them succeeded (wanted: 0)\n"
        f"anything else: {others or 'nothing'}\n"
        f"acknowledged after {median(took) * 1000:.0f} ms (median), {p99(took) * 1000:.0f} ms (p99) of {len(took)} "
        f"(wanted: p99 up to {ACKNOWLEDGED_WITHIN * 1000:.0f} ms)"
    )
    return 1 if sum(after) or others or p99(took) > ACKNOWLEDGED_WITHIN else 0


def p99(seconds: list[float]) -> float:
    """What 99 of 100 did not exceed; of fewer than 100, the longest."""
    return sorted(seconds)[math.ceil(len(seconds) * 0.99) - 1]
