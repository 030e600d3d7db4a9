"""The developer's side of the contract: discover, ask, wait, read, open. Holds the token, never the private key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, Unpack

import requests
from requests.auth import AuthBase

from consent_bridge import calls, sandbox, streams
from consent_bridge.answers import Processing, SandboxEntry
from consent_bridge.approvals import KeyPins
from consent_bridge.calls import Call, Fetched, bearer, whole
from consent_bridge.errors import BadAnswer, BridgeError, Problem
from consent_bridge.exports import origin_of
from consent_bridge.logs import LogKeeper, LogSight, Trust
from consent_bridge.opening import check_key, open_envelope
from consent_bridge.proofs import UnknownKey
from consent_bridge.results import (
    AskedConsent,
    Connection,
    Discovery,
    Envelope,
    MadeConnection,
    PeoplePage,
    ProvenReceipt,
    Receipt,
    RequestPage,
    ScopeEntry,
    Slice,
    Status,
)
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.streams import Event
from consent_bridge.terms import Terms
from consent_bridge.transport import ATTEMPTS, Transport, anonymous, rest_base_url
from consent_bridge.wrappers import VaultKey

__all__ = ["Client", "Event", "Terms", "open_envelope"]

Result = TypeVar("Result")


class _Bearer(AuthBase):
    """The token as a header. As an auth object, since requests would put a .netrc entry over a plain header."""

    def __init__(self, token: str) -> None:
        self._header = bearer(token)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._header
        return request


class Client:
    """Calls of one app with one developer token; `base_url` ends in /api/v1; of an origin alone, that is added.

    Errors: Problem (the service said no), Unreachable, BadAnswer, Refused (an export that is not what was asked for).
    Reads are tried again, `attempts` times in all, where the connection fails or the service is away for a moment, and
    so is `request_consent` with an `idempotency_key`. One client is for one thread at a time.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
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

        `log_memory` is the file that keeps what was
        seen of the log, `log_trust` whom to believe about it.
        """
        self._log = LogKeeper(log_memory, log_trust)
        self._session, self._public = requests.Session(), requests.Session()
        self._session.auth, self._public.auth = _Bearer(token), anonymous
        self._pause = pause
        limits: Any = {
            "connect_timeout": connect_timeout,
            "read_timeout": read_timeout,
            "attempts": attempts,
            "pause": pause,
        }
        self._transport = Transport(rest_base_url(base_url), self._session, **limits)
        # What is public is asked for without the token.
        self._origin = Transport(origin_of(self._transport.base_url), self._public, **limits)
        self._seen_revisions: dict[str, int] = {}
        self.pins = KeyPins() if pins is None else pins
        self._keys: dict[str, bytes] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()
        self._public.close()

    # -- discovering and asking

    def discover(self, user_id: str, *, client_hint: str | None = None) -> Discovery:
        """Which scopes this person could approve.

        `client_hint` is whatever tells your own callers apart, a session's name perhaps; only a hash of it is sent. Who
        asks about too many unknown people then locks themselves out, and not your whole app.
        """
        return self._do(calls.discover(user_id, client_hint))

    def catalog(self) -> tuple[ScopeEntry, ...]:
        """Every scope of this deployment that can be asked for, of nobody in particular."""
        return self._do(calls.catalog())

    def people(self, query: str | None = None, *, cursor: str | None = None, limit: int | None = None) -> PeoplePage:
        """One page of the people who let apps find them, by how handle or name begins; all without `query`.

        Give `next_cursor` as `cursor` for the next page.
        """
        return self._do(calls.people(query, cursor, limit))

    def request_consent(
        self,
        user_id: str,
        scope: str,
        *,
        purpose: str,
        key: Mapping[str, Any],
        connector_key_id: str | None = None,
        idempotency_key: str | None = None,
        client_hint: str | None = None,
        **terms: Unpack[Terms],
    ) -> AskedConsent:
        """Ask for one scope; keep the answer, an export is checked against it.

        `key` is the connector's JWK, of which the public half is sent; its thumbprint is its name unless another is
        given. With `idempotency_key` the same call may be made again: it repeats the first answer for a day.
        `client_hint` as in `discover`.
        """
        return self._do(
            calls.request_consent(user_id, scope, purpose, key, connector_key_id, idempotency_key, client_hint, terms)
        )

    # -- connecting

    def begin_connection(
        self,
        *,
        return_url: str | None = None,
        binding_message: str | None = None,
        request: Mapping[str, Any] | None = None,
    ) -> MadeConnection:
        """Let somebody connect: send them to `connect_url`, or, without a `return_url`, show `code` and `code_url`.

        `request` is what `request_along` made; keep it, with the browser session that began, until it is completed.
        """
        return self._do(calls.begin_connection(return_url, binding_message, request))

    @staticmethod
    def request_along(
        scope: str,
        *,
        purpose: str,
        key: Mapping[str, Any],
        connector_key_id: str | None = None,
        **terms: Unpack[Terms],
    ) -> dict[str, Any]:
        """What to ask of whoever connects, as `begin_connection` takes it; the private half of `key` stays here."""
        return calls.request_along(scope, purpose, key, connector_key_id, terms)

    def connection(
        self,
        connection_id: str,
        *,
        wait: int = 0,
        request: Mapping[str, Any] | None = None,
        return_url: str | None = None,
    ) -> Connection:
        """Where it stands; `wait` (0 to 30 s) holds the answer. What was asked along is compared with `request`."""
        return self._do(calls.connection(connection_id, wait, request, return_url))

    def complete_connection(
        self,
        connection_id: str,
        connection_code: str,
        *,
        request: Mapping[str, Any] | None = None,
        return_url: str | None = None,
    ) -> Connection:
        """Complete it with the code of the return: only in the browser session that began it.

        Its `request` is the `AskedConsent` to read by. `request` and `return_url` as it was begun with.
        """
        return self._do(calls.complete_connection(connection_id, connection_code, request, return_url))

    def end_connection(self, user_id: str) -> None:
        """Forget this person: what waits is cancelled, what may be read is released, and the name leads nowhere."""
        self._do(calls.end_connection(user_id))

    # -- waiting

    def status(self, request_id: str, *, wait: int = 0) -> Status:
        """Where a request stands; `wait` (0 to 30 s) holds the answer until that changes."""
        return self._do(calls.status(wait, request_id=request_id))

    def newest_status(self, user_id: str, scope: str, *, wait: int = 0) -> Status:
        """The same for the app's newest request for this person and scope."""
        return self._do(calls.status(wait, user_id=user_id, scope=scope))

    def wait_for_decision(self, request_id: str, *, timeout: float) -> Status:
        """The status once it is no longer pending; WaitTimeout after `timeout` seconds, math.inf waits for ever.

        A service that restarts meanwhile is waited for too; Unreachable if it is still away when the time is up.
        """
        waiting = calls.Waiting(timeout, time.monotonic)
        while True:
            outcome: Status | BridgeError
            try:
                outcome = self.status(request_id, wait=waiting.seconds())
            except BridgeError as error:
                outcome = error
            pause = waiting.pause_after(outcome)
            if pause is None and isinstance(outcome, Status):
                return outcome
            if pause:
                self._pause(pause)

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

    # -- reading

    def fetch_export(self, request_id: str) -> Envelope:
        """The sealed export; counts as one read, also where the answer was lost and is fetched again."""
        return whole(self._do(calls.fetch_export(request_id)))

    def read(self, asked: AskedConsent, key: Mapping[str, Any], *, seen_revision: int = 0) -> Slice:
        """Fetch the export, compare it with what was asked, open it with the connector's private key.

        Refuses a revision lower than `seen_revision` or than one that this client saw before.
        """
        check_key(asked, key)
        fetched = self._do(calls.fetch_export(asked.request_id))
        return self._opened(fetched, asked, key, seen_revision)

    def read_newer(self, asked: AskedConsent, key: Mapping[str, Any], known: Slice) -> Slice | None:
        """The same, or None where nothing changed since `known` was read; that counts no read.

        The grant is checked all the same: `grant_ended` and `grant_paused` are raised as by `read`.
        """
        check_key(asked, key)
        fetched = self._do(calls.fetch_export(asked.request_id, known.etag))
        if fetched.envelope is None:
            return None
        return self._opened(fetched, asked, key, known.revision)

    def _opened(self, fetched: Fetched, asked: AskedConsent, key: Mapping[str, Any], seen: int) -> Slice:
        seen = max(seen, self._seen_revisions.get(asked.request_id, 0))
        opened = open_envelope(
            whole(fetched),
            asked,
            key,
            seen_revision=seen,
            etag=fetched.etag,
            pins=self.pins,
        )
        self._seen_revisions[asked.request_id] = opened.revision
        return opened

    def accept_owner_key(self, asked: AskedConsent, owner_key: Mapping[str, Any]) -> None:
        """Take another key as this person's, as `OwnerKeyChanged.key` has it, where they told you that it is theirs."""
        self.pins.accept(origin_of(asked.issuer), asked.user_id, owner_key)

    # -- ending and looking back

    def end(self, request_id: str) -> Status:
        """Cancel a pending request or release a live grant; repeated, the same answer."""
        return self._do(calls.end(request_id))

    def requests(
        self, *, status: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> RequestPage:
        """One page of this app's requests."""
        return self._do(calls.requests(status, cursor, limit))

    def all_requests(self, *, status: str | None = None) -> Iterator[Status]:
        """Every request of this app, newest first."""
        cursor: str | None = None
        while True:
            page = self.requests(status=status, cursor=cursor, limit=100)
            yield from page.requests
            cursor = page.next_cursor
            if not cursor:
                return

    # -- proofs

    def receipt(self, receipt_id: str) -> Receipt:
        """The signed proof of one event, verified; Refused if it is not what it says."""
        jws = self._do(calls.receipt(receipt_id))
        return self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys))

    def follow_log(self) -> LogSight:
        """Look at the public log: signed, cosigned by whom, and consistent with what this client saw of it last.

        Refused where it was rewritten or rolled back, LogEpochChanged where it began anew, NothingPublished where it
        has no checkpoint yet. The keys are `log_trust`, else those of the first look; they and the last checkpoint
        are kept in the file `log_memory`, or as long as this client lives.
        """
        memory = self._answer(calls.follow_log(self._log.find(self._origin.base_url)))
        return self._log.keep(self._origin.base_url, memory)

    def accept_log_epoch(self, origin: str) -> LogSight:
        """Go on with the log that began anew under this name, as `LogEpochChanged.newest.origin` has it.

        For somebody who was told what was restored: nothing shows that the new tree has what was seen of the old one.
        """
        known = self._log.known(self._origin.base_url)
        return self._log.keep(self._origin.base_url, self._answer(calls.accept_epoch(known, origin)))

    def receipt_with_proof(self, receipt_id: str) -> ProvenReceipt | None:
        """The receipt, verified, with the proof that its event is in the public log; None where it is not there yet."""
        told = self._do(calls.receipt_with_proof(receipt_id))
        if told is None:
            return None
        jws = str(told.get("jws"))
        receipt = self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys))
        self.follow_log()
        known = self._log.known(self._origin.base_url)
        event, memory = self._answer(calls.prove_receipt(known, receipt.claims, told))
        self._log.keep(self._origin.base_url, memory)
        return calls.as_proven(receipt, event)

    def _answer(self, asking: calls.LogCall[Result]) -> Result:
        """Send the calls that this asks for, one after another."""
        outcome: Any = None
        while True:
            try:
                call = calls.advance(asking, outcome)
            except StopIteration as done:
                result: Result = done.value
                return result
            try:
                outcome = self._do(call, self._origin)
            except Problem as problem:
                outcome = problem

    def verification_keys(self) -> dict[str, bytes]:
        """The service's public keys by name, for `consent_bridge.proofs`."""
        self._keys = self._do(calls.keys(), self._origin)
        return self._keys

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
        return sandbox.tell_event(self._transport, event)

    def _verified(self, verify: Callable[[Mapping[str, bytes]], Result]) -> Result:
        if self._keys:
            try:
                return verify(self._keys)
            except UnknownKey:
                pass  # the keys may have been rotated since they were fetched
        return verify(self.verification_keys())

    def _do(self, call: Call[Result], transport: Transport | None = None) -> Result:
        answer = (transport or self._transport).send(
            call.method,
            call.path,
            params=call.params,
            body=call.body,
            headers=call.headers,
            extra_time=call.extra_time,
            repeatable=call.repeatable,
        )
        return call.read(answer)
