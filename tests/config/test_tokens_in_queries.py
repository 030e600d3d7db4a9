"""A developer token in the address of a page goes no further: no redirect, no page, no log has it."""

import json
import logging
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from config.tokens_in_queries import without_tokens
from tests.callers import signed_in
from tests.factories import TokenFactory


@pytest.fixture
def token(db: None) -> str:
    return str(TokenFactory().secret)


PATHS = ["/", "/consent/", "/consent", "/accounts/login/", "/admin/", "/nothing", "/api/docs/", "/vault/keys",
         "/api/a2a/analyses", "/livez", "/profile/", "/jsi18n/"]  # fmt: skip


FORMS = ["token={}", "a=1&token={}&b=2", "TOKEN={}", "x={}", "next=%2Fconsent%2F%3Ftoken%3D{}", "%74oken={}",
         "next=%252Fconsent%252F%253Ftoken%253D{}", "{}", "token={}&token={}"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secure", [True, False])
def test_a_token_goes_nowhere(
    path: str, form: str, secure: bool, token: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    query = form.replace("{}", token)
    with caplog.at_level(logging.INFO):
        for method in ("get", "post"):
            answer = getattr(Client(raise_request_exception=False), method)(f"{path}?{query}", secure=secure)
            assert token not in answer.headers.get("Location", "")
            assert token not in answer.content.decode()
            assert answer["Referrer-Policy"] == "no-referrer"
    assert token not in caplog.text


def test_the_lane_over_plain_http_is_sent_on_without_it(token: str, settings: Any) -> None:
    """The answer to a token that already travelled in clear is not to write it down once more."""
    settings.SECURE_SSL_REDIRECT = True

    answer = Client().get(f"/api/v1/scope-catalog?token={token}")

    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/api/v1/scope-catalog")


def test_the_lane_takes_it_where_it_is_meant(token: str) -> None:
    assert Client().get(f"/api/v1/scope-catalog?token={token}").status_code == 200


def test_pages_of_people_do_not_lead_on_with_it(token: str, person: Any) -> None:
    client = signed_in(person).client

    first = client.get(f"/consent/?status=x&token={token}")
    page = client.get(first["Location"])

    assert (first.status_code, first["Location"]) == (302, "/consent/?status=x")
    assert token not in page.content.decode()


def test_a_leading_slash_makes_no_other_host_of_it(token: str) -> None:
    answer = Client().get(f"//evil.example/?token={token}")

    assert not answer.headers.get("Location", "").startswith("//")


@pytest.mark.parametrize(
    ("query", "clean"),
    [
        ("", ""),
        ("a=1&b=%C3%A4+c", "a=1&b=%C3%A4+c"),
        ("page=2&tokens=3", "page=2&tokens=3"),
        ("token", ""),
        ("a=1&token=x&b=2", "a=1&b=2"),
        ("next=/x/", "next=/x/"),
        ("a=%zz&b=%", "a=%zz&b=%"),
        (f"next={quote('/consent/?token=cr_live_abcdefgh_' + 'x' * 40, safe='')}", "next=%2Fconsent%2F%3Ftoken%3D"),
    ],
)
def test_the_rest_of_a_query_stays_as_it_is(query: str, clean: str) -> None:
    assert without_tokens(query) == clean


@pytest.mark.parametrize("kind", ["live", "test", "mgmt"])
def test_logs_hold_no_token_of_any_kind(kind: str) -> None:
    from config.log_lines import LogLines

    token = f"cr_{kind}_abcdefgh_" + "x" * 40
    record = logging.LogRecord("x", logging.INFO, "", 0, "called with %s", (token,), None)

    assert token not in json.loads(LogLines().format(record))["event"]
