"""Who calls: a developer with a token, a person with a session, a stranger."""

import time
from dataclasses import dataclass
from typing import Any

import orjson
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from developers.models import App, DeveloperToken
from tests.factories import ManagementTokenFactory, TokenFactory

API = "/api/v1"


@dataclass
class JsonClient:
    """Sends JSON. The answer is Django's own test response; `answer.json()` is its body."""

    client: Client
    prefix: str = ""
    headers: dict[str, str] | None = None

    def get(self, path: str, /, headers: dict[str, str] | None = None, **query: Any) -> HttpResponse:
        return self.client.get(self.prefix + path, query, headers=self._headers(headers))

    def delete(self, path: str, /, headers: dict[str, str] | None = None, **query: Any) -> HttpResponse:
        return self.client.delete(self.prefix + path, query_params=query, headers=self._headers(headers))

    def post(self, path: str, body: Any = None, /, headers: dict[str, str] | None = None) -> HttpResponse:
        return self.send("POST", path, orjson.dumps({} if body is None else body), headers=headers)

    def patch(self, path: str, body: Any = None, /, headers: dict[str, str] | None = None) -> HttpResponse:
        return self.send("PATCH", path, orjson.dumps({} if body is None else body), headers=headers)

    def put(self, path: str, body: Any = None, /, headers: dict[str, str] | None = None) -> HttpResponse:
        return self.send("PUT", path, orjson.dumps({} if body is None else body), headers=headers)

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        /,
        *,
        media_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> HttpResponse:
        """Exactly these bytes, for what does not fit."""
        return self.client.generic(
            method, self.prefix + path, body, content_type=media_type, headers=self._headers(headers)
        )

    def _headers(self, headers: dict[str, str] | None) -> dict[str, str]:
        return {**(self.headers or {}), **(headers or {})}


@dataclass
class Developer(JsonClient):
    """An app's own backend at `/api/v1`: `api.get("/consent-status", request_id=…)`."""

    app: App | None = None
    token: str = ""
    row: DeveloperToken | None = None

    @classmethod
    def of(cls, app: App, **token: Any) -> "Developer":
        """A caller with a fresh token of `app`; the keywords are the token's fields."""
        row = TokenFactory(app=app, **token)
        return cls(
            client=Client(), prefix=API, headers={"Authorization": f"Bearer {row.secret}"},
            app=app, token=row.secret, row=row,
        )  # fmt: skip


def manager(user: User, **token: Any) -> JsonClient:
    """A program of this person's at `/api/v1/manage`; the keywords are the management token's fields."""
    secret = ManagementTokenFactory(user=user, **token).secret
    return JsonClient(Client(), prefix=f"{API}/manage", headers={"Authorization": f"Bearer {secret}"})


def signed_in(user: User, *, seconds_ago: int = 0, enforce_csrf: bool = False) -> JsonClient:
    """`user` with a session whose sign-in, by password, was so many seconds ago."""
    client = Client(enforce_csrf_checks=enforce_csrf)
    sign_in(client, user, seconds_ago=seconds_ago)
    return JsonClient(client)


def sign_in(client: Client, user: User, *, seconds_ago: int = 0) -> None:
    """The same for a browser that is there; `force_login` alone leaves no record of a sign-in."""
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - seconds_ago}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
