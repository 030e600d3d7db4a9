"""A browser without scripts: follows links, fills in the forms that pages really have, keeps cookies and loses them."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from tests.factories.accounts import PASSWORD

# what browsers send with a form of ours: every page's policy is `no-referrer`
OWN = {"Sec-Fetch-Site": "same-origin", "Origin": "null"}

CONFIRM_BY_CODE = "/accounts/2fa/reauthenticate/"


@dataclass
class Form:
    """A form as it stands in a page: where it goes, and what it would send."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    unticked: set[str] = field(default_factory=set)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)  # name, value, formaction


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._by_id: dict[str, Form] = {}  # a field may stand outside of the form that it names
        self._inside: Form | None = None
        self._typing: tuple[Form, str] | None = None
        self._choosing: tuple[Form, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = Form(has.get("action", ""))
            if "id" in has:
                self._inside = self._by_id.setdefault(has["id"], self._inside)
                self._inside.action = has.get("action", "")
            if has.get("method", "").lower() == "post":
                self.forms.append(self._inside)
        if tag == "option" and self._choosing is not None:
            chosen, name = self._choosing
            if "selected" in has or name not in chosen.fields:
                chosen.fields[name] = has.get("value", "")
        form = self._by_id.setdefault(has["form"], Form("")) if "form" in has else self._inside
        if form is None or ("name" not in has and tag != "button"):
            return
        if tag == "button":
            form.buttons.append((has.get("name", ""), has.get("value", ""), has.get("formaction", "")))
        elif tag == "select":
            self._choosing = (form, has["name"])
        elif tag == "textarea":
            self._typing = (form, has["name"])
            form.fields[has["name"]] = ""
        elif tag == "input" and has.get("type") in ("checkbox", "radio") and "checked" not in has:
            form.unticked.add(has["name"])
        elif tag == "input":
            form.fields[has["name"]] = has.get("value", "on" if has.get("type") == "checkbox" else "")

    def handle_data(self, data: str) -> None:
        if self._typing is not None:
            form, name = self._typing
            form.fields[name] += data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = None
        elif tag == "textarea":
            self._typing = None
        elif tag == "select":
            self._choosing = None


def forms_of(answer: HttpResponse) -> list[Form]:
    parser = _Forms()
    parser.feed(answer.content.decode())
    return parser.forms


def form_to(answer: HttpResponse, path: str, **sent: str) -> Form:
    """The form of this page that goes to `path`; of several, the one that would send `sent`."""
    here = answer.wsgi_request.get_full_path()  # type: ignore[attr-defined]  # the test client adds it

    def fits(form: Form) -> bool:
        buttons = {(name, value) for name, value, _ in form.buttons}
        known = {*form.fields, *form.unticked}
        to = (form.action or here).partition("#")[0]  # which browsers keep to themselves
        return to == path and all(pair in buttons or pair[0] in known for pair in sent.items())

    found = [form for form in forms_of(answer) if fits(form)]
    assert found, f"no form to {path} in {here}: {[form.action for form in forms_of(answer)]}"
    exact = [form for form in found if all(form.fields.get(name) == value for name, value in sent.items())]
    return (exact or found)[0]


def waiting_titles(answer: HttpResponse) -> list[str]:
    """The titles of the forms that wait on this page, or that it shows for confirmation."""
    found = re.findall(r'id="(?:waiting-[0-9a-f]{16}|asked-title)">(.*?)</', answer.content.decode())
    return [unescape(title) for title in found]


class Browser:
    """One browser; `answer` is the page that it shows."""

    def __init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.answer: Any = None

    def open(self, path: str) -> Any:
        self.answer = self.client.get(path, follow=True)
        return self.answer

    def send(self, path: str, fields: dict[str, str], *, follow: bool = True, **headers: str) -> Any:
        self.answer = self.client.post(path, fields, headers={**OWN, **headers}, follow=follow)
        return self.answer

    def press(self, path: str, typed: dict[str, str], *, follow: bool = True) -> Any:
        """Press the button of this page's form that goes to `path`, after typing and ticking `typed`."""
        form = form_to(self.answer, path, **{name: typed[name] for name in typed})
        return self.send(path, {**form.fields, **typed}, follow=follow)

    def sign_in(self, user: User, path: str = "/accounts/login/") -> Any:
        """Through the form, from whatever led there."""
        self.open(path)
        form = form_to(self.answer, "/accounts/login/", login="")
        return self.send("/accounts/login/", {**form.fields, "login": user.email, "password": PASSWORD})

    def confirm_it_is_me(self) -> Any:
        """The password once more, or a recovery code: what the site asks for."""
        if self.answer.wsgi_request.path == CONFIRM_BY_CODE:
            codes = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()
            form = form_to(self.answer, CONFIRM_BY_CODE, code="")
            return self.send(CONFIRM_BY_CODE, {**form.fields, "code": codes[0]})
        form = form_to(self.answer, "/accounts/reauthenticate/", password="")
        return self.send("/accounts/reauthenticate/", {**form.fields, "password": PASSWORD})

    def end_session(self) -> None:
        """What a browser does with a cookie that is over, and a person with all cookies of a kind."""
        del self.client.cookies[settings.SESSION_COOKIE_NAME]

    def lose_token(self) -> None:
        del self.client.cookies[settings.CSRF_COOKIE_NAME]

    @property
    def text(self) -> str:
        return str(self.answer.content.decode())

    @property
    def path(self) -> str:
        """Where the page that is shown really is, with its query."""
        return str(self.answer.wsgi_request.get_full_path())
