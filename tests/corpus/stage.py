"""Where a play takes place: one caller after another calls the WSGI application, and every answer is written down."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import gettempdir
from typing import Any
from urllib.parse import quote

import orjson
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.http import StreamingHttpResponse
from django.test import RequestFactory, override_settings
from django.urls import Resolver404, resolve

import tests.factories
from agents_proxy.proxy import limits as proxy_limits
from common.token_buckets import Buckets
from config.wsgi import application
from consent.api.polling import polls
from tests.access.routes import plain_route
from tests.answers.clock import Clock, stopped_clock
from tests.answers.placeholders import Placeholders
from tests.callers import signed_in

HOST, ADDRESS = "localhost:8000", "203.0.113.7"
CSRF = "corpus0123456789corpus0123456789"
# PostgreSQL gives the members of what it kept as JSON in an order of its own, SQLite in that in which they came; so
# they are recorded sorted, here and in the data of events
_FROM_JSON_COLUMNS = {"metadata", "counts", "provenance", "facts", "connector_public_key"}
_EVENT = re.compile(r"(?<=\ndata: )\{.*\}(?=\n)")
_SAFE = ("GET", "HEAD", "OPTIONS")
_LONGEST_BODY_TOLD = 6000  # bytes of what was sent; of longer bodies the length is told
_MEMORIES: tuple[Buckets, ...] = (polls, proxy_limits.sessions, proxy_limits.addresses)  # limits of this process


@dataclass(frozen=True)
class Caller:
    """Who calls: the headers and cookies that go with every call of theirs."""

    name: str
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def with_token(cls, name: str, token: str) -> "Caller":
        return cls(name, {"Authorization": f"Bearer {token}"})

    @classmethod
    def signed_in(cls, name: str, user: Any, *, seconds_ago: int = 0) -> "Caller":
        """A person's browser, with the CSRF token that a page of ours would have given it."""
        return cls.with_cookies(name, signed_in(user, seconds_ago=seconds_ago).client.cookies)

    @classmethod
    def with_cookies(cls, name: str, cookies: Any) -> "Caller":
        held = {key: morsel.value for key, morsel in cookies.items()}
        return cls(name, {"X-CSRFToken": CSRF}, {**held, "csrftoken": CSRF})


NOBODY = Caller("nobody")


@dataclass(frozen=True)
class Answer:
    """One answer as it went over the wire."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


class Stage:
    """What the plays act on. `exchanges` is the recording as it grows."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.placeholders = Placeholders()
        self.exchanges: list[dict[str, Any]] = []
        self._named: set[str] = set()

    def call(
        self,
        what: str,
        caller: Caller,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        media: str = "application/json",
        headers: Mapping[str, str] | None = None,
        chunks: int = 0,
        page: bool = False,
        any_order: bool = False,
    ) -> Answer:
        """Call an address and write down what it answers.

        `body` goes as JSON, or `raw` as it is. Of a stream only so many `chunks` are read. Of a `page` only status and
        headers are written down. `any_order`: as in `written`.
        """
        sent = orjson.dumps(body) if raw is None and body is not None else raw or b""
        answer = self.ask(caller, method, path, sent, media=media, headers=headers, chunks=chunks)
        self._add(
            {
                "what": what,
                "caller": caller.name,
                **self._request(method, path, sent, media, headers or {}),
                **self.told(answer, page=page, any_order=any_order),
            }
        )
        return answer

    def _add(self, exchange: dict[str, Any]) -> None:
        """Two of one name could not be told apart when they are compared."""
        name = name_of(exchange)
        assert name not in self._named, f"there are two of this name: {name}"
        self._named.add(name)
        self.exchanges.append(exchange)

    def ask(
        self,
        caller: Caller,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        media: str = "application/json",
        headers: Mapping[str, str] | None = None,
        chunks: int = 0,
    ) -> Answer:
        """The answer alone, a second later."""
        self.clock.move()
        given = {"Host": HOST, **caller.headers, **(headers or {})}
        if method in _SAFE:
            given.pop("X-CSRFToken", None)
        request = RequestFactory().generic(method, path, body, media, headers=given, REMOTE_ADDR=ADDRESS)
        environ = request.environ
        if caller.cookies:
            environ["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in caller.cookies.items())
        return _answered(environ, chunks)

    def told(self, answer: Answer, *, page: bool = False, any_order: bool = False) -> dict[str, Any]:
        """An answer as it is recorded."""
        trace = answer.header("X-Request-Id")
        headers = [
            f"{name}: {self.placeholders.put(_settled(name, value, answer.body), trace=trace)}"
            for name, value in sorted(answer.headers)
        ]
        if page:
            shown = [line for line in headers if not line.startswith("Content-Length:")]
            return {"status": answer.status, "headers": shown}
        body = written(self.placeholders.put(answer.body.decode(), trace=trace), any_order=any_order)
        tokens = self.placeholders.take_descriptions()
        return {"status": answer.status, "headers": headers, **body, **({"tokens": tokens} if tokens else {})}

    def _request(self, method: str, path: str, sent: bytes, media: str, headers: Mapping[str, str]) -> dict[str, Any]:
        told: dict[str, Any] = {"address": address_of(path), "request": f"{method} {self.placeholders.put(path)}"}
        if headers:
            told["sent_headers"] = {name: self.placeholders.put(value) for name, value in headers.items()}
        if sent:
            told["sent_type"] = media
            text = sent.decode("utf-8", "backslashreplace")
            told["sent"] = written(self.placeholders.put(text)) if len(sent) <= _LONGEST_BODY_TOLD else len(sent)
            self.placeholders.take_descriptions()
        return told


def _answered(environ: dict[str, Any], chunks: int) -> Answer:
    begun: list[Any] = []
    with _one_connection():
        found = application(environ, lambda status, headers, *_: begun.extend((status, headers)))
        if isinstance(found, StreamingHttpResponse):
            body = b"".join(part for _, part in zip(range(chunks), iter(found), strict=False))
        else:
            body = b"".join(found)
        if hasattr(found, "close"):
            found.close()
    status, headers = begun
    assert not status.startswith("500"), f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} broke: {body!r}"
    return Answer(int(status.split()[0]), [(name, value) for name, value in headers], body)


def _settled(name: str, value: str, body: bytes) -> str:
    """Two headers whose bytes are not those of another process: the order of a set, and the length of what is named."""
    if name == "Content-Security-Policy":
        return "; ".join(sorted(value.split("; ")))
    if name == "Content-Length" and body and value == str(len(body)):
        return "<of the body>"
    return value


def written(text: str, *, any_order: bool = False) -> dict[str, Any]:
    """A body as it is recorded: JSON where one of the two ways of writing it gives the same text again.

    `any_order` is for what was kept whole in a JSON column, see `_FROM_JSON_COLUMNS`.
    """
    if not text:
        return {}
    for form, separators in (("compact", (",", ":")), ("spaced", None)):
        try:
            value = json.loads(text)
            if json.dumps(value, ensure_ascii=form == "spaced", separators=separators) == text:
                return {"form": form, "json": _ordered(value, sort=any_order)}
        except ValueError:
            break
    return {"text": _EVENT.sub(lambda data: json.dumps(_ordered(json.loads(data[0]), sort=True)), text)}


def _ordered(value: Any, *, sort: bool = False) -> Any:
    """`value` with the members of what comes out of a JSON column sorted."""
    if isinstance(value, list):
        return [_ordered(one, sort=sort) for one in value]
    if not isinstance(value, dict):
        return value
    members = sorted(value.items()) if sort else value.items()
    return {name: _ordered(one, sort=sort or name in _FROM_JSON_COLUMNS) for name, one in members}


def name_of(exchange: dict[str, Any]) -> str:
    """What tells one exchange of an area from the others."""
    return f"{exchange['request']} by {exchange['caller']}: {exchange['what']}"


def address_of(path: str) -> str:
    """The address of the URL configuration that a path leads to, "" for none; what it names is left open."""
    try:
        return with_open_names(plain_route(resolve(path.partition("?")[0]).route))
    except Resolver404:
        return ""


def with_open_names(route: str) -> str:
    """What a part of an address is called in the code is no part of the answer."""
    return re.sub(r"<[^>]*>", "{}", route)


def in_path(value: str) -> str:
    """A part of a path."""
    return quote(value, safe="")


@contextmanager
def stage() -> Iterator[Stage]:
    """A stage with nobody on it, in a transaction that is taken back afterwards."""
    # stores are shared with others, and what is unset in one environment may be set in another
    known = override_settings(
        REDIS_URL="",
        CELERY_BROKER_TRANSPORT_OPTIONS={"data_folder_out": gettempdir()},
        MESSAGING_REPORT_SECRET="",
        TRUSTED_PROXIES=0,
    )
    with known, transaction.atomic(), _numbers_from_nought(), stopped_clock() as clock:
        for memory in _MEMORIES:
            memory.clear()
        try:
            yield Stage(clock)
        finally:
            for memory in _MEMORIES:
                memory.clear()
            transaction.set_rollback(True)


@contextmanager
def _one_connection() -> Iterator[None]:
    """A request neither begins nor ends with a look after the connection, which holds the transaction of this stage."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


@contextmanager
def _numbers_from_nought() -> Iterator[None]:
    """The factories number what they make; here they begin at nought, whatever was made before."""
    made = [getattr(tests.factories, name) for name in tests.factories.__all__]
    numbering = [each for each in made if hasattr(each, "reset_sequence")]
    reached = [each._meta.next_sequence() for each in numbering]
    for each in numbering:
        each.reset_sequence(0, force=True)
    try:
        yield
    finally:
        for each, number in zip(numbering, reached, strict=True):
            each.reset_sequence(number, force=True)
