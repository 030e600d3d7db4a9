"""The database away for half a minute under load: what callers are told meanwhile, and how soon everything is back.

    ./run bench away [--seconds 30] [--times 1] [--people 6]

The server and the worker run as `./run` starts them, on a PostgreSQL of their own that is stopped as a crash would
stop it. People go on deciding, apps go on asking, reading and following events, and callers ask at every address of
the service without a pause. Each is answered at once, with the documented 503 where it needs the database. After it a
page, a vault, an app's reading and asking, and the next decision come back within 5 seconds of the database, and
nothing that was acknowledged is lost; else this names what is wrong and fails.
"""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import psycopg

from bench.faults.deciders import Decider, Ledger, deciding
from bench.faults.listeners import following
from bench.faults.service import Deployment, deployed, end_of, running
from bench.faults.verdict import everything_wrong, settle
from bench.staging import PURPOSE, SCOPE, parse_options
from consent_bridge.sealed import generate_connector_key, public_half

NOTICED_WITHIN = 3.0  # seconds until every process knows that the database is away
AT_ONCE = 2.5  # seconds that an answer may take then: what the pool of connections gives it, and a moment
_GIVES_UP_AFTER = 30.0  # seconds


@dataclass(frozen=True)
class Asker:
    """Who asks, and with what in hand: a person's cookies or an app's token."""

    port: int
    headers: dict[str, str]
    method: str

    def ask(self, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Status, headers and body; the body of a stream is not waited for."""
        line = http.client.HTTPConnection("localhost", self.port, timeout=_GIVES_UP_AFTER)
        try:
            body = b"{}" if self.method == "POST" else b""
            line.request(self.method, path, body, {"Content-Type": "application/json", **self.headers})
            answer = line.getresponse()
            is_stream = answer.getheader("Content-Type") == "text/event-stream"
            return answer.status, answer.headers, b"" if is_stream else answer.read()
        finally:
            line.close()


@dataclass
class Absence:
    """What was answered while the database was away. `unavailable` are the addresses that said so with a 503."""

    began: float = field(default_factory=time.monotonic)
    statuses: Counter[int] = field(default_factory=Counter)
    unavailable: set[str] = field(default_factory=set)
    slowest: list[float] = field(default_factory=lambda: [0.0, 0.0])  # until it was noticed, and afterwards
    wrong: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def start_calls(self, asker: Asker, every: list[tuple[str, str]]) -> threading.Thread:
        """A thread that asks at all of these once, and again and again until this is `over`."""
        thread = threading.Thread(target=self._call_all, args=(asker, every), daemon=True)
        thread.start()
        return thread

    def _call_all(self, asker: Asker, every: list[tuple[str, str]]) -> None:
        for number, (address, path) in enumerate(cycle(every)):
            if self.over.is_set() and number >= len(every):
                return
            self._call(asker, address, path)

    def _call(self, asker: Asker, address: str, path: str) -> None:
        from tests.config.refusals import Answer, unlike_a_refusal

        began = time.monotonic()
        late = began - self.began > NOTICED_WITHIN
        try:
            status, headers, body = asker.ask(path)
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(f"{asker.method} {path}: {type(error).__name__}")
            return
        took = time.monotonic() - began
        self.slowest[late] = max(self.slowest[late], took)
        self.statuses[status] += 1
        if took > AT_ONCE + (0.0 if late else NOTICED_WITHIN):
            self.wrong.append(f"{asker.method} {path}: {status} after {took:.1f} s")
        if status == 503:
            self.unavailable.add(address)
            lacks = unlike_a_refusal(path, Answer(status, headers, body))
            self.wrong += [f"{asker.method} {path}: 503 lacks {', '.join(lacks)}"] if lacks else []
        elif status >= 500:
            self.wrong.append(f"{asker.method} {path}: {status}")


def addresses() -> list[tuple[str, str]]:
    """Every address with a path that it matches. Things of these names need not be there: nothing can look them up."""
    from tests.addresses import ADDRESSES, path_of

    return [(route, path_of(route)) for route in sorted({address.route for address in ADDRESSES})]


class Return(threading.Thread):
    """Waits for something to work again; `at` is when it first did, by the monotonic clock."""

    def __init__(self, name: str, works: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self.name, self._works, self.at = name, works, float("inf")
        self._given_up = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._given_up.is_set():
            try:
                if self._works():
                    self.at = time.monotonic()
                    return
            except Exception:  # whatever it is: not yet
                time.sleep(0.0)
            time.sleep(0.02)

    def wait(self, seconds: float) -> float:
        self.join(seconds)
        self._given_up.set()
        return self.at


def accepts(url: str) -> Callable[[], bool]:
    """Whether the database takes connections and answers."""

    def works() -> bool:
        with psycopg.connect(url, connect_timeout=1) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)

    return works


def answers(asker: Asker, path: str) -> Callable[[], bool]:
    return lambda: asker.ask(path)[0] == 200


def late(returns: list[Return], accepted: float, bound: float) -> Iterator[str]:
    """What was not there again within so many seconds of the database."""
    for each in returns:
        if each.at - accepted > bound:
            yield f"{each.name} was back after {each.at - accepted:.1f} s"


BACK_WITHIN = 5.0  # seconds after the database takes connections again
_MOST_SAY_SO = 0.75  # of all addresses; the others need no database, or refuse before they do
_BETWEEN = 30  # decisions before, between and after the absences


def main() -> int:
    options = parse_options("away", seconds=30.0, times=1, people=6)
    with deployed("away", options.people + 1) as deployment:
        with running(deployment.service):
            wrong = run(deployment, options)
        return end_of(deployment, wrong)


def run(deployment: Deployment, options: Any) -> list[str]:
    """Let the database go away under load again and again; what is wrong."""
    ledger, site, apps = Ledger(), deployment.site, deployment.apps
    *people, onlooker = deployment.people
    deciders = [Decider(site, person, apps, ledger, seed) for seed, person in enumerate(people)]
    person, app, status_path = make_callers(deployment, onlooker)
    person.ask("/api/schema/")  # made by the first who asks, which takes seconds
    followers = following(site, apps)
    wrong, back = [], 0.0
    with deciding(deciders):
        for _ in range(options.times):
            ledger.wait_for(_BETWEEN)
            after, found = absence(deployment, person, app, status_path, ledger, options.seconds)
            wrong, back = [*wrong, *found], max(back, after)
        ledger.wait_for(_BETWEEN)
    wrong += [*settle(followers), *everything_wrong(ledger, apps, deployment.receiver, followers)]
    print(
        f"{options.times} times away, back {back:.1f} s after the database at the latest; "
        f"{ledger.decisions} decisions, {ledger.acknowledged} acknowledged, the others found done; "
        f"what deciding callers met: {dict(ledger.troubles.most_common())}"
    )
    return wrong


def make_callers(deployment: Deployment, onlooker: Any) -> tuple[Asker, Asker, str]:
    """A person's session, an app's token, and the path of a status that the app may read."""
    owner, app, port = onlooker.arrive(deployment.site), deployment.apps[0], deployment.service.port
    key = public_half(generate_connector_key())
    with app.client(deployment.site) as client:
        waiting = client.request_consent(onlooker.name, SCOPE, purpose=PURPOSE, key=key, requested_expiry=86400)
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in owner._site._session.cookies)
    token = {"Authorization": f"Bearer {app.token}"}
    status_path = f"/api/v1/consent-status?request_id={waiting.request_id}"
    return Asker(port, {"Cookie": cookies}, "GET"), Asker(port, token, "POST"), status_path


def absence(
    deployment: Deployment, person: Asker, app: Asker, status_path: str, ledger: Ledger, seconds: float
) -> tuple[float, list[str]]:
    """The database goes, everybody asks, and it comes back: after how many seconds the last was, and what was wrong."""
    deployment.cluster.stop()
    seen = Absence()
    every = addresses()
    threads = [seen.start_calls(asker, every[part::2]) for asker in (person, app) for part in (0, 1)]
    time.sleep(max(0.0, seen.began + seconds - time.monotonic()))
    seen.over.set()
    for thread in threads:  # each address is asked for once, however long that takes
        thread.join()
    away_for = time.monotonic() - seen.began
    accepting = Return("the database", accepts(deployment.cluster.url))
    returns = watch(person, replace(app, method="GET"), status_path, ledger)
    starting = threading.Thread(target=deployment.cluster.start)
    starting.start()
    accepted = accepting.wait(120)
    for each in returns:
        each.wait(max(0.0, accepted + 6 * BACK_WITHIN - time.monotonic()))
    starting.join()
    back = report(seen, away_for, returns, accepted)
    return back, [*seen.wrong, *silent(seen), *late(returns, accepted, BACK_WITHIN)]


def watch(person: Asker, app: Asker, status_path: str, ledger: Ledger) -> list[Return]:
    decided = ledger.decisions
    return [
        Return("/readyz", answers(app, "/readyz")),
        Return("a page", answers(person, "/consent/")),
        # asked plainly: the client itself waits as long as `Retry-After` says, which is five seconds
        Return("a vault", answers(person, "/vault/keys")),
        Return("an app's reading", answers(app, status_path)),
        Return("the next decision", lambda: ledger.decisions > decided),
    ]


def silent(seen: Absence) -> list[str]:
    """A service that needs no database would pass everything else."""
    every = len(addresses())
    few = len(seen.unavailable) < _MOST_SAY_SO * every
    return [f"only {len(seen.unavailable)} of {every} addresses said that they are away"] if few else []


def report(seen: Absence, away_for: float, returns: list[Return], accepted: float) -> float:
    back = {each.name: max(0.0, each.at - accepted) for each in returns}
    answered = ", ".join(f"{count} with {status}" for status, count in seen.statuses.most_common())
    print(
        f"away for {away_for:.0f} s: {sum(seen.statuses.values())} answers, {answered}; "
        f"{len(seen.unavailable)} of {len(addresses())} addresses said 503; slowest {seen.slowest[1]:.2f} s "
        f"({seen.slowest[0]:.2f} s in the first three seconds)\n"
        "back after the database: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in back.items()),
        flush=True,
    )
    return max(back.values())
