"""People and apps that go on deciding whatever happens to the service, and write down what they were promised."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bench.staging import PURPOSE, SCOPE, StagedApp, StagedPerson
from consent_bridge.client import Client
from consent_bridge.errors import BadAnswer, BridgeError, Problem, Unreachable
from consent_bridge.owner import Owner
from consent_bridge.results import MadeRequest
from consent_bridge.sealed import generate_connector_key

Result = TypeVar("Result")
LIMITS = {"connect_timeout": 3.0, "read_timeout": 20.0, "attempts": 1}  # what insists is the decider
STUCK_AFTER = 300.0  # seconds without the decisions that are waited for
_GIVES_UP_AFTER = 120.0  # seconds in which nothing could be reached
_PAUSE = 0.1
_DONE_ALREADY = ("already_decided", "move_not_allowed")


@dataclass
class Outcome:
    """What was acknowledged about one request."""

    app_id: str
    request_id: str
    decision: str = ""  # approved, denied or cancelled
    acknowledged: bool = False  # else it was found to have happened
    end: str = ""  # how its grant was ended
    end_acknowledged: bool = False
    reads: int = 0  # answered with 200, each under a key of its own


@dataclass
class Ledger:
    """All outcomes, and what went wrong on the way to them."""

    wanted: int = 10**9
    outcomes: list[Outcome] = field(default_factory=list)
    troubles: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def decisions(self) -> int:
        return len(self.outcomes)

    @property
    def is_full(self) -> bool:
        return self.decisions >= self.wanted or bool(self.defects)

    def so_far(self) -> list[Outcome]:
        """What was promised until now, as it is now."""
        with self.lock:
            return [replace(outcome) for outcome in self.outcomes]

    def wait_for(self, decisions: int) -> None:
        """Until so many more were made; a defect ends it, and so does a time without them."""
        wanted, deadline = self.decisions + decisions, time.monotonic() + STUCK_AFTER
        while self.decisions < wanted and not self.defects:
            if time.monotonic() > deadline:
                self.defects.append(f"no {decisions} decisions within {STUCK_AFTER:.0f} seconds")
            time.sleep(0.05)

    @property
    def acknowledged(self) -> int:
        return sum(outcome.acknowledged for outcome in self.outcomes)

    def trouble(self, error: BridgeError) -> None:
        with self.lock:
            if isinstance(error, Problem):
                self.troubles[f"{error.status} {error.code}"] += 1
                if error.status != 503:
                    self.defects.append(str(error))
            else:
                self.troubles[type(error).__name__] += 1


class Decider(threading.Thread):
    """One person, deciding one request after the other, and the apps that ask them."""

    def __init__(
        self,
        site: str,
        person: StagedPerson,
        apps: list[StagedApp],
        ledger: Ledger,
        seed: int,
        owner: Owner | None = None,
    ) -> None:
        """`owner` is the person with an unlocked vault, where they arrived before."""
        super().__init__(daemon=True)
        self.ledger, self.person, self.dice = ledger, person, random.Random(seed)
        self.clients = {app.app_id: app.client(site, **LIMITS) for app in apps}
        self.owner: Owner = owner or person.arrive(site, **LIMITS)
        self.keys = {client: generate_connector_key() for client in self.clients.values()}  # a key belongs to one app

    def run(self) -> None:
        try:
            while not self.ledger.is_full:
                self._decide_once()
        except BaseException as error:  # a decider that is gone must not look like one that is done
            with self.ledger.lock:
                self.ledger.defects.append(f"{type(error).__name__}: {error}")
            raise

    def _decide_once(self) -> None:
        app_id, client = self.dice.choice(list(self.clients.items()))
        request = self._request(client)
        outcome = Outcome(app_id, request.request_id)
        decision = self.dice.choices(["approved", "denied", "cancelled"], [6, 3, 1])[0]
        outcome.decision = decision
        outcome.acknowledged = self._insist(
            self._decider(decision, request, client), lambda: client.status(request.request_id).status != "pending"
        )
        with self.ledger.lock:
            self.ledger.outcomes.append(outcome)
        if decision == "approved":
            self._go_on(outcome, request, client)

    def _request(self, client: Client) -> MadeRequest:
        key, most = uuid.uuid4().hex, self.dice.choice([None, 100])  # under one key, asking again is asking once
        return self._until_answered(
            lambda: client.request_consent(
                self.person.name, SCOPE, purpose=PURPOSE, key=self.keys[client], idempotency_key=key, max_reads=most
            )
        )

    def _decider(self, decision: str, request: MadeRequest, client: Client) -> Callable[[], Any]:
        if decision == "approved":
            return lambda: self.owner.approve(self.owner.review(request.request_id))
        if decision == "denied":
            return lambda: self.owner.deny(request.request_id)
        return lambda: client.end(request.request_id)

    def _go_on(self, outcome: Outcome, request: MadeRequest, client: Client) -> None:
        """Reads, and for some an end before the next approval supersedes it."""
        for _ in range(self.dice.randrange(3)):
            self._until_answered(lambda: client.read(request, self.keys[client]))
            outcome.reads += 1
        grant = self._until_answered(lambda: client.status(request.request_id)).grant
        assert grant is not None
        end = self.dice.choice(["", "revoked", "released"])
        if not end:
            return
        call: Callable[[], Any] = lambda: client.end(request.request_id)  # noqa: E731  # one of two
        if end == "revoked":
            call = lambda: self.owner.revoke(grant.grant_id)  # noqa: E731
        outcome.end = end
        outcome.end_acknowledged = self._insist(call, lambda: _ended(client, request))

    def _insist(self, call: Callable[[], Any], happened: Callable[[], bool]) -> bool:
        """Do it until it is acknowledged (True), or until it shows that it happened unacknowledged (False)."""
        deadline, again = time.monotonic() + _GIVES_UP_AFTER, False
        while True:
            try:
                call()
                return True
            except (Unreachable, BadAnswer, Problem) as error:
                # a commit may outlive the process that asked for it, so the second try can find it done
                if not (again and isinstance(error, Problem) and error.code in _DONE_ALREADY):
                    self._bear(error, deadline)
            again = True
            if self._until_answered(happened):
                return False

    def _until_answered(self, call: Callable[[], Result]) -> Result:
        deadline = time.monotonic() + _GIVES_UP_AFTER
        while True:
            try:
                return call()
            except (Unreachable, BadAnswer, Problem) as error:
                self._bear(error, deadline)

    def _bear(self, error: BridgeError, deadline: float) -> None:
        self.ledger.trouble(error)
        if time.monotonic() > deadline or (isinstance(error, Problem) and error.status != 503):
            raise error
        time.sleep(_PAUSE * (1 + self.dice.random()))


@contextmanager
def deciding(deciders: list[Decider]) -> Iterator[None]:
    """All of them decide within it; what one has begun is ended before it is left."""
    for decider in deciders:
        decider.start()
    yield
    deciders[0].ledger.wanted = 0
    for decider in deciders:
        decider.join(STUCK_AFTER)


def _ended(client: Client, request: MadeRequest) -> bool:
    grant = client.status(request.request_id).grant
    return grant is not None and grant.status not in ("active", "paused")
