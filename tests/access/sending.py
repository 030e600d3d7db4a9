"""Calls of the WSGI application as browsers and programs make them, and the answers as they go over the wire."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.http import FileResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.utils.datastructures import CaseInsensitiveMapping

from config.wsgi import application
from tests.access.world import World
from tests.addresses import TOKENS, Caller
from tests.callers import signed_in
from tests.staff import at_the_admin

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
CSRF = "walk0123456789walk0123456789wa12"  # a token in its short form, which a page of ours would have given


@dataclass(frozen=True)
class Answer:
    status: int
    headers: CaseInsensitiveMapping[str]
    body: bytes
    lines: tuple[str, ...]  # the headers, of which one may come more than once

    @property
    def media_type(self) -> str:
        return str(self.headers.get("Content-Type", "")).partition(";")[0]

    def json(self) -> Any:
        """None for what is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def code(self) -> str:
        """Of a problem, or of a refusal in the shape of JSON-RPC."""
        body = self.json()
        if not isinstance(body, dict):
            return ""
        error = body.get("error")
        return str(error.get("data", {}).get("code", "") if isinstance(error, dict) else body.get("code", ""))


@dataclass(frozen=True)
class Sender:
    """A browser or a program: the headers and cookies that go with every call."""

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)

    def send(
        self, method: str, path: str, body: bytes = b"", media: str = "", *, secure: bool = False, **headers: str
    ) -> Answer:
        """`headers` have underscores for hyphens; an empty one is left out."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in {**self.headers, **named}.items() if value}
        request = RequestFactory().generic(method, path, body, media or JSON, secure=secure, headers=given)
        if self.cookies:
            request.environ["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        begun: list[Any] = []
        with _one_connection():
            found = application(request.environ, lambda status, headers, *_: begun.extend((status, headers)))
            stream = isinstance(found, StreamingHttpResponse) and not isinstance(found, FileResponse)
            content = b"" if stream else b"".join(found)
            if hasattr(found, "close"):
                found.close()
        status, lines = begun
        return Answer(
            int(status.split()[0]), CaseInsensitiveMapping(lines), content, tuple(f"{name}: {it}" for name, it in lines)
        )


@contextmanager
def _one_connection() -> Iterator[None]:
    """No look after the connection around a request: it holds the transaction that undoes everything."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def sender_of(caller: Caller, world: World) -> Sender:
    """Everybody sends the token that forms carry; programs send theirs beside it."""
    headers, cookies = {"X-CSRFToken": CSRF}, {"csrftoken": CSRF}
    if caller in TOKENS:
        headers["Authorization"] = f"Bearer {world.tokens[caller.name]}"
    elif caller is not Caller.ANONYMOUS:
        cookies = {name: morsel.value for name, morsel in _signed_in(caller, world).cookies.items()} | cookies
    return Sender(headers, cookies)


def _signed_in(caller: Caller, world: World) -> Client:
    if caller is Caller.STAFF_2FA:
        return at_the_admin(world.staff_2fa)
    people = {Caller.OWNER: world.owner, Caller.STRANGER: world.stranger, Caller.STAFF: world.staff}
    return signed_in(people[caller]).client
