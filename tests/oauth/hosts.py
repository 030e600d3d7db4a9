"""A host that connects by OAuth, written by hand, and the person at the browser."""

import base64
import hashlib
import html
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from tests.callers import sign_in

ORIGIN = "http://localhost:8000"
MCP, REST = f"{ORIGIN}/mcp", f"{ORIGIN}/api/v1"
REDIRECT = "http://127.0.0.1:33418/callback"
VERIFIER = "v" * 50


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


@dataclass
class OAuthHost:
    """One registered client. `authorize` is the person's part of it."""

    client_id: str
    redirect_uri: str = REDIRECT

    @classmethod
    def registered(cls, redirect_uri: str = REDIRECT, **metadata: Any) -> "OAuthHost":
        answer = register(redirect_uris=[redirect_uri], **metadata)
        assert answer.status_code == 201, answer.content
        return cls(answer.json()["client_id"], redirect_uri)

    def query(self, **changed: Any) -> dict[str, Any]:
        """What the host sends the browser with; None leaves a member out."""
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "resource": MCP,
            "state": "as it was",
            **changed,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    def look(self, user: User, *, seconds_ago: int = 0, **changed: Any) -> HttpResponse:
        return browser_of(user, seconds_ago=seconds_ago).get("/oauth/authorize/", self.query(**changed))

    def answer(
        self, user: User, *, act_as: str = "me", answer: str = "allow", permissions: Any = None, **changed: Any
    ) -> HttpResponse:
        ticked = ["discover", "request", "read"] if permissions is None else permissions
        form = {"act_as": act_as, "permission": ticked, "answer": answer}
        return browser_of(user).post("/oauth/authorize/", form, query_params=self.query(**changed))

    def authorize(self, user: User, **given: Any) -> dict[str, str]:
        """What the browser brings back to the host."""
        answer = self.answer(user, **given)
        assert answer.status_code == 303, answer.content.decode()
        return brought_back(answer)

    def redeem(self, code: str, **changed: str) -> HttpResponse:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": VERIFIER,
            "redirect_uri": self.redirect_uri,
            **changed,
        }
        return self.post("/oauth/token", form)

    def refresh(self, token: str, **changed: str) -> HttpResponse:
        return self.post("/oauth/token", {"grant_type": "refresh_token", "refresh_token": token, **changed})

    def revoke(self, token: str) -> HttpResponse:
        return self.post("/oauth/revoke", {"token": token})

    def post(self, path: str, form: dict[str, str]) -> HttpResponse:
        return send_form(path, {"client_id": self.client_id, **form})

    def connect(self, user: User, **given: Any) -> dict[str, Any]:
        """The tokens, once the person agreed."""
        answer = self.redeem(self.authorize(user, **given)["code"])
        assert answer.status_code == 200, answer.content
        tokens: dict[str, Any] = answer.json()
        return tokens


def register(**metadata: Any) -> HttpResponse:
    return Client().post("/oauth/register", orjson.dumps(metadata), content_type="application/json")


def send_form(path: str, form: dict[str, str], **headers: str) -> HttpResponse:
    return Client().post(path, urlencode(form), content_type="application/x-www-form-urlencoded", headers=headers)


def browser_of(user: User, *, seconds_ago: int = 0) -> Client:
    client = Client()
    sign_in(client, user, seconds_ago=seconds_ago)
    return client


def offered_back(answer: HttpResponse) -> dict[str, str]:
    """What the host is told, once the person goes back by the page's link; nothing sent them there before."""
    assert (answer.status_code, answer.headers.get("Location")) == (400, None), answer.content.decode()
    links = re.findall(r'<a class="btn" href="([^"]+)" rel="noreferrer">', answer.content.decode())
    return dict(parse_qsl(urlsplit(html.unescape(links[0])).query))


def brought_back(answer: HttpResponse) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(answer["Location"]).query))
