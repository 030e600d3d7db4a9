"""The headers of what is no address, of another host and over TLS; tests/access has those of every address.

With the database away, and on a real server, in tests/system/config/test_outage.py.
"""

import gzip
import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from config.middleware import RequestContext, SecurityHeaders
from tests.callers import Developer, signed_in
from tests.config.wanted_headers import lacking
from tests.factories import ExportFactory, ProcessingConsentFactory, known_as


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


def test_what_has_no_body_has_no_length(api: Developer, person: Any) -> None:
    grant = ExportFactory(grant__request__app=api.app).grant
    query = {"request_id": grant.request.request_id}
    unchanged = {"If-None-Match": api.get("/consent-export", **query)["ETag"]}

    answers = [
        api.get("/consent-export", unchanged, **query),
        api.delete(f"/connections/{known_as(api.app, person)}"),
        signed_in(person).delete(f"/api/a2a/consents/{ProcessingConsentFactory(user=person).consent_id}"),
        Client().options("/oauth/token"),
    ]

    assert [answer.status_code for answer in answers] == [304, 204, 204, 204]
    assert not any(answer.has_header("Content-Length") for answer in answers)


def test_programs_are_told_that_their_answers_are_no_documents(api: Developer) -> None:
    for answer in (api.get("/scope-catalog"), api.get("/nothing"), Client().get("/mcp")):
        assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


@pytest.mark.parametrize(
    ("path", "method", "is_compressed"),
    [
        ("/accounts/login/", "GET", True), ("/accounts/login/?next=/consent/", "GET", False),
        ("/nothing", "GET", False), ("/accounts/login/", "POST", False), ("/api/v1/scope-catalog", "GET", False),
        ("/jsi18n/", "GET", False),
    ],
)  # fmt: skip
def test_pages_alone_are_compressed_and_none_that_answers_what_was_typed(
    path: str, method: str, is_compressed: bool, db: None
) -> None:
    answer = Client(headers={"accept-encoding": "gzip"}).generic(method, path)

    assert answer.headers.get("Content-Encoding") == ("gzip" if is_compressed else None)


def test_the_token_against_forgery_is_another_in_each_page(db: None) -> None:
    """What is compressed beside it says nothing of it: it is masked anew."""
    browser = Client(headers={"accept-encoding": "gzip"})
    pages = [gzip.decompress(browser.get("/accounts/login/").content) for _ in range(2)]
    tokens = {token for page in pages for token in re.findall(rb'name="csrf-token" content="(\w+)"', page)}

    assert len(tokens) == 2


@pytest.mark.parametrize(
    ("name", "is_part"),
    [
        ("js/a.0123456789ab.js", True),
        ("css/a.0123456789ab.css", True),
        ("js/a.js", False),
        ("img/a.0123456789ab.svg", False),
    ],
)
def test_parts_of_pages_carry_no_header_of_documents(name: str, is_part: bool) -> None:
    """On real files, their octets in bench/sheet.py."""
    of_documents = {"Content-Security-Policy", "Referrer-Policy", "Cross-Origin-Opener-Policy", "X-Request-Id"}
    answer = RequestContext(SecurityHeaders(lambda request: HttpResponse()))(RequestFactory().get(f"/static/{name}"))

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert {*answer.headers} & of_documents == (set() if is_part else of_documents)
