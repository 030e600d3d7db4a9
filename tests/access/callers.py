"""Everybody who may come to an address, and what each of them is answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

import orjson
from django.http import HttpResponse
from django.test import Client

from tests.callers import signed_in
from tests.staff import at_the_admin

if TYPE_CHECKING:
    from tests.access.world import World


class Caller(Enum):
    """Who calls. The values head the columns of the table in docs/access.md."""

    ANONYMOUS = "nobody"
    OWNER = "person A"
    STRANGER = "person B"
    APP = "app A"
    OTHER_APP = "app B"
    SUSPENDED = "suspended app"
    REVOKED = "revoked token"
    DISCOVER = "`discover` alone"
    REQUEST = "`request` alone"
    READ = "`read` alone"
    TEST_APP = "test app A"
    OTHER_TEST_APP = "test app B"
    MANAGER = "A's management token"
    MANAGER_READ = "the same, `read` alone"
    OTHER_MANAGER = "B's management token"
    STAFF = "staff"
    STAFF_2FA = "staff, second factor"


PEOPLE = (Caller.OWNER, Caller.STRANGER, Caller.STAFF, Caller.STAFF_2FA)
TOKENS = (
    Caller.APP, Caller.OTHER_APP, Caller.SUSPENDED, Caller.REVOKED, Caller.DISCOVER, Caller.REQUEST, Caller.READ,
    Caller.TEST_APP, Caller.OTHER_TEST_APP,
    Caller.MANAGER, Caller.MANAGER_READ, Caller.OTHER_MANAGER,
)  # fmt: skip


@dataclass(frozen=True)
class Session:
    """A client of one caller, and the headers that it sends with everything."""

    client: Client
    headers: dict[str, str]

    def answer(self, method: str, path: str, body: Any = None, *, form: bool = False) -> HttpResponse:
        """What this caller is answered; a form goes as a page sends it, everything else as JSON."""
        accept = {"Accept": "application/json, text/event-stream"} if path.startswith("/mcp") else {}
        headers = {**self.headers, **accept}
        if body is None:
            return self.client.generic(method, path, headers=headers)
        if form:
            return self.client.post(path, body, headers=headers)
        return self.client.generic(method, path, orjson.dumps(body), content_type="application/json", headers=headers)

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """The same cookies afterwards as before."""
        kept = self.client.cookies.output(header="")
        try:
            yield
        finally:
            self.client.cookies = SimpleCookie(kept)


def session_of(caller: Caller, world: "World") -> Session:
    """A session of this caller; a token goes into the header."""
    if caller in TOKENS:
        return Session(Client(), {"Authorization": f"Bearer {world.tokens[caller.name]}"})
    if caller is Caller.ANONYMOUS:
        return Session(Client(), {})
    people = {Caller.OWNER: world.owner, Caller.STRANGER: world.stranger, Caller.STAFF: world.staff}
    if caller is Caller.STAFF_2FA:
        return Session(at_the_admin(world.staff_2fa), {})
    return Session(signed_in(people[caller]).client, {})


def in_short(response: HttpResponse) -> str:
    """The status, and for a redirect where it leads: `302 sign-in`, `302 second factor`, `302 confirm`."""
    if response.status_code not in (301, 302, 303):
        return str(response.status_code)
    location = response["Location"]
    leads = {
        "/accounts/login/": "sign-in",
        "/admin/login/": "sign-in",
        "/accounts/2fa/": "second factor",
        "/accounts/reauthenticate/": "confirm",
    }
    to = next((name for start, name in leads.items() if location.startswith(start)), "")
    return f"{response.status_code} {to}".strip()
