"""A tool fails with the very problem of the REST; a defect shows no details."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import CONNECTOR, request_body
from tests.consent.tools.calls import SAME, granted, pending, rest
from tests.consent.tools.hosts import Host
from tests.factories import AppFactory, ConsentRequestFactory, Vault

# --- refuses ----------------------------------------------------------------------------------------------------------
Refused = Callable[[App, Vault], dict[str, Any]]


REFUSED_REQUESTS: dict[str, tuple[dict[str, Any], int, str]] = {
    "ask nobody": ({"user_id": "usr_x"}, 404, "unknown_user"),
    "no such scope": ({"scope": "attr.x.*"}, 400, "invalid_scope"),
    "two scopes": ({"scope": ["attr.lifestyle.food.*"]}, 400, "one_scope_per_request"),
    "no key": ({"connector_public_key": ...}, 400, "connector_key_required"),
    "private key": ({"connector_public_key": CONNECTOR}, 400, "invalid_connector_key"),
    "other algorithm": ({"connector_wrapping_alg": "RSA-OAEP"}, 400, "unsupported_wrapping_algorithm"),
    "short purpose": ({"purpose": "x"}, 400, "invalid_request"),
    "wrong type": ({"access_duration": "86400"}, 400, "invalid_request"),
}


def asking(changes: dict[str, Any], app: App, vault: Vault) -> dict[str, Any]:
    return request_body(vault.user, **changes)


REFUSALS: dict[str, tuple[str, Refused, int, str]] = {
    **{name: ("request_consent", partial(asking, row[0]), row[1], row[2]) for name, row in REFUSED_REQUESTS.items()},
    "nobody": ("discover_user_scopes", lambda app, vault: {"user_id": "usr_nobody"}, 404, "unknown_user"),
    "no sharing ID": ("discover_user_scopes", lambda app, vault: {"user_id": "no;id"}, 404, "unknown_user"),
    "unknown member": ("end_consent", lambda app, vault: {**pending(app), "approve": True}, 400, "invalid_request"),
    "denied before": (
        "request_consent",
        lambda app, vault: (
            ConsentRequestFactory(app=app, user=vault.user, status="denied") and request_body(vault.user)
        ),
        429,
        "recently_denied",
    ),
    "stranger's status": ("check_consent_status", lambda app, vault: pending(AppFactory()), 404, "unknown_request"),
    "stranger's end": ("end_consent", lambda app, vault: pending(AppFactory()), 404, "unknown_request"),
    "stranger's data": ("get_encrypted_export", lambda app, vault: granted(AppFactory()), 404, "unknown_request"),
    "not yet": ("get_encrypted_export", lambda app, vault: pending(app), 409, "authorization_pending"),
    "denied": ("get_encrypted_export", lambda app, vault: pending(app, status="denied"), 403, "access_denied"),
    "revoked": ("get_encrypted_export", lambda app, vault: granted(app, status="revoked"), 410, "grant_ended"),
    "paused": ("get_encrypted_export", lambda app, vault: granted(app, status="paused"), 403, "grant_paused"),
}


@pytest.mark.parametrize(("tool", "given", "status", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_tool_refuses_with_the_problem_of_the_rest(
    tool: str, given: Refused, status: int, code: str, any_host: Host, api: Developer, app: App, vault: Vault
) -> None:
    arguments = given(app, vault)

    by_tool = any_host.problem(tool, arguments)
    by_rest = rest(api, tool, arguments)

    assert (by_tool["status"], by_tool["code"]) == (status, code)
    by_tool.pop("trace_id")
    body = by_rest.json()
    assert (by_rest.status_code, body.pop("trace_id")) == (status, "the-same-id")
    assert by_tool == body


def test_a_refusal_says_what_is_left(host: Host, app: App, vault: Vault) -> None:
    for changes in ({}, {"scope": "attr.x.*"}):
        if not changes:
            ConsentRequestFactory(app=app, user=vault.user, status="denied")
        answer = host.send("tools/call", {"name": "request_consent", "arguments": request_body(vault.user, **changes)})

        assert answer.json()["result"]["isError"]
        assert answer["RateLimit"].count('"unknown-users"') == 1


def test_a_refusal_names_its_call_and_how_long_to_wait(host: Host, app: App) -> None:
    arguments = {"name": "get_encrypted_export", "arguments": pending(app)}

    answer = host.send("tools/call", arguments, **SAME)

    result = answer.json()["result"]
    assert (answer["X-Request-Id"], result["structuredContent"]["trace_id"]) == ("the-same-id", "the-same-id")
    assert result["_meta"]["retry_after"] == 5


BAD: list[tuple[str, dict[str, Any]]] = [
    ("discover_user_scopes", {}),
    ("discover_user_scopes", {"user_id": ""}),
    ("discover_user_scopes", {"user_id": None}),
    ("discover_user_scopes", {"user_id": ["usr_1"]}),
    ("check_consent_status", {"request_id": 1}),
    ("check_consent_status", {"request_id": "req_1", "wait_seconds": 31}),
    ("check_consent_status", {"request_id": "req_1", "wait_seconds": -1}),
    ("check_consent_status", {"request_id": "req_1", "wait_seconds": "5"}),
    ("check_consent_status", {"request_id": "req_1", "wait_seconds": 1.5}),
    ("check_consent_status", {"request_id": "req_1", "wait_seconds": True}),
    ("get_encrypted_export", {"request_id": "req_1; DROP"}),
    ("get_encrypted_export", {"request_id": "x" * 65}),
    ("end_consent", {"request_id": {"$ne": ""}}),
    ("list_scope_catalog", {"all": True}),
    ("request_consent", {"user_id": "usr_1", "scope": "attr.x.*"} | dict.fromkeys(
        ("connector_public_key", "connector_key_id", "connector_wrapping_alg"), "x")),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments"), BAD)
def test_bad_input_is_named(tool: str, arguments: dict[str, Any], host: Host) -> None:
    problem = host.problem(tool, arguments)

    assert (problem["status"], problem["code"]) in [(400, "invalid_request"), (400, "invalid_connector_key")]


# --- what breaks ------------------------------------------------------------------------------------------------------
def test_a_database_that_is_away_is_the_problem_of_the_rest(
    any_host: Host, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**given: Any) -> Any:
        raise OperationalError("connection refused: password=hunter2")

    monkeypatch.setattr("consent.status.for_app", away)

    result = any_host.call("check_consent_status", pending(app))

    assert (result["isError"], result["structuredContent"]["code"]) == (True, "temporarily_unavailable")
    assert result["_meta"]["retry_after"] == 5
    assert "hunter2" not in str(result)


def test_a_defect_shows_no_details(
    any_host: Host, app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**given: Any) -> Any:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("consent.status.for_app", broken)

    answer = any_host.send("tools/call", {"name": "check_consent_status", "arguments": pending(app)}, **SAME)

    assert answer.status_code == 200
    assert answer.json()["error"] == {
        "code": -32603,
        "message": "Something went wrong on our side.",
        "data": {"trace_id": "the-same-id"},
    }
    assert "ZeroDivisionError" in caplog.text
