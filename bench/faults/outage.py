"""Callers who ask at every address while the database is away, and who wait for it to come back."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle

import psycopg

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

    def asked_by(self, asker: Asker, every: list[tuple[str, str]]) -> threading.Thread:
        """A thread that asks at all of these once, and again and again until this is `over`."""
        thread = threading.Thread(target=self._ask_all, args=(asker, every), daemon=True)
        thread.start()
        return thread

    def _ask_all(self, asker: Asker, every: list[tuple[str, str]]) -> None:
        for number, (address, path) in enumerate(cycle(every)):
            if self.over.is_set() and number >= len(every):
                return
            self._ask(asker, address, path)

    def _ask(self, asker: Asker, address: str, path: str) -> None:
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
