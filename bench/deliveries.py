"""How soon a decision is heard of, and what those who wait cost those who poll.

    ./run bench deliveries [--decisions 200] [--waiters 200] [--rounds 6]

The server and the worker are started as `./run` starts them, on PostgreSQL, in a database of their own. Each decision
is heard by a stream of events and by a held status call at once; the clock starts when the person has their answer.
Then status polls of one client are timed, in turns with nobody else and with many held calls; the limit on impatient
pollers is off for that.
"""

import argparse
import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles
from typing import Any

import requests

from bench.cast import PURPOSE, SCOPE, AppPart, make_apps, make_people
from bench.trip import own_database
from consent_bridge.client import Client
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key
from deploy.local.serving import free_port, service

SOON, SLOWER = 0.300, 1.25  # seconds; times
LIMITS_OFF = dict.fromkeys(
    ["PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY", "REQUEST_BUDGET_PER_HOUR", "DENIAL_COOLDOWN_SECONDS",
     "STATUS_POLL_BURST"], "0",
)  # fmt: skip
_HOLD = 9  # seconds that a waiter is held
_POLLED = 6.0  # seconds of polling in a round, within the holding


def main() -> int:
    options = arguments()
    port = free_port()
    with own_database() as url:
        env = {"BASE_URL": f"http://localhost:{port}", "DATABASE_URL": url, "LOG_LEVEL": "WARNING", **LIMITS_OFF}
        os.environ.update(env, DJANGO_SETTINGS_MODULE="config.settings")
        app, people = prepare()
        with service(port, env):
            site = env["BASE_URL"]
            heard = hear_decisions(site, app, people[0], options.decisions)
            polls = poll_beside_waiters(site, app, people[1], options)
    return report(heard, polls, options)


def arguments() -> Any:
    parser = argparse.ArgumentParser(prog="./run bench deliveries")
    parser.add_argument("--decisions", type=int, default=200)
    parser.add_argument("--waiters", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=6)
    return parser.parse_args()


def prepare() -> tuple[AppPart, list[Any]]:
    """Migrate the database and put the people in it."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    print("Migrating a database of its own …", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    [app], people = make_apps(1), make_people(2)
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's connections
    return app, people


# -- how soon


class Stream:
    """An app's stream of events in a thread: when each request's event came."""

    def __init__(self, site: str, app: AppPart) -> None:
        self.seen: dict[str, float] = {}
        self.came = threading.Condition()
        headers = {"Authorization": f"Bearer {app.token}"}
        self._answer = requests.get(f"{site}/api/v1/consent-events", headers=headers, stream=True, timeout=60)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(requests.RequestException, AttributeError):
            for line in self._answer.iter_lines(chunk_size=1):
                if line.startswith(b"data: "):
                    now = time.perf_counter()
                    with self.came:
                        self.seen.setdefault(json.loads(line[6:])["request_id"], now)
                        self.came.notify_all()

    def when(self, request_id: str) -> float:
        with self.came:
            if not self.came.wait_for(lambda: request_id in self.seen, timeout=30):
                sys.exit(f"the event of {request_id} never came")
            return self.seen[request_id]

    def close(self) -> None:
        self._answer.close()


def hear_decisions(site: str, app: AppPart, person: Any, count: int) -> dict[str, list[float]]:
    """Seconds from each decision's answer (and from its sending) until the stream and the held call told of it."""
    heard: dict[str, list[float]] = {"stream": [], "wait": [], "stream, since sent": [], "wait, since sent": []}
    key = generate_connector_key()
    stream = Stream(site, app)
    with (
        app.client(site) as client,
        app.client(site) as waiting,
        person.arrive(site) as owner,
        ThreadPoolExecutor(1) as pool,
    ):
        for number in range(count):
            asked = client.request_consent(person.user_id, SCOPE, purpose=PURPOSE, key=key)
            held = pool.submit(_wait, waiting, asked.request_id)
            time.sleep(0.05)  # until it is held
            sent, answered = _decide(owner, asked.request_id, approving=number % 2 == 0)
            for name, came in (("stream", stream.when(asked.request_id)), ("wait", held.result())):
                heard[name].append(came - answered)
                heard[f"{name}, since sent"].append(came - sent)
    stream.close()
    return heard


def _wait(client: Client, request_id: str) -> float:
    status = client.status(request_id, wait=30)
    if status.status == "pending":
        sys.exit("a held call ended before the decision")
    return time.perf_counter()


def _decide(owner: Owner, request_id: str, *, approving: bool) -> tuple[float, float]:
    """When the decision went out and when its answer came; sealing comes before."""
    send, times = owner._site.send, []

    def timed(*arguments: Any, **named: Any) -> Any:
        times.append(time.perf_counter())
        answer = send(*arguments, **named)
        times.append(time.perf_counter())
        return answer

    owner._site.send = timed  # type: ignore[method-assign]  # the clock's two readings
    try:
        if approving:
            owner.approve(owner.review(request_id))
        else:
            owner.deny(request_id)
    finally:
        del owner._site.send  # type: ignore[method-assign]
    return times[0], times[1]


# -- what waiting costs


def poll_beside_waiters(site: str, app: AppPart, person: Any, options: Any) -> dict[str, list[list[float]]]:
    """Seconds of each poll, round by round, in turns without and with waiters."""
    polls: dict[str, list[list[float]]] = {"alone": [], "beside waiters": []}
    with app.client(site) as client, person.arrive(site):
        names = [
            client.request_consent(person.user_id, SCOPE, purpose=PURPOSE, key=generate_connector_key()).request_id
            for _ in range(options.waiters + 1)
        ]
    for turn in range(options.rounds + 1):
        alone = _poll(site, app, names[0])
        with _held(site, app, names[1:]):
            beside = _poll(site, app, names[0])
        if turn:  # the first round only warms up
            polls["alone"].append(alone)
            polls["beside waiters"].append(beside)
        print(f"round {turn} of {options.rounds} done", flush=True)
    return polls


def _poll(site: str, app: AppPart, request_id: str) -> list[float]:
    """One client, one poll after the other."""
    times = []
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Authorization"] = f"Bearer {app.token}"
        until = time.perf_counter() + _POLLED
        while (began := time.perf_counter()) < until:
            answer = session.get(f"{site}/api/v1/consent-status", params={"request_id": request_id}, timeout=30)
            times.append(time.perf_counter() - began)
            if answer.status_code != 200:
                sys.exit(f"a poll was refused: {answer.text}")
    return times


@contextlib.contextmanager
def _held(site: str, app: AppPart, names: list[str]) -> Iterator[None]:
    """One held call for each request; all of them have to be answered at the end, and not before."""
    address = ("127.0.0.1", int(site.rsplit(":", 1)[1]))
    sockets = []
    began = time.perf_counter()
    for name in names:
        held = socket.create_connection(address, timeout=60)
        held.sendall(
            f"GET /api/v1/consent-status?request_id={name}&wait={_HOLD} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {app.token}\r\nConnection: close\r\n\r\n".encode()
        )
        sockets.append(held)
    time.sleep(1)  # until all are held
    yield
    if time.perf_counter() - began > _HOLD:
        sys.exit("the holding was shorter than the polling")
    for held in sockets:
        answer = b"".join(iter(lambda held=held: held.recv(65536), b""))
        if not answer.startswith(b"HTTP/1.1 200") or time.perf_counter() - began < _HOLD - 0.5:
            sys.exit(f"a waiter was not held: {answer[:300]!r}")
        held.close()


# -- what came of it


def report(heard: dict[str, list[float]], polls: dict[str, list[list[float]]], options: Any) -> int:
    """Print the figures; 1 where they miss what was promised."""
    print(f"\n{options.decisions} decisions; milliseconds from the decision's answer until it was heard of:\n")
    print(f"{'':22}{'median':>8}{'p95':>8}{'most':>8}{'wanted':>8}")
    for name, times in heard.items():
        wanted = f"{SOON * 1000:.0f}" if "since" not in name else ""
        print(
            f"{name:22}{median(times) * 1000:8.1f}{quantiles(times, n=20)[-1] * 1000:8.1f}"
            f"{max(times) * 1000:8.1f}{wanted:>8}"
        )
    medians = {name: [median(times) for times in rounds] for name, rounds in polls.items()}
    ratio = median(medians["beside waiters"]) / median(medians["alone"])
    count = sum(len(times) for rounds in polls.values() for times in rounds)
    print(f"\n{count} polls of one client in {options.rounds} interleaved rounds; medians of the rounds' medians:\n")
    for name, found in medians.items():
        about = name if name == "alone" else f"beside {options.waiters} waiters"
        print(f"{about:22}{median(found) * 1000:8.2f} ms")
    print(f"{'slower by':22}{ratio:8.2f} times (wanted: at most {SLOWER})")
    late = [name for name in ("stream", "wait") if median(heard[name]) > SOON]
    print("\n" + ("All as promised." if not late and ratio <= SLOWER else "NOT as promised."))
    return 1 if late or ratio > SLOWER else 0


if __name__ == "__main__":
    sys.exit(main())
