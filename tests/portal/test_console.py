"""The try-it console: real calls of a test app, made by the server, without a token that anybody could see."""

import json
import logging
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from consent.api.openapi import document
from consent.exports.models import Read
from consent.requests.models import ConsentRequest
from developers.apps.models import AppAuditEntry
from developers.models import App
from developers.request_log import recording
from developers.request_log.models import LoggedRequest
from developers.tokens import actions as token_actions
from developers.tokens.models import DeveloperToken
from portal.console_calls import operations
from tests.factories import (
    ConsentRequestFactory,
    ExportFactory,
    MemberFactory,
    PersonFactory,
    SandboxPersonFactory,
    TestAppFactory,
    Vault,
    give_vault,
)

FOOD = "attr.lifestyle.food.*"


@pytest.fixture
def app(db: None) -> App:
    made: App = TestAppFactory(name="Lunch Finder")
    return made


@pytest.fixture
def vault(app: App) -> Vault:
    return give_vault(SandboxPersonFactory(app=app).user)


@pytest.fixture
def developer(app: App, client: Client) -> Client:
    client.force_login(MemberFactory(app=app, role="member").user)
    return client


@pytest.fixture
def minted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every token that is made from now on."""
    tokens: list[str] = []
    make = token_actions.new_token

    def noting(*args: Any) -> tuple[str, str, str]:
        made = make(*args)
        tokens.append(made[0])
        return made

    monkeypatch.setattr(token_actions, "new_token", noting)
    return tokens


def page(app: App, operation: str = "") -> str:
    return f"/developers/apps/{app.app_id}/try/" + (f"?{urlencode({'operation': operation})}" if operation else "")


def call(developer: Client, app: App, operation: str, body: str | None = None, **parameters: str) -> Any:
    sent = {"operation": operation, **{f"param-{name}": value for name, value in parameters.items()}}
    return developer.post(page(app, operation), sent if body is None else {**sent, "body": body})


def answer_of(response: Any) -> Any:
    return response.context["answer"]


def prefilled(response: Any, name: str) -> str:
    return str(response.context["form"][name].value())


def test_a_call_shows_the_real_answer(app: App, developer: Client, vault: Vault) -> None:
    shown = call(developer, app, "getUserScopes", user_id=vault.user.public_id)

    answer, text = answer_of(shown), unescape(shown.content.decode())
    assert (shown.status_code, answer.status) == (200, 200)
    assert json.loads(answer.body)["user_id"] == vault.user.public_id
    assert {"X-Request-Id", "Cache-Control", "Content-Type"} <= {name for name, _ in answer.headers}
    assert re.fullmatch(r"[0-9a-f]{32}", answer.trace_id)
    assert f"?trace_id={answer.trace_id}" in text
    assert '-H "Authorization: Bearer $CONSENT_DEVELOPER_TOKEN"' in text
    assert f"/api/v1/user-scopes/{vault.user.public_id}" in text
    assert shown["Cache-Control"] == "no-store"


def test_the_whole_way_from_the_prefilled_example(app: App, developer: Client, vault: Vault) -> None:
    form = developer.get(page(app, "requestConsent"))
    assert json.loads(prefilled(form, "body"))["user_id"] == vault.user.public_id

    shown = call(developer, app, "requestConsent", prefilled(form, "body"), **{"Idempotency-Key": "first"})

    made = ConsentRequest.objects.get(app=app)
    assert (answer_of(shown).status, json.loads(answer_of(shown).body)["request_id"]) == (201, made.request_id)
    assert "-H 'Idempotency-Key: first'" in shown.context["call"].curl
    status = developer.get(page(app, "getConsentStatus"))
    assert prefilled(status, "param-request_id") == made.request_id
    assert "wait" not in {name.removeprefix("param-") for name in status.context["form"].fields}
    polled = call(developer, app, "getConsentStatus", request_id=made.request_id, wait="30")
    assert json.loads(answer_of(polled).body)["status"] == "pending"
    assert "wait=" not in polled.context["call"].curl
    ended = call(developer, app, "endConsent", json.dumps({"request_id": made.request_id}))
    assert json.loads(answer_of(ended).body)["status"] == "cancelled"


def test_a_request_is_shown_as_its_person_would_see_it(app: App, developer: Client) -> None:
    app.name = "Fish & Chips"
    app.save(update_fields=["name"])

    preview = developer.get(page(app, "requestConsent")).content.decode().partition('id="preview-title"')[2]

    assert "Fish &amp; Chips asks what you eat" in preview
    assert "Not checked" in preview
    assert "<blockquote>Suggest restaurants for your trip to Lisbon</blockquote>" in preview
    assert "of 4 values would go to Fish &amp; Chips for 30 days" in preview
    assert "Plate" not in preview


BORN, ADULT = "identity.basic.birth_date", "identity.basic.age_over_18"
COARSER = f"“18 or older” may do: attr.{ADULT} (standard)."


@pytest.mark.parametrize(
    ("terms", "is_offered"),
    [
        ({"scope": f"attr.{BORN}"}, True),
        ({"scope": "attr.identity.*", "required_attributes": [BORN]}, True),
        ({"scope": "attr.identity.*", "required_attributes": ["identity.basic.full_name"]}, False),
        ({"scope": f"attr.{BORN}", "accepts": {BORN: [ADULT]}}, False),
        ({"scope": "attr.identity.*", "required_attributes": [BORN], "accepts": {BORN: [ADULT]}}, False),
        ({"scope": f"attr.{ADULT}"}, False),
        ({"scope": "attr.nothing.*"}, False),
        ({"scope": f"attr.{BORN}", "required_attributes": [BORN, []], "accepts": 3}, True),
        ({"scope": 7}, False),
        ({"scope": f"attr.{BORN}", "required_attributes": 7}, False),
    ],
)
def test_a_developer_who_asks_for_a_value_is_offered_what_may_do(
    app: App, developer: Client, terms: dict[str, Any], is_offered: bool
) -> None:
    shown = call(developer, app, "requestConsent", json.dumps({"purpose": "Sell wine to adults", **terms}))
    assert (COARSER in shown.content.decode()) is is_offered


@pytest.mark.parametrize("body", ["[" * 10_000, "{", '{"purpose": 4}', '{"purpose": "\\ud800"}', "{}", ""])
def test_a_body_without_a_purpose_is_answered_without_a_preview(app: App, developer: Client, body: str) -> None:
    shown = call(developer, app, "requestConsent", body).content

    assert b'id="call"' in shown
    assert b"preview-title" not in shown


def test_only_a_request_has_a_preview(app: App, developer: Client) -> None:
    assert b"preview-title" not in developer.get(page(app, "makeSandboxPerson")).content


def test_the_operations_are_those_of_the_document_that_a_developer_token_may_call(app: App, developer: Client) -> None:
    described = {
        found["operationId"]: found for item in document()["paths"].values() for found in item.values()
    }  # fmt: skip
    with_token = {name for name, found in described.items() if {"bearer": []} in found["security"]}

    assert set(operations()) == with_token - {"streamConsentEvents"}
    pages = {name: developer.get(page(app, name)) for name in operations()}
    assert {name: shown.status_code for name, shown in pages.items()} == dict.fromkeys(operations(), 200)
    assert all(described[name]["summary"] in unescape(shown.content.decode()) for name, shown in pages.items())


def test_names_in_the_words_of_the_document_are_code(app: App, developer: Client) -> None:
    shown = developer.get(page(app) + "?operation=getReceipt").content.decode()

    assert "not with <code>format</code>." in shown
    assert "`" not in shown


def test_what_does_not_fit_is_refused_by_the_api_itself(app: App, developer: Client) -> None:
    refused = {
        "no JSON": call(developer, app, "requestConsent", "{"),
        "too large": call(developer, app, "requestConsent", json.dumps({"purpose": "x" * 70_000})),
        "nobody": call(developer, app, "getUserScopes", user_id="usr_nobody"),
        "a path": call(developer, app, "getUserScopes", user_id="../manage/apps"),
    }

    answers = {
        name: (answer_of(shown).status, json.loads(answer_of(shown).body)["code"]) for name, shown in refused.items()
    }
    assert answers == {
        "no JSON": (400, "invalid_request"),
        "too large": (413, "payload_too_large"),
        "nobody": (404, "unknown_user"),
        "a path": (404, "not_found"),
    }


@pytest.mark.parametrize(
    ("operation", "parameters", "message"),
    [
        ("getUserScopes", {}, "This field is required."),
        ("getUserScopes", {"user_id": "x" * 301}, "at most 300 characters"),
        ("getUserScopes", {"user_id": "usr_\0"}, "Null characters are not allowed."),
        ("requestConsent", {}, "This field is required."),
        ("listConsentRequests", {"status": "sleeping"}, "is not one of the available choices"),
        ("requestConsent", {"Idempotency-Key": "one\r\nX-Other: two"}, "plain letters, digits and signs"),
        ("streamConsentEvents", {}, "has no operation “streamConsentEvents”"),
        ("", {}, "Operation"),
    ],
)
def test_a_form_that_does_not_fit_calls_nothing(
    app: App, developer: Client, operation: str, parameters: dict[str, str], message: str, minted: list[str]
) -> None:
    shown = call(developer, app, operation, **parameters)

    assert shown.status_code == (400 if operation else 200)
    assert message in unescape(shown.content.decode())
    assert minted == []


def test_an_address_with_an_unknown_operation_says_so(app: App, developer: Client) -> None:
    assert developer.get(page(app, "makeCoffee")).status_code == 400
    assert developer.put(page(app)).status_code == 405
    assert developer.head(page(app)).status_code == 200


def test_the_token_is_nowhere(
    app: App, developer: Client, vault: Vault, minted: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = [
        call(developer, app, "getUserScopes", user_id=vault.user.public_id),
        call(developer, app, "getUserScopes", user_id="usr_nobody"),
        developer.get(f"/developers/apps/{app.app_id}/tokens/"),
        developer.get(f"/developers/apps/{app.app_id}/audit/"),
    ]

    assert len(minted) == 2
    secrets = [part for token in minted for part in (token, token.split("_", 3)[3])]
    kept = "".join(
        [
            *(answer.content.decode() for answer in shown), *(str(answer.headers) for answer in shown), caplog.text,
            *(str(entry.facts) for entry in AppAuditEntry.objects.all()),
            str(dict(developer.session)), str(developer.cookies),
        ]
    )  # fmt: skip
    assert [secret for secret in secrets if secret in kept] == []
    assert DeveloperToken.objects.count() == 0


def test_a_call_is_in_the_request_log_and_in_the_audit(app: App, developer: Client, settings: Any) -> None:
    settings.REQUEST_LOG_FLUSH_SECONDS = 3600
    shown = call(developer, app, "getScopeCatalog")
    recording._recorder.flush()

    logged = LoggedRequest.objects.get(app=app)
    assert (logged.route, logged.status, logged.trace_id) == ("/api/v1/scope-catalog", 200, answer_of(shown).trace_id)
    entry = AppAuditEntry.objects.get(app=app)
    assert (entry.action, entry.facts) == ("console.called", {"operation": "getScopeCatalog"})
    assert (
        "Called getScopeCatalog in the console"
        in developer.get(f"/developers/apps/{app.app_id}/audit/").content.decode()
    )


def test_a_read_stays_on_record_with_its_token_revoked(app: App, developer: Client, vault: Vault) -> None:
    export = ExportFactory(grant__request__app=app, grant__request__user=vault.user)

    shown = call(developer, app, "getConsentExport", request_id=export.grant.request.request_id)

    assert answer_of(shown).status == 200
    token = DeveloperToken.objects.get(app=app)
    assert (Read.objects.get().token, token.label, token.header_only) == (token, "Try-it console", True)
    assert token.revoked_at is not None
    assert "Try-it console" in developer.get(f"/developers/apps/{app.app_id}/tokens/").content.decode()


def test_what_is_another_apps_is_not_there(app: App, developer: Client) -> None:
    others = ConsentRequestFactory(app=TestAppFactory())
    stranger = PersonFactory()
    give_vault(stranger)

    assert answer_of(call(developer, app, "getConsentStatus", request_id=others.request_id)).status == 404
    assert answer_of(call(developer, app, "getUserScopes", user_id=stranger.public_id)).status == 404
    assert others.request_id not in developer.get(page(app, "getConsentStatus")).content.decode()


def test_limits_count_as_for_a_program(app: App, developer: Client, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 1

    answers = [answer_of(call(developer, app, "getUserScopes", user_id=f"usr_nobody{n}")) for n in range(2)]

    assert [answer.status for answer in answers] == [404, 429]
    assert "RateLimit" in dict(answers[1].headers)


def test_a_suspended_app_is_answered_as_its_program_would_be(app: App, developer: Client) -> None:
    App.objects.update(status="suspended")

    answer = answer_of(call(developer, app, "getScopeCatalog"))

    assert (answer.status, json.loads(answer.body)["code"]) == (403, "app_suspended")


@pytest.mark.parametrize("changed", [{"mode": "live"}, {"status": "closed"}])
def test_live_and_closed_apps_are_not_called(
    client: Client, db: None, minted: list[str], changed: dict[str, str]
) -> None:
    from tests.factories import AppFactory

    app = AppFactory() if changed.get("mode") else TestAppFactory(**changed)
    client.force_login(MemberFactory(app=app).user)

    looked, called = client.get(page(app)), call(client, app, "getScopeCatalog")

    message = "The console is for test apps" if changed.get("mode") else "This app is closed"
    assert (looked.status_code, called.status_code) == (200, 403)
    assert message in looked.content.decode()
    assert message in called.content.decode()
    assert minted == []


def test_strangers_find_nothing(app: App, client: Client, minted: list[str]) -> None:
    assert client.get(page(app)).status_code == 302
    client.force_login(MemberFactory(app=TestAppFactory()).user)

    assert client.get(page(app)).status_code == 404
    assert call(client, app, "getScopeCatalog").status_code == 404
    assert minted == []


def test_what_the_page_brings_along_stays_behind(app: App, developer: Client) -> None:
    """A browser's own headers would have the API refuse the call; its identifier would name two calls."""
    shown = developer.post(
        page(app), {"operation": "getScopeCatalog"},
        headers={"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin", "X-Request-Id": "of-the-page-1"},
    )  # fmt: skip

    assert answer_of(shown).status == 200
    assert shown["X-Request-Id"] == "of-the-page-1" != answer_of(shown).trace_id


def test_the_api_speaks_english_whatever_the_page_speaks(app: App, developer: Client) -> None:
    shown = developer.post(
        page(app), {"operation": "getUserScopes", "param-user_id": "usr_nobody"}, headers={"Accept-Language": "de"}
    )

    assert json.loads(answer_of(shown).body)["title"] == "No such person"
    assert "Antwort" in shown.content.decode()
