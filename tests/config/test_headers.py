"""The headers of what is no address, of another host and over TLS; tests/access has those of every address.

With the database away, and on a real server, in tests/system/config/test_outage.py.
"""

from typing import Any

import pytest
from django.test import Client

from tests.callers import Developer, signed_in
from tests.config.wanted_headers import lacking


def browser_of(user: Any) -> Client:
    client = signed_in(user).client
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(
    "path",
    ["/", "/accounts/login/", "/consent/", "/admin/", "/vault/keys", "/api/v1/scope-catalog", "/api/a2a/core", "/mcp",
     "/livez", "/log/key", "/nothing-here", "/static/nothing"],
)  # fmt: skip
def test_over_tls_browsers_are_told_to_stay_there(path: str, person: Any, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = 31536000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
    settings.SECURE_SSL_REDIRECT = True
    for caller in (Client(raise_request_exception=False), browser_of(person)):
        for answer in (caller.get(path, secure=True), caller.post(path, b"{", "application/json", secure=True)):
            assert lacking(path, answer.status_code, answer.headers, https=True) == [], answer.status_code


@pytest.mark.parametrize(
    "path",
    [
        "/nothing-here", "/accounts/", "/consent", "/mcp/nothing", "/api/v1/nothing", "/api/nothing", "/static/nothing",
        "/static/../config/settings.py", "/.well-known/nothing", "/%00", "/%ff", "//evil.example/", "/admin/nothing/",
        "/" + "a" * 5000,
    ],
    ids=lambda path: path[:30],
)  # fmt: skip
def test_what_is_no_address_has_its_headers_too(path: str, person: Any) -> None:
    for caller in (Client(raise_request_exception=False), browser_of(person)):
        for method in ("GET", "POST", "OPTIONS"):
            answer = caller.generic(method, path)
            assert lacking(path, answer.status_code, answer.headers, https=False) == [], (method, answer.status_code)


def test_another_host_and_plain_http_have_their_headers_too(db: None, settings: Any) -> None:
    elsewhere = Client(headers={"host": "elsewhere.example"})
    settings.SECURE_SSL_REDIRECT = True
    plain = Client()

    for path in ("/", "/consent/", "/api/v1/scope-catalog", "/mcp", "/api/a2a/core", "/livez", "/static/nothing"):
        for caller in (elsewhere, plain):
            answer = caller.get(path)
            assert lacking(path, answer.status_code, answer.headers, https=False) == [], (path, answer.status_code)


def test_programs_are_told_that_their_answers_are_no_documents(api: Developer) -> None:
    for answer in (api.get("/scope-catalog"), api.get("/nothing"), Client().get("/mcp")):
        assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
