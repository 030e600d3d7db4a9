"""The developer's side of the contract: discover, ask, wait, read, open. Holds the token, never the private key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import requests
from requests.auth import AuthBase

from consent_bridge import calls, sandbox, streams
from consent_bridge.answers import Processing, SandboxEntry
from consent_bridge.approvals import KeyPins
from consent_bridge.calls import Call, Plan, Step, as_method, bearer, carried_out
from consent_bridge.errors import BadAnswer, BridgeError
from consent_bridge.exports import origin_of
from consent_bridge.logs import Trust
from consent_bridge.opening import open_envelope
from consent_bridge.plans import Plans
from consent_bridge.results import MadeRequest, Status
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.streams import Event
from consent_bridge.terms import Terms
from consent_bridge.transport import ATTEMPTS, Transport, anonymous
from consent_bridge.wrappers import VaultKey

__all__ = ["Client", "Event", "Terms", "open_envelope"]

P = ParamSpec("P")
Result = TypeVar("Result")


class _Bearer(AuthBase):
    """The token as a header. As an auth object, since requests would put a .netrc entry over a plain header."""

    def __init__(self, token: str | Callable[[], str]) -> None:
        self._token = token
        if isinstance(token, str):
            bearer(token)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = bearer(self._token if isinstance(self._token, str) else self._token())
        return request


def _calling(make: Callable[P, Call[Result]]) -> Callable[Concatenate[Client, P], Result]:
    def calling(self: Client, /, *args: P.args, **named: P.kwargs) -> Result:
        result: Result = self._do(make(*args, **named))
        return result

    as_method(make, calling)
    return calling


def _planned(plan: Callable[Concatenate[Plans, P], Plan[Result]]) -> Callable[Concatenate[Client, P], Result]:
    def planned(self: Client, /, *args: P.args, **named: P.kwargs) -> Result:
        return carried_out(plan(self._plans, *args, **named), self._do)

    as_method(plan, planned)
    return planned


class Client:
    """Calls of one app with one developer token; `base_url` ends in /api/v1; of an origin alone, that is added.

    Errors: Problem (the service said no), Unreachable, BadAnswer, Refused (an export that is not what was asked for).
    Reads are tried again, `attempts` times in all, where the connection fails or the service is away for a moment, and
    so is `request_consent` with an `idempotency_key`. One client is for one thread at a time.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str],
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        attempts: int = ATTEMPTS,
        pause: Callable[[float], None] = time.sleep,
        log_memory: Path | None = None,
        log_trust: Trust | None = None,
        pins: KeyPins | None = None,
    ) -> None:
        """`pins` remember the key that each person signs with: give the same ones to the next client, too.

        A `token` that changes is given as a function, called for each request. `log_memory` is the file that
        keeps what was seen of the log, `log_trust` whom to believe about it.
        """
        self._plans = Plans(base_url, log_memory, log_trust, pins)
        self.pins = self._plans.pins
        self._session, self._public = requests.Session(), requests.Session()
        self._session.auth, self._public.auth = _Bearer(token), anonymous
        self._pause = pause
        limits: Any = {
            "connect_timeout": connect_timeout,
            "read_timeout": read_timeout,
            "attempts": attempts,
            "pause": pause,
        }
        self._transport = Transport(self._plans.base_url, self._session, **limits)
        # What is public is asked for without the token.
        self._origin = Transport(self._plans.origin, self._public, **limits)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()
        self._public.close()

    discover = _calling(calls.discover)
    catalog = _calling(calls.catalog)
    people = _calling(calls.people)
    request_consent = _calling(calls.request_consent)
    request_along = staticmethod(calls.request_along)
    begin_connection = _calling(calls.begin_connection)
    connection = _calling(calls.connection)
    complete_connection = _calling(calls.complete_connection)
    end_connection = _calling(calls.end_connection)
    status = _calling(calls.status)
    newest_status = _calling(calls.newest_status)
    wait_for_decision = _planned(Plans.wait_for_decision)
    fetch_export = _planned(Plans.fetch_export)
    read = _planned(Plans.read)
    read_newer = _planned(Plans.read_newer)
    end = _calling(calls.end)
    requests = _calling(calls.requests)
    receipt = _planned(Plans.receipt)
    follow_log = _planned(Plans.follow_log)
    accept_log_epoch = _planned(Plans.accept_log_epoch)
    receipt_with_proof = _planned(Plans.receipt_with_proof)
    verification_keys = _planned(Plans.verification_keys)

    def accept_owner_key(self, request: MadeRequest, owner_key: Mapping[str, Any]) -> None:
        """Take another key as this person's, as `OwnerKeyChanged.key` has it, where they told you that it is theirs.

        KeyRefused until seven days after `pins` met it.
        """
        self.pins.accept(origin_of(request.issuer), request.user_id, owner_key)

    def events(self, last_event_id: int | None = None, *, patience: float = streams.PATIENCE) -> Iterator[Event]:
        """The app's events as they happen, in order, each one once; connects with the first `next`, and never ends.

        Give the `id` of the last event that you dealt with, and the stream goes on after it without a gap; without
        one it begins with what happens from now on. Connects again by itself; raises what ended the last connection
        after `patience` seconds of waiting for the service in vain, and at once where the token is no longer good.
        The time that you take for an event does not count.
        """
        stream = streams.Stream(last_event_id, patience=patience)
        while True:
            ended: BridgeError | None = None
            try:
                opened = self._transport.stream(streams.PATH, headers=stream.headers(), silence=streams.SILENCE)
                with opened as chunks:
                    for chunk in chunks:
                        yield from stream.feed(chunk)
                        stream.wait_again()
            except BadAnswer:
                raise
            except BridgeError as error:
                ended = error
            self._pause(stream.pause_after(ended))

    def all_requests(self, *, status: str | None = None) -> Iterator[Status]:
        """Every request of this app, newest first."""
        cursor: str | None = None
        while True:
            page = self.requests(status=status, cursor=cursor, limit=100)
            yield from page.requests
            cursor = page.next_cursor
            if not cursor:
                return

    # -- playing a person

    def make_sandbox_person(self, label: str = "") -> SandboxPerson:
        """A new person to play, with an empty vault; of a test app alone. `fill()` gives them a whole profile."""
        return sandbox.make_person(self._transport, label)

    def sandbox_person(self, user_id: str, vault_key: VaultKey | None = None) -> SandboxPerson:
        """One that was made before. Without the vault key they can deny, pause and stop, but not approve."""
        return SandboxPerson(self._transport, user_id, vault_key=vault_key)

    def sandbox_people(self) -> tuple[SandboxEntry, ...]:
        """All of the app's, the newest first."""
        return sandbox.list_people(self._transport)

    def tell_sandbox_event(self, event: str) -> Processing:
        """Have this test app told of an event of agents, such as `analysis.completed`: the notice of it."""
        return sandbox.send_event(self._transport, event)

    def _do(self, step: Step) -> Any:
        if isinstance(step, float):
            return self._pause(step)
        if not isinstance(step, Call):
            return step()
        return step.read(
            (self._origin if step.public else self._transport).send(
                step.method,
                step.path,
                params=step.params,
                body=step.body,
                headers=step.headers,
                extra_time=step.extra_time,
                repeatable=step.repeatable,
            )
        )
