"""A signed-in person without a browser: the session, its CSRF token, and JSON both ways."""

from typing import Any
from urllib.parse import urljoin

import requests

_SECONDS = 60
_LOGIN = "/accounts/login/"


class Refused(Exception):
    """An answer that was not expected; says which address gave it, and why."""


class Visitor:
    """One person at one service. Every failure is `Refused`."""

    def __init__(self, address: str) -> None:
        self._address, self._session = address, requests.Session()
        self._session.trust_env = False  # neither a proxy nor a .netrc

    def sign_in(self, email: str, password: str) -> None:
        self._request("GET", _LOGIN)
        form = {"login": email, "password": password, "csrfmiddlewaretoken": self._csrf_token()}
        answer = self._request("POST", _LOGIN, data=form)
        if answer.status_code != 302:
            raise Refused("the address or the password is wrong")

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One JSON call with the session and its CSRF token."""
        answer = self._request(method, path, json=body, headers={"X-CSRFToken": self._csrf_token()})
        try:
            found: dict[str, Any] = answer.json()
        except ValueError:
            found = {}
        if answer.status_code >= 300 or "error" in found:
            raise Refused(f"{method} {path} answered {answer.status_code}: {answer.text[:300]}")
        return found

    def send_prompt(self, agent: str, text: str, *, then: str = "") -> str:
        """What an agent answers to a prompt, as text; where it asks something back it is told `then`."""
        answer = self.call("POST", f"/api/a2a/{agent}", {"text": text})
        if answer["result"]["status"]["state"] == "input-required" and then:
            same = {"id": answer["result"]["id"], "sessionId": answer["result"]["sessionId"]}
            answer = self.call("POST", f"/api/a2a/{agent}", {"text": then, **same})
        return "".join(part["text"] for part in answer["result"]["status"]["message"]["parts"])

    def open(self, url: str) -> None:
        """Follow an address of the service, as a browser that was sent back there does."""
        answer = self._request("GET", url)
        if answer.status_code >= 400:
            raise Refused(f"{url.partition('?')[0]} answered {answer.status_code}")

    def _request(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **what: Any
    ) -> requests.Response:
        sent = {"Referer": f"{self._address}/", **(headers or {})}
        url = urljoin(self._address, path)
        try:
            return self._session.request(method, url, headers=sent, timeout=_SECONDS, allow_redirects=False, **what)
        except requests.RequestException as error:
            raise Refused(f"{path} does not answer: {type(error).__name__}") from None

    def _csrf_token(self) -> str:
        found = [cookie.value for cookie in self._session.cookies if cookie.name.endswith("csrftoken")]
        return found[0] or "" if found else ""
