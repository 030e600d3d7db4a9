"""Every refusal that a person can meet has a page of its own with a way on; programs get problem+json."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from accounts.models import User
from config.pages import RefusalPages
from tests.callers import JsonClient, signed_in

pytestmark = pytest.mark.django_db


def page(answer: Any, status: int) -> str:
    """The text of a whole page of ours that leads on."""
    text = str(answer.content.decode())
    assert answer.status_code == status
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    assert answer["Cache-Control"] == "no-store"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert f'<p class="error-code">{status}</p>' in text
    assert "<h1>" in text
    assert 'class="btn p" href="/' in text
    return text


@pytest.mark.parametrize("signed", [True, False], ids=["signed in", "nobody"])
@pytest.mark.parametrize(
    ("method", "path", "way_on"),
    [
        ("GET", "/consent/grants/grt_x/stop/", "/consent/grants/"),
        ("GET", "/consent/requests/req_x/deny/", "/consent/requests/req_x/"),
        ("GET", "/vault/discovery/", "/vault/"),
        ("GET", "/language/", "/"),
        ("POST", "/consent/verify/", "/consent/verify/"),
        ("PATCH", "/accounts/2fa/", "/accounts/2fa/"),
        ("DELETE", "/docs/errors", "/docs/errors"),
    ],
)
def test_a_wrong_method_has_a_page(person: User, signed: bool, method: str, path: str, way_on: str) -> None:
    client = signed_in(person).client if signed else Client()
    answer = client.generic(method, path)
    if answer.status_code == 302:
        assert not signed  # to the sign-in, and from there by GET
        return
    assert f'href="{way_on}"' in page(answer, 405)
    assert answer["Allow"]


def test_a_wrong_method_of_a_program_is_a_problem(client: Client, owner: JsonClient) -> None:
    for answer in (
        client.get("/consent/grants/grt_x/stop/", headers={"Accept": "application/json"}),
        client.post("/livez"),
        owner.post("/vault/segments"),
        client.get("/api/v1/request-consent"),
    ):
        assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json")
        assert answer.json()["code"] == "method_not_allowed"


GUESSED = [
    "/.well-known", "/.well-known/oauth-authorization-server/mcp", "/.well-known/openid-configuration/mcp", "/api",
    "/api/v2/", "/log", "/livez/", "/readyz/deep", "/mcp/sse", "/register", "/token", "/openapi.json", "/vault/segment",
]  # fmt: skip


@pytest.mark.parametrize("path", GUESSED)
def test_a_program_that_guesses_an_address_is_told_in_json(client: Client, path: str) -> None:
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json, text/event-stream"}):
        for answer in (client.get(path, headers=headers), client.post(path, headers=headers)):
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
            assert answer.json()["code"] == "not_found"


def test_a_browser_that_guesses_an_address_is_shown_a_page(client: Client) -> None:
    for path in ("/register", "/nowhere/", "/vault/segment"):
        page(client.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}), 404)


def test_other_refusals_have_pages(client: Client, owner: JsonClient, settings: Any) -> None:
    page(client.get("/nowhere/"), 404)
    page(owner.get("/consent/requests/req_x/"), 404)
    page(client.get("/", headers={"Host": "evil.example"}), 400)
    assert "Choose JSON or CSV." in page(owner.get("/consent/history/file/", format="xml"), 400)
    page(Client(enforce_csrf_checks=True).post("/consent/grants/grt_x/stop/"), 403)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    page(owner.client.post("/consent/apps/app_x/report/", {"text": "x" * 200}), 413)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    page(owner.client.post("/consent/apps/app_x/report/", {str(n): "x" for n in range(9)}), 400)


def test_too_many_tries_have_a_page(client: Client, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"reset_password": "1/m/ip"}
    for _ in range(4):
        answer = client.post("/accounts/password/reset/", {"email": "zoe@example.org"})
    page(answer, 429)


@pytest.mark.parametrize(
    "status", [401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 418, 422, 429]
)
@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_no_refusal_is_blank(person: User, status: int, kind: str) -> None:
    request = RequestFactory().get("/consent/")
    request.user = person
    content = "Choose <one>." if kind == "text/plain" else ""
    answer = RefusalPages(lambda _: HttpResponse(content, status=status, content_type=kind, headers={"Allow": "GET"}))(
        request
    )
    text = answer.content.decode()
    assert answer.status_code == status
    assert answer["Allow"] == "GET"
    assert f'<p class="error-code">{status}</p>' in text
    assert "<one>" not in text


def test_what_has_a_page_or_is_a_file_stays_as_it_is(person: User) -> None:
    request = RequestFactory().get("/consent/")
    for answer in (
        HttpResponse("<p>mine</p>", status=404),
        HttpResponse("{}", status=400, content_type="application/json"),
    ):
        assert RefusalPages(lambda _, answer=answer: answer)(request) is answer  # type: ignore[misc]
