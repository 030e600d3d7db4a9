"""Signing in as a browser would: the form with its CSRF token, the session cookie, and no page ever rendered."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import requests

from consent_bridge.errors import BadAnswer, BridgeError, Problem
from consent_bridge.transport import Answer, Transport, anonymous

LOGIN_PATH = "/accounts/login/"
REAUTHENTICATE_PATH = "/accounts/reauthenticate/"
_CSRF_FIELD = "csrfmiddlewaretoken"
_PAGE = {"Accept": "text/html"}


class SignInRefused(BridgeError):
    """The account's form was not accepted, or wants a step that only a person can take."""


class _HiddenFields(HTMLParser):
    """The hidden fields of the form that holds a password field."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self._fields = {}
        if tag != "input":
            return
        if values.get("type") == "hidden" and values.get("name"):
            self._fields[str(values["name"])] = values.get("value") or ""
        if values.get("type") == "password":
            self.found = self._fields


class SiteSession:
    """Calls to the consent app with a person's session; JSON calls carry the CSRF token of the session's cookie."""

    def __init__(self, site_url: str, **limits: Any) -> None:
        self._session = requests.Session()
        # No .netrc: the only credential here is the session.
        self._session.auth = anonymous
        self._transport = Transport(site_url, self._session, **limits)

    @property
    def site_url(self) -> str:
        """The address of the consent app, without a trailing slash."""
        return self._transport.base_url

    def close(self) -> None:
        self._session.cookies.clear()
        self._session.close()

    def submit(self, path: str, fields: Mapping[str, str]) -> None:
        """Fill in the form at `path` that holds a password field; SignInRefused if it comes back."""
        page = self._transport.send("GET", path, headers=_PAGE, repeatable=True, redirect_ok=True)
        if page.status != 200:
            raise SignInRefused(f"the form at {path} was not shown (status {page.status})")
        hidden = _hidden_fields(page)
        form = {**hidden, **fields}
        headers = {**_PAGE, "Referer": f"{self.site_url}{path}"}
        try:
            answer = self._transport.send("POST", path, form=form, headers=headers, redirect_ok=True)
        except Problem as problem:
            raise SignInRefused(_form_reason(problem)) from problem
        if answer.status != 302:
            raise SignInRefused("the form was not accepted: the address or the password is wrong")
        _check_next_step(answer.headers.get("Location", ""))

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A JSON answer; tried again where the connection fails."""
        return self.read(path, params).json()

    def read(self, path: str, params: Mapping[str, str] | None = None) -> Answer:
        """Any answer; tried again where the connection fails."""
        return self._transport.send("GET", path, params=params, repeatable=True)

    def send(self, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None) -> Answer:
        """One JSON call that changes something; never repeated."""
        # Django compares the Referer with the host on https, where a script sends no Origin.
        headers = {"X-CSRFToken": self._csrf_token(), "Referer": f"{self.site_url}/"}
        return self._transport.send(method, path, params=params, body=body, headers=headers)

    def _csrf_token(self) -> str:
        for cookie in self._session.cookies:
            if cookie.name.endswith("csrftoken") and cookie.value:
                return cookie.value
        raise SignInRefused("not signed in: there is no CSRF token")


def _hidden_fields(page: Answer) -> dict[str, str]:
    parser = _HiddenFields()
    parser.feed(page.body.decode("utf-8", "replace"))
    parser.close()
    if _CSRF_FIELD not in parser.found:
        raise BadAnswer("the page has no form with a password field and a CSRF token")
    return parser.found


def _form_reason(problem: Problem) -> str:
    if problem.status == 429:
        return "too many attempts: try again later"
    if problem.status == 403:
        return "the form was refused (CSRF)"
    return f"the form was not accepted (status {problem.status})"


def _check_next_step(location: str) -> None:
    if "/2fa/" in location:
        raise SignInRefused("this account asks for a second factor, which a script cannot give")
    if "/confirm-email" in location:
        raise SignInRefused("this account's e-mail address is not confirmed")
