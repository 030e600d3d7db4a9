"""The same client for asyncio: the same calls, results, errors and checks, awaited."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2

from consent_bridge import calls, sandbox, streams
from consent_bridge.aio_sandbox import AsyncSandboxPerson, LoopSender
from consent_bridge.answers import Processing, SandboxEntry
from consent_bridge.approvals import KeyPins
from consent_bridge.calls import Call, Plan, Step, as_method, awaited, bearer
from consent_bridge.errors import BadAnswer, BridgeError, Problem, Unreachable
from consent_bridge.exports import origin_of
from consent_bridge.logs import Trust
from consent_bridge.plans import Plans
from consent_bridge.results import MadeRequest, Status
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.streams import Event
from consent_bridge.transport import ATTEMPTS, MAX_BODY_BYTES, Answer, encoded, judged, pause_after
from consent_bridge.wrappers import VaultKey

P = ParamSpec("P")
Result = TypeVar("Result")
Pause = Callable[[float], Awaitable[object]]


def _calling(make: Callable[P, Call[Result]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Result]]:
    async def calling(self: AsyncClient, /, *args: P.args, **named: P.kwargs) -> Result:
        return await self._do(make(*args, **named))

    as_method(make, calling)
    return calling


def _planned(
    plan: Callable[Concatenate[Plans, P], Plan[Result]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Result]]:
    async def planned(self: AsyncClient, /, *args: P.args, **named: P.kwargs) -> Result:
        return await awaited(plan(self._plans, *args, **named), self._step)

    as_method(plan, planned)
    return planned


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
        self._plans = Plans(base_url, log_memory, log_trust, pins)
        self.pins = self._plans.pins
        self._headers = {"Accept": "application/json", "User-Agent": "consent-bridge", "Authorization": bearer(token)}
        self._read_timeout, self._connect_timeout = read_timeout, connect_timeout
        self._attempts, self._pause = attempts, pause
        self._http = httpx2.AsyncClient(follow_redirects=False)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

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
        """Take another key as this person's, where they told you that it is theirs; not awaited.

        KeyRefused until seven days after `pins` met it.
        """
        self.pins.accept(origin_of(request.issuer), request.user_id, owner_key)

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
        return await asyncio.to_thread(sandbox.send_event, LoopSender(self._do), event)

    async def _step(self, step: Step) -> Any:
        if isinstance(step, float):
            return await self._pause(step)
        return await (self._do(step) if isinstance(step, Call) else asyncio.to_thread(step))

    async def _do(self, call: Call[Result]) -> Result:
        attempts = self._attempts if call.repeatable else 1
        for attempt in range(1, attempts + 1):
            try:
                return call.read(judged(await self._once(call)))
            except (Unreachable, Problem) as error:
                pause = pause_after(error, attempt)
                if attempt == attempts or pause is None:
                    raise
                await self._pause(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, call: Call[Any]) -> Answer:
        content, headers = encoded(call.body, {**self._headers, **call.headers})
        if call.public:
            del headers["Authorization"]  # what is public is asked for without the token
        request = self._http.build_request(
            call.method,
            f"{self._plans.origin if call.public else self._plans.base_url}{call.path}",
            params=dict(call.params),
            content=content,
            headers={name.encode(): value for name, value in headers.items()},
            timeout=httpx2.Timeout(self._read_timeout + call.extra_time, connect=self._connect_timeout),
        )
        try:
            response = await self._http.send(request, stream=True)
            try:
                return Answer(response.status_code, response.headers, await _bounded_body(response))
            finally:
                await response.aclose()
        except (httpx2.HTTPError, OSError) as error:
            raise Unreachable(f"{call.method} {request.url.copy_with(query=None)} failed: {_kind_of(error)}") from error

    @asynccontextmanager
    async def _stream(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        timeout = httpx2.Timeout(streams.SILENCE, connect=self._connect_timeout)
        try:
            async with self._http.stream(
                "GET", f"{self._plans.base_url}{path}", headers={**self._headers, **headers}, timeout=timeout
            ) as response:
                if response.status_code != 200:
                    judged(Answer(response.status_code, response.headers, await _bounded_body(response)))
                    raise BadAnswer(f"the server answered {response.status_code} where a stream was asked for")
                yield response.aiter_raw()
        except (httpx2.HTTPError, OSError) as error:
            raise Unreachable(f"GET {self._plans.base_url}{path} failed: {_kind_of(error)}") from error


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
    if any(isinstance(each, ssl.SSLError) for each in _causes(error)):
        return "the server's certificate was not accepted"
    return "no connection" if isinstance(error, httpx2.TransportError) else type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """It and what led to it; the libraries between say only that the connection failed."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
