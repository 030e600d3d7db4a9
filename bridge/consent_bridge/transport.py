"""One HTTP call: bounded in time and size, redirects never followed, errors as `Problem`."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError

from consent_bridge.encoding import dump_json, parse_object
from consent_bridge.errors import BadAnswer, FieldError, Problem, Refused, Unreachable, one_line
from consent_bridge.jwe import MAX_JWE_CHARS

MAX_BODY_BYTES = MAX_JWE_CHARS + 256 * 1024
CONNECT_TIMEOUT = 5.0
READ_TIMEOUT = 30.0
ATTEMPTS = 3
_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_LONGEST_RETRY_AFTER = 10.0
TRANSIENT = frozenset({502, 503, 504})
_HEADER = re.compile(r"(?! )[^\x00-\x1f\x7f\ud800-\udfff]*(?<! )\Z")
_CHUNK = 64 * 1024
_jitter = secrets.SystemRandom()


@dataclass(frozen=True)
class Answer:
    """What came back: status, headers (names in any case) and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; BadAnswer if it is none."""
        try:
            return parse_object(self.body, "the server's answer")
        except Refused as refused:
            raise BadAnswer(f"{refused.reason} (status {self.status})") from refused


class Transport:
    """Calls under one address. `session` holds the caller's authentication; a call raises Problem for 400 and up."""

    def __init__(
        self,
        base_url: str,
        session: requests.Session,
        *,
        connect_timeout: float = CONNECT_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
        attempts: int = ATTEMPTS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self._session = session
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._attempts = attempts
        self._pause = pause

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        extra_time: float = 0.0,
        repeatable: bool = False,
        redirect_ok: bool = False,
    ) -> Answer:
        """One answer below 400; Refused where `body` or `headers` cannot be sent.

        Only what is `repeatable` is tried again, after a connection that failed or a 502, 503 or 504, with growing,
        jittered pauses. `extra_time` is what the server was asked to hold the answer for.
        """
        attempts = self._attempts if repeatable else 1
        for attempt in range(1, attempts + 1):
            try:
                answer = self._once(method, path, params, body, form, headers, extra_time)
                return judged(answer, redirect_ok=redirect_ok)
            except (Unreachable, Problem) as error:
                pause = pause_after(error, attempt)
                if attempt == attempts or pause is None:
                    raise
                self._pause(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    @contextmanager
    def stream(self, path: str, *, headers: Mapping[str, str], silence: float) -> Iterator[Iterator[bytes]]:
        """The body of a 200 as it comes, for a `with` block; Unreachable after `silence` seconds without a byte."""
        try:
            with self._session.get(
                f"{self.base_url}{path}",
                headers=dict(headers),
                timeout=(self._connect_timeout, silence),
                allow_redirects=False,
                stream=True,
            ) as response:
                if response.status_code != 200:
                    judged(Answer(response.status_code, response.headers, _bounded_body(response)))
                    raise BadAnswer(f"the server answered {response.status_code} where a stream was asked for")
                yield _as_it_comes(response)
        except (requests.RequestException, HTTPError, OSError) as error:
            raise Unreachable(f"GET {self.base_url}{path} failed: {_kind_of(error)}") from error

    def _once(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: object,
        form: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        extra_time: float,
    ) -> Answer:
        url = f"{self.base_url}{path}"
        content, named = encoded(body, headers or {})
        try:
            with self._session.request(
                method,
                url,
                params=params,
                data=form if content is None else content,
                headers={"Accept": "application/json", **named},
                timeout=(self._connect_timeout, self._read_timeout + extra_time),
                allow_redirects=False,
                stream=True,
            ) as response:
                return Answer(response.status_code, response.headers, _bounded_body(response))
        except (requests.RequestException, OSError) as error:
            # Without the query, which may hold what the caller does not want in a log; and only the kind of failure.
            raise Unreachable(f"{method} {url} failed: {_kind_of(error)}") from error


def encoded(body: object, headers: Mapping[str, str]) -> tuple[bytes | None, dict[str, bytes]]:
    """A body as JSON and the headers of a call, in UTF-8. Errors: Refused, for what cannot be sent as either."""
    for name, value in headers.items():
        if not _HEADER.match(value):
            raise Refused(f"the header {name} has characters that no header can have", member=name)
    named = {name: value.encode() for name, value in headers.items()}
    if body is None:
        return None, named
    return dump_json(body, "the body"), {**named, "Content-Type": b"application/json"}


def anonymous(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """The `auth` of a session without a token: without one, requests would look into .netrc."""
    return request


def checked_base_url(url: str, name: str = "the base address") -> str:
    """An http or https address without a trailing slash, query or credentials."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username is not None:
        raise Refused(f"{name} is not an http or https address without query and credentials")
    return url.rstrip("/")


def rest_base_url(url: str) -> str:
    """The REST base: the address as given, or, of a mere origin, its /api/v1."""
    checked = checked_base_url(url)
    return checked if urlsplit(checked).path else f"{checked}/api/v1"


def _bounded_body(response: requests.Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_content(_CHUNK):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise BadAnswer(f"the server's answer is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _as_it_comes(response: requests.Response) -> Iterator[bytes]:
    # read1: iter_content would wait for a full chunk where the server sends none of its own.
    while chunk := response.raw.read1(_CHUNK):
        yield chunk


def _kind_of(error: Exception) -> str:
    if isinstance(error, requests.ConnectTimeout):
        return "the connection timed out"
    if isinstance(error, requests.Timeout | TimeoutError) or "timed out" in str(error):
        return "the answer did not come in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate was not accepted"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__


def judged(answer: Answer, *, redirect_ok: bool = False) -> Answer:
    """The same answer; Problem for 400 and up, BadAnswer for a redirect that nobody asked for."""
    if 300 <= answer.status < 400 and answer.status != 304 and not redirect_ok:
        raise BadAnswer(f"the server answered with a redirect ({answer.status}), which is not followed")
    if answer.status >= 400:
        raise problem_of(answer)
    return answer


def pause_after(error: Exception, attempt: int) -> float | None:
    """Seconds before the next attempt, or None where another would be no use."""
    if isinstance(error, Problem):
        if error.status not in TRANSIENT:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= _LONGEST_RETRY_AFTER else None
    return min(_LONGEST_PAUSE, _PAUSE * 2.0 ** (attempt - 1)) * (0.5 + _jitter.random())


def problem_of(answer: Answer) -> Problem:
    """The error answer as an exception, also where it is not the contract's problem+json."""
    try:
        body = answer.json()
    except BadAnswer:
        body = {}
    code, detail = body.get("code"), body.get("detail") or body.get("title")
    if not isinstance(code, str):
        code, detail = "unexpected_answer", "the answer is no problem body of this service"
    return Problem(
        one_line(code, 64),
        answer.status,
        one_line(str(detail or "")),
        trace_id=one_line(str(body.get("trace_id") or answer.headers.get("X-Request-Id") or ""), 128),
        errors=_field_errors(body.get("errors")),
        extra=body,
        retry_after=_retry_after(answer.headers.get("Retry-After")),
    )


def _field_errors(value: object) -> tuple[FieldError, ...]:
    items = value if isinstance(value, list) else []
    return tuple(
        FieldError(*(one_line(str(item.get(name, ""))) for name in ("field", "code", "message")))
        for item in items[:50]
        if isinstance(item, dict)
    )


def _retry_after(value: str | None) -> float | None:
    # The service sends seconds; the form with a date is left to the usual pause.
    return float(value) if value and value.isascii() and value.isdigit() and len(value) <= 6 else None
