"""Cookies as a browser gets them, under https and without, from the real server."""

import re
from http.cookies import SimpleCookie
from typing import Any

import pytest
import requests

from tests.factories.accounts import PASSWORD
from tests.served_site import Served

pytestmark = pytest.mark.django_db(transaction=True)


def cookies_of(site: str, headers: dict[str, str], email: str) -> dict[str, str]:
    """Every cookie of a sign-in and a change of language, by its name, with what stands after its value."""
    given: dict[str, str] = {}
    jar: dict[str, str] = {}

    def call(method: str, path: str, fields: Any = None) -> requests.Response:
        # the jar is kept by hand: `requests` would not send secure cookies to the proxy's side of the server
        sent = {**headers, "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        found = requests.request(method, site + path, data=fields, headers=sent, allow_redirects=False, timeout=60)
        for line in found.raw.headers.getlist("Set-Cookie"):
            ((name, morsel),) = SimpleCookie(line).items()
            jar[name], given[name] = morsel.value, line.split(";", 1)[1]
        return found

    def submit(path: str, fields: dict[str, str]) -> None:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', call("GET", "/accounts/login/").text)
        assert token
        assert call("POST", path, {**fields, "csrfmiddlewaretoken": token[1]}).status_code == 302

    submit("/language/", {"language": "de"})
    submit("/accounts/login/", {"login": email, "password": PASSWORD})
    assert call("GET", "/vault/keys").status_code == 200
    return given


def test_under_https_every_cookie_is_the_hosts_own(person: Any) -> None:
    served = Served(BEHIND_TLS_PROXY="true")
    secure = served.address.replace("http:", "https:")
    served.environment["BASE_URL"] = secure
    try:
        served.start()
        given = cookies_of(served.address, {"X-Forwarded-Proto": "https", "Origin": secure}, person.email)
    finally:
        served.stop()
        served.close()

    names = {f"__Host-{name}" for name in ("sessionid", "csrftoken", "django_language", "messages", "known-browser")}
    assert given.keys() - {"__Host-messages"} == names - {"__Host-messages"}
    for name, rest in given.items():
        assert name in names
        members = {part.strip().lower() for part in rest.split(";")}
        assert {"secure", "path=/"} <= members, name
        assert not any(part.startswith("domain") for part in members), name


def test_without_tls_the_names_are_plain(service: str, person: Any) -> None:
    given = cookies_of(service, {"Origin": service}, person.email)

    assert {"sessionid", "csrftoken", "django_language"} <= given.keys()
    assert not any(name.startswith("__") for name in given)
