"""The same client for asyncio: the same calls, results, errors and checks, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, Unpack

import httpx2

from consent_bridge import calls, sandbox, streams
from consent_bridge.aio_sandbox import AsyncSandboxPerson, LoopSender
from consent_bridge.answers import Processing, SandboxEntry
from consent_bridge.approvals import KeyPins
from consent_bridge.calls import Call, Fetched, bearer, whole
from consent_bridge.errors import BadAnswer, BridgeError, Problem, Unreachable
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
from consent_bridge.transport import ATTEMPTS, MAX_BODY_BYTES, Answer, judged, pause_after, rest_base_url
from consent_bridge.wrappers import VaultKey

Result = TypeVar("Result")
Pause = Callable[[float], Awaitable[object]]


class AsyncClient:
    """`consent_bridge.client.Client` for asyncio; each method is described there. One client is for one event loop.

    Opening a slice runs in a thread, so that a large one does not hold up the loop.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        attempts: int = ATTEMPTS,
        pause: Pause = asyncio.sleep,
        log_memory: Path | None = None,
        log_trust: Trust | None = None,
        pins: KeyPins | None = None,
    ) -> None:
        self._log = LogKeeper(log_memory, log_trust)
        self._base_url = rest_base_url(base_url)
        self._origin = origin_of(self._base_url)
        self._headers = {"Accept": "application/json", "User-Agent": "consent-bridge", "Authorization": bearer(token)}
        self._read_timeout, self._connect_timeout = read_timeout, connect_timeout
        self._attempts, self._pause = attempts, pause
        self._http = httpx2.AsyncClient(follow_redirects=False)
        self._seen_revisions: dict[str, int] = {}
        self.pins = KeyPins() if pins is None else pins
        self._keys: dict[str, bytes] = {}

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def discover(self, user_id: str, *, client_hint: str | None = None) -> Discovery:
        """Which scopes this person could approve."""
        return await self._do(calls.discover(user_id, client_hint))

    async def catalog(self) -> tuple[ScopeEntry, ...]:
        """Every scope of this deployment that can be asked for."""
        return await self._do(calls.catalog())

    async def people(
        self, query: str | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> PeoplePage:
        """One page of the people who let apps find them, by how handle or name begins; all without `query`."""
        return await self._do(calls.people(query, cursor, limit))

    async def request_consent(
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
        """Ask for one scope; keep the answer, an export is checked against it."""
        return await self._do(
            calls.request_consent(user_id, scope, purpose, key, connector_key_id, idempotency_key, client_hint, terms)
        )

    async def begin_connection(
        self,
        *,
        return_url: str | None = None,
        binding_message: str | None = None,
        request: Mapping[str, Any] | None = None,
    ) -> MadeConnection:
        """Let somebody connect: send them to `connect_url`, or, without a `return_url`, show `code` and `code_url`.

        `request` is what `request_along` made; keep it, with the browser session that began, until it is completed.
        """
        return await self._do(calls.begin_connection(return_url, binding_message, request))

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

    async def connection(
        self,
        connection_id: str,
        *,
        wait: int = 0,
        request: Mapping[str, Any] | None = None,
        return_url: str | None = None,
    ) -> Connection:
        """Where it stands; `wait` (0 to 30 s) holds the answer. What was asked along is compared with `request`."""
        return await self._do(calls.connection(connection_id, wait, request, return_url))

    async def complete_connection(
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
        return await self._do(calls.complete_connection(connection_id, connection_code, request, return_url))

    async def end_connection(self, user_id: str) -> None:
        """Forget this person: what waits is cancelled, what may be read is released, and the name leads nowhere."""
        await self._do(calls.end_connection(user_id))

    async def status(self, request_id: str, *, wait: int = 0) -> Status:
        """Where a request stands; `wait` (0 to 30 s) holds the answer until that changes."""
        return await self._do(calls.status(wait, request_id=request_id))

    async def newest_status(self, user_id: str, scope: str, *, wait: int = 0) -> Status:
        """The same for the app's newest request for this person and scope."""
        return await self._do(calls.status(wait, user_id=user_id, scope=scope))

    async def wait_for_decision(self, request_id: str, *, timeout: float) -> Status:
        """The status once it is no longer pending; WaitTimeout after `timeout` seconds, math.inf waits for ever."""
        waiting = calls.Waiting(timeout, time.monotonic)
        while True:
            outcome: Status | BridgeError
            try:
                outcome = await self.status(request_id, wait=waiting.seconds())
            except BridgeError as error:
                outcome = error
            pause = waiting.pause_after(outcome)
            if pause is None and isinstance(outcome, Status):
                return outcome
            if pause:
                await self._pause(pause)

    async def events(
        self, last_event_id: int | None = None, *, patience: float = streams.PATIENCE
    ) -> AsyncIterator[Event]:
        """The app's events as they happen, in order, each one once, over as many connections as it takes."""
        stream = streams.Stream(last_event_id, patience=patience)
        while True:
            ended: BridgeError | None = None
            try:
                async with self._stream(streams.PATH, stream.headers()) as chunks:
                    async for chunk in chunks:
                        for event in stream.feed(chunk):
                            yield event
                        stream.wait_again()
            except BadAnswer:
                raise
            except BridgeError as error:
                ended = error
            await self._pause(stream.pause_after(ended))

    async def fetch_export(self, request_id: str) -> Envelope:
        """The sealed export; counts as one read."""
        return whole(await self._do(calls.fetch_export(request_id)))

    async def read(self, asked: AskedConsent, key: Mapping[str, Any], *, seen_revision: int = 0) -> Slice:
        """Fetch the export, compare it with what was asked, open it with the connector's private key."""
        check_key(asked, key)
        fetched = await self._do(calls.fetch_export(asked.request_id))
        return await self._opened(fetched, asked, key, seen_revision)

    async def read_newer(self, asked: AskedConsent, key: Mapping[str, Any], known: Slice) -> Slice | None:
        """The same, or None where nothing changed since `known` was read; that counts no read."""
        check_key(asked, key)
        fetched = await self._do(calls.fetch_export(asked.request_id, known.etag))
        if fetched.envelope is None:
            return None
        return await self._opened(fetched, asked, key, known.revision)

    async def _opened(self, fetched: Fetched, asked: AskedConsent, key: Mapping[str, Any], seen: int) -> Slice:
        seen = max(seen, self._seen_revisions.get(asked.request_id, 0))
        opened = await asyncio.to_thread(
            open_envelope,
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
        """Take another key as this person's, where they told you that it is theirs; not awaited."""
        self.pins.accept(origin_of(asked.issuer), asked.user_id, owner_key)

    async def end(self, request_id: str) -> Status:
        """Cancel a pending request or release a live grant."""
        return await self._do(calls.end(request_id))

    async def requests(
        self, *, status: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> RequestPage:
        """One page of this app's requests."""
        return await self._do(calls.requests(status, cursor, limit))

    async def all_requests(self, *, status: str | None = None) -> AsyncIterator[Status]:
        """Every request of this app, newest first."""
        cursor: str | None = None
        while True:
            page = await self.requests(status=status, cursor=cursor, limit=100)
            for found in page.requests:
                yield found
            cursor = page.next_cursor
            if not cursor:
                return

    async def receipt(self, receipt_id: str) -> Receipt:
        """The signed proof of one event, verified."""
        jws = await self._do(calls.receipt(receipt_id))
        return await self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys))

    async def follow_log(self) -> LogSight:
        """Look at the public log: consistent with what this client saw of it last, or Refused."""
        memory = await self._answer(calls.follow_log(self._log.find(self._origin)))
        return self._log.keep(self._origin, memory)

    async def accept_log_epoch(self, origin: str) -> LogSight:
        """Go on with the log that began anew under this name, as the other client does."""
        memory = await self._answer(calls.accept_epoch(self._log.known(self._origin), origin))
        return self._log.keep(self._origin, memory)

    async def receipt_with_proof(self, receipt_id: str) -> ProvenReceipt | None:
        """The receipt with the proof that its event is in the public log; None where it is not there yet."""
        told = await self._do(calls.receipt_with_proof(receipt_id))
        if told is None:
            return None
        jws = str(told.get("jws"))
        receipt = await self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys))
        await self.follow_log()
        known = self._log.known(self._origin)
        event, memory = await self._answer(calls.prove_receipt(known, receipt.claims, told))
        self._log.keep(self._origin, memory)
        return calls.as_proven(receipt, event)

    async def _answer(self, asking: calls.LogCall[Result]) -> Result:
        outcome: Any = None
        while True:
            try:
                call = calls.advance(asking, outcome)
            except StopIteration as done:
                result: Result = done.value
                return result
            try:
                outcome = await self._do(call, public=True)
            except Problem as problem:
                outcome = problem

    async def verification_keys(self) -> dict[str, bytes]:
        """The service's public keys by name, for `consent_bridge.proofs`."""
        self._keys = await self._do(calls.keys(), public=True)
        return self._keys

    async def make_sandbox_person(self, label: str = "") -> AsyncSandboxPerson:
        """A new person to play, with an empty vault; of a test app alone."""
        return AsyncSandboxPerson(await asyncio.to_thread(sandbox.make_person, LoopSender(self._do), label))

    def sandbox_person(self, user_id: str, vault_key: VaultKey | None = None) -> AsyncSandboxPerson:
        """One that was made before; not awaited, and called where the event loop runs."""
        return AsyncSandboxPerson(SandboxPerson(LoopSender(self._do), user_id, vault_key=vault_key))

    async def sandbox_people(self) -> tuple[SandboxEntry, ...]:
        """All of the app's, the newest first."""
        return await asyncio.to_thread(sandbox.list_people, LoopSender(self._do))

    async def tell_sandbox_event(self, event: str) -> Processing:
        """Have this test app told of an event of agents, such as `analysis.completed`: the notice of it."""
        return await asyncio.to_thread(sandbox.tell_event, LoopSender(self._do), event)

    async def _verified(self, verify: Callable[[Mapping[str, bytes]], Result]) -> Result:
        if self._keys:
            try:
                return verify(self._keys)
            except UnknownKey:
                pass  # the keys may have been rotated since they were fetched
        return verify(await self.verification_keys())

    async def _do(self, call: Call[Result], *, public: bool = False) -> Result:
        attempts = self._attempts if call.repeatable else 1
        for attempt in range(1, attempts + 1):
            try:
                return call.read(judged(await self._once(call, public)))
            except (Unreachable, Problem) as error:
                pause = pause_after(error, attempt)
                if attempt == attempts or pause is None:
                    raise
                await self._pause(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, call: Call[Any], public: bool) -> Answer:
        headers = {**self._headers, **call.headers}
        if public:
            del headers["Authorization"]  # what is public is asked for without the token
        request = self._http.build_request(
            call.method,
            f"{self._origin if public else self._base_url}{call.path}",
            params=dict(call.params),
            json=call.body,
            headers=headers,
            timeout=httpx2.Timeout(self._read_timeout + call.extra_time, connect=self._connect_timeout),
        )
        try:
            response = await self._http.send(request, stream=True)
            try:
                return Answer(response.status_code, response.headers, await _bounded_body(response))
            finally:
                await response.aclose()
        except (httpx2.HTTPError, OSError) as error:
            raise Unreachable(f"{call.method} {call.path} failed: {_kind_of(error)}") from error

    @asynccontextmanager
    async def _stream(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        timeout = httpx2.Timeout(streams.SILENCE, connect=self._connect_timeout)
        try:
            async with self._http.stream(
                "GET", f"{self._base_url}{path}", headers={**self._headers, **headers}, timeout=timeout
            ) as response:
                if response.status_code != 200:
                    judged(Answer(response.status_code, response.headers, await _bounded_body(response)))
                    raise BadAnswer(f"the server answered {response.status_code} where a stream was asked for")
                yield response.aiter_raw()
        except (httpx2.HTTPError, OSError) as error:
            raise Unreachable(f"GET {path} failed: {_kind_of(error)}") from error


async def _bounded_body(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise BadAnswer(f"the server's answer is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _kind_of(error: Exception) -> str:
    if isinstance(error, httpx2.ConnectTimeout):
        return "the connection timed out"
    if isinstance(error, httpx2.TimeoutException):
        return "the answer did not come in time"
    return "no connection" if isinstance(error, httpx2.TransportError) else type(error).__name__
