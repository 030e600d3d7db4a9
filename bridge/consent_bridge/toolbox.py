"""What each tool does: a call of the client, and the key and the memory of this machine."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from consent_bridge.aio import AsyncClient
from consent_bridge.errors import BadAnswer, BridgeError, KeyRefused, Problem, Refused, Unreachable, one_line
from consent_bridge.keyring import Keyring
from consent_bridge.results import MadeRequest, as_json
from consent_bridge.state import RequestLog
from consent_bridge.tool_arguments import SPECIAL, Arguments, Nothing, OneRequest, Person, Question, Wait

Result = dict[str, Any]
_logger = logging.getLogger("consent_bridge")


class Toolbox:
    """The tools of one app on one machine. What was made or read is answered also where it cannot be remembered."""

    def __init__(self, client: AsyncClient, keyring: Keyring, log: RequestLog) -> None:
        self._client, self._keyring, self._log = client, keyring, log
        self._reading = asyncio.Lock()  # one at a time: each begins with the people's keys as the one before left them
        self._tools: Mapping[str, Callable[[Any], Awaitable[Result]]] = {
            "discover_user_scopes": self.discover_user_scopes,
            "request_consent": self.request_consent,
            "check_consent_status": self.check_consent_status,
            "get_encrypted_export": self.get_encrypted_export,
            "end_consent": self.end_consent,
            "list_scope_catalog": self.list_scope_catalog,
            "read_approved_data": self.read_approved_data,
        }

    async def run(self, name: str, given: Arguments) -> Result:
        """The answer of one tool; BridgeError where it fails."""
        return await self._tools[name](given)

    async def discover_user_scopes(self, given: Person) -> Result:
        return as_json(await self._client.discover(given.user_id))

    async def list_scope_catalog(self, given: Nothing) -> Result:
        return {"scope_entries": [as_json(entry) for entry in await self._client.catalog()]}

    async def request_consent(self, given: Question) -> Result:
        terms = given.model_dump(exclude={"user_id", "scope", "purpose"}, exclude_none=True)
        self._log.check_writable()
        request = await self._client.request_consent(
            given.user_id,
            given.scope,
            purpose=given.purpose,
            key=self._keyring.current(),
            # Makes the call repeatable: a service that restarts in the middle is asked once.
            idempotency_key=uuid.uuid4().hex,
            **terms,
        )
        try:
            self._log.keep(request)
        except Refused:
            _logger.warning("a request was made, but cannot be remembered")
        return as_json(request)

    async def check_consent_status(self, given: Wait) -> Result:
        return as_json(await self._client.status(given.request_id, wait=given.wait_seconds))

    async def get_encrypted_export(self, given: OneRequest) -> Result:
        return as_json(await self._client.fetch_export(given.request_id))

    async def end_consent(self, given: OneRequest) -> Result:
        return as_json(await self._client.end(given.request_id))

    async def read_approved_data(self, given: OneRequest) -> Result:
        known = self._log.find(given.request_id)
        if known is None:
            raise Refused("this request was not made with this bridge, so there is nothing to check its export against")
        async with self._reading:
            return await self._read(*known)

    async def _read(self, request: MadeRequest, seen: int) -> Result:
        key, pins = self._keyring.find(request.connector_fingerprint), self._client.pins
        pins.load(self._log.owner_keys.load().dump())  # what the command line met or accepted meanwhile
        self._log.check_writable()
        opened = None
        try:
            with self._log.owner_keys.keeping(pins):
                opened = await self._client.read(request, key, seen_revision=seen)
            self._log.keep(request, revision=opened.revision)
        except Refused:
            if opened is None:
                raise
            _logger.warning("an export was read, but that cannot be remembered")
        return as_json(replace(opened, etag=""))


def problem_of(error: BridgeError | ValidationError) -> Result:
    """Problem details: the service's own where it refused, else what happened on this side."""
    match error:
        case Problem():
            return _of_service(error)
        case ValidationError():
            return _of_arguments(error)
        case Unreachable():
            return _local("service_unreachable", 503, "The service cannot be reached", f"{error}. Try again later.")
        case BadAnswer():
            return _local("bad_answer", 502, "The service's answer is not what it has to be", str(error))
        case KeyRefused():
            return _local("key_refused", 422, "A key cannot be used", str(error), member=error.member)
        case Refused():
            return _local("refused", 422, "Refused on this machine", str(error), member=error.member)
    return _local("bridge_error", 500, "The bridge could not do it", str(error))


def _local(code: str, status: int, title: str, detail: str, **members: Any) -> Result:
    added = {name: value for name, value in members.items() if value is not None}
    return {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail, **added}


def _of_service(problem: Problem) -> Result:
    # Its members as they came, the five that every problem has made sure of.
    own = _local(problem.code, problem.status, problem.code, problem.detail)
    body = {**own, **{name: value for name, value in problem.extra.items() if value is not None}}
    wait = {} if problem.retry_after is None else {"retry_after": problem.retry_after}
    texts = {name: one_line(str(body[name])) for name in ("type", "title", "detail")}
    return {**body, **texts, "code": problem.code, "status": problem.status, **wait}


def _of_arguments(error: ValidationError) -> Result:
    failures = error.errors(include_url=False, include_context=False, include_input=False)
    listed = [
        {
            "field": ".".join(str(part) for part in failure["loc"]),
            "code": failure["type"],
            "message": failure["msg"].removeprefix("Value error, "),
        }
        for failure in failures[:20]
    ]
    named = ", ".join(sorted({one_line(entry["field"].split(".")[0], 64) for entry in listed}))
    code = SPECIAL if any(failure["type"] == SPECIAL for failure in failures) else "invalid_request"
    return _local(code, 400, "The request does not fit", f"These members do not fit: {named}.", errors=listed)
