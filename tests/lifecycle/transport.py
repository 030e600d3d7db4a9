"""The way to the addresses: a real socket."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson
import requests
from django.test import Client

from accounts.models import User
from developers.models import App
from tests.callers import signed_in
from tests.factories import TokenFactory
from tests.staff import at_the_admin

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Any  # names in any case
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True)
class Caller:
    """Who calls: an app by its token, or a person by their session and its CSRF token."""

    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)

    @classmethod
    def app(cls, app: App) -> "Caller":
        return cls(headers={"Authorization": f"Bearer {TokenFactory(app=app).secret}"})

    @classmethod
    def person(cls, user: User) -> "Caller":
        """Signed in just now."""
        return cls._with_session(signed_in(user).client)

    @classmethod
    def staff(cls, user: User) -> "Caller":
        """Signed in just now, with a second factor."""
        return cls._with_session(at_the_admin(user))

    @classmethod
    def _with_session(cls, client: Client) -> "Caller":
        session = client.cookies["sessionid"].value
        csrf = secrets.token_hex(16)
        return cls(headers={"X-CSRFToken": csrf}, cookies={"sessionid": session, "csrftoken": csrf})


class Transport:
    """A real server at `address`; sends one call, follows nothing, repeats nothing."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = requests.Session()
        self.session.trust_env = False

    def send(self, caller: Caller, method: str, path: str, body: bytes, headers: dict[str, str]) -> Reply:
        self.session.cookies.clear()  # nobody's session is anybody else's
        found = self.session.request(
            method,
            self.address + path,
            data=body,
            headers={**caller.headers, **headers},
            cookies=caller.cookies,
            allow_redirects=False,
            timeout=60,
        )
        return Reply(found.status_code, found.headers, found.content)

    @contextmanager
    def lines(self, caller: Caller, path: str, headers: dict[str, str]) -> Iterator[Iterator[bytes]]:
        """The lines of an answer that has no end."""
        with requests.get(
            self.address + path, headers={**caller.headers, **headers}, stream=True, timeout=60
        ) as answer:
            assert answer.status_code == 200
            yield answer.iter_lines(chunk_size=1)


def get(transport: Transport, caller: Caller, path: str, /, headers: Any = None, **query: Any) -> Reply:
    """GET with a query, whose members that are None are left out."""
    pairs = urlencode({name: value for name, value in query.items() if value is not None})
    return transport.send(caller, "GET", f"{path}?{pairs}" if pairs else path, b"", headers or {})


def send(
    transport: Transport, caller: Caller, method: str, path: str, body: Any = None, /, headers: Any = None
) -> Reply:
    """JSON."""
    octets = b"" if body is None else orjson.dumps(body)
    return transport.send(caller, method, path, octets, {"Content-Type": JSON, **(headers or {})})


def submit(transport: Transport, caller: Caller, path: str, fields: dict[str, Any]) -> Reply:
    """A form of a page."""
    fields = {**fields, "csrfmiddlewaretoken": caller.headers["X-CSRFToken"]}
    return transport.send(caller, "POST", path, urlencode(fields, doseq=True).encode(), {"Content-Type": FORM})
