"""The log of an app's calls: what it holds, what it never holds, and what becomes of it while the database is away."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from developers.models import App, LoggedRequest
from developers.request_log import recording
from tests.callers import Developer
from tests.consent.tools.hosts import Host
from tests.factories import AppFactory, LoggedRequestFactory, TokenFactory
from tests.patience import eventually


@pytest.fixture(autouse=True)
def log(settings: Any) -> Iterator[None]:
    """The log is on, and nothing writes it but the test itself."""
    settings.REQUEST_LOG_FLUSH_SECONDS = 3600
    recording._recorder._queue.clear()
    yield
    recording._recorder._queue.clear()


def written() -> list[dict[str, Any]]:
    recording._recorder.flush()
    return list(LoggedRequest.objects.order_by("id").values("app", "method", "route", "status", "code", "trace_id"))


def test_each_call_of_an_app_is_one_row_with_its_answer(api: Developer, app: App) -> None:
    client = Client(headers={"Authorization": f"Bearer {api.token}"})
    began = timezone.now()

    client.get("/api/v1/scope-catalog", headers={"X-Request-Id": "trace-of-mine-1"})
    client.get("/api/v1/user-scopes/usr_nobody", headers={"X-Request-Id": "trace-of-mine-2"})
    client.get("/api/v1/consent-status?request_id=x", headers={"X-Request-Id": "trace-of-mine-3"})
    client.post("/api/v1/request-consent", "{", "application/json", headers={"X-Request-Id": "trace-of-mine-4"})

    assert [tuple(row.values())[1:] for row in written()] == [
        ("GET", "/api/v1/scope-catalog", 200, "", "trace-of-mine-1"),
        ("GET", "/api/v1/user-scopes/{user_id}", 404, "unknown_user", "trace-of-mine-2"),
        ("GET", "/api/v1/consent-status", 404, "unknown_request", "trace-of-mine-3"),
        ("POST", "/api/v1/request-consent", 400, "invalid_request", "trace-of-mine-4"),
    ]
    row = LoggedRequest.objects.order_by("id")[0]
    assert row.app == app
    assert began <= row.at <= timezone.now()
    assert 0 <= row.ms < 60_000


def test_what_is_refused_after_the_token_is_there_too(app: App) -> None:
    reader = Client(headers={"Authorization": f"Bearer {TokenFactory(app=app, permissions=['read']).secret}"})
    suspended = TokenFactory(app=AppFactory(status="suspended")).secret

    reader.get("/api/v1/user-scopes/usr_nobody")
    reader.post("/api/v1/end-consent", "<x/>", "application/xml")
    Client().get("/api/v1/scope-catalog", headers={"Authorization": f"Bearer {suspended}"})

    assert [(row["status"], row["code"]) for row in written()] == [
        (403, "insufficient_scope"), (403, "insufficient_scope"), (403, "app_suspended"),
    ]  # fmt: skip


def test_a_crash_is_one_row(api: Developer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("consent.api.views.ScopeCatalog.get", crash)
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {api.token}"})

    assert client.get("/api/v1/scope-catalog").status_code == 500

    assert [(row["status"], row["code"]) for row in written()] == [(500, "internal_error")]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/v1/scope-catalog", {}),
        ("/api/v1/scope-catalog", {"Authorization": "Bearer cr_live_abcdefgh_" + "x" * 43}),
        ("/api/v1/nothing", {"Authorization": "mine"}),
        ("/.well-known/consent-keys.json", {"Authorization": "mine"}),
    ],
)
def test_what_no_app_is_known_of_is_nobodys(path: str, headers: dict[str, str], api: Developer) -> None:
    mine = {name: f"Bearer {api.token}" if value == "mine" else value for name, value in headers.items()}

    Client().get(path, headers=mine)

    assert written() == []


def test_the_query_and_the_placeholders_are_not_kept(api: Developer) -> None:
    Client().get(f"/api/v1/user-scopes/usr_canary?token={api.token}&canary=canary")

    (row,) = written()
    assert (row["route"], row["code"]) == ("/api/v1/user-scopes/{user_id}", "invalid_request")
    assert not any("canary" in str(value) or api.token in str(value) for value in row.values())


def test_a_token_as_identifier_is_replaced(api: Developer) -> None:
    answer = api.get("/scope-catalog", headers={"X-Request-Id": api.token})

    (row,) = written()
    assert row["trace_id"] == answer["X-Request-Id"] != api.token


def test_tools_are_named(app: App) -> None:
    host = Host.of(app)

    host.call("check_consent_status", {"request_id": "req_nothing"})
    host.send("tools/list")
    host.send("canary/canary")
    host.send("tools/call", {"name": "canary", "arguments": {}})

    assert [(row["method"], row["route"], row["status"], row["code"]) for row in written()] == [
        ("POST", "/mcp tools/call check_consent_status", 200, "unknown_request"),
        ("POST", "/mcp tools/list", 200, ""),
        ("POST", "/mcp other", 404, ""),
        ("POST", "/mcp tools/call", 400, ""),
    ]


def test_a_stream_is_written_down_when_it_begins(api: Developer) -> None:
    answer = api.get("/consent-events")
    try:
        assert [(row["route"], row["status"]) for row in written()] == [("/api/v1/consent-events", 200)]
    finally:
        answer.close()


def test_switched_off_nothing_is_kept(api: Developer, settings: Any) -> None:
    settings.REQUEST_LOG_FLUSH_SECONDS = 0

    api.get("/scope-catalog")

    assert written() == []


def test_rows_wait_for_the_database_up_to_the_bound(
    api: Developer, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REQUEST_LOG_WAITING = 3

    def away(*_: Any) -> None:
        raise OperationalError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(recording, "_write", away)
        for number in range(5):
            api.get("/scope-catalog", headers={"X-Request-Id": f"call-number-{number}"})
        with pytest.raises(OperationalError):
            recording._recorder.flush()
    with caplog.at_level(logging.ERROR):
        kept = [row["trace_id"] for row in written()]

    assert kept == ["call-number-0", "call-number-1", "call-number-2"]
    assert "2 calls of apps are missing in the request log" in caplog.text


@pytest.mark.django_db(transaction=True)  # who writes them closes the connection
def test_the_rows_of_an_app_that_went_meanwhile_hold_up_no_others() -> None:
    gone, stays = Developer.of(AppFactory()), Developer.of(AppFactory())
    gone.get("/scope-catalog")
    stays.get("/scope-catalog")
    assert gone.row
    assert gone.app
    assert stays.app
    gone.row.delete()
    gone.app.delete()

    assert [row["app"] for row in written()] == [stays.app.pk]


@pytest.mark.django_db(transaction=True)  # the thread has a connection of its own
def test_a_thread_writes_them_every_second(api: Developer, settings: Any) -> None:
    settings.REQUEST_LOG_FLUSH_SECONDS = 0.05
    fresh = recording._Recorder()
    assert api.app

    fresh.add(
        recording._Call(api.app.pk, 1_700_000_000.0, "GET", "/api/v1/scope-catalog", 200, "", "trace-of-mine", 0.0126)
    )

    eventually(LoggedRequest.objects.exists, "a line in the log")
    row = LoggedRequest.objects.get()
    assert (row.at.isoformat(), row.ms) == ("2023-11-14T22:13:20+00:00", 13)
    settings.REQUEST_LOG_FLUSH_SECONDS = 3600


def test_old_rows_go(app: App, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.batches._DELETED_AT_ONCE", 2)
    now = timezone.now()
    old = [LoggedRequestFactory(app=app, at=now - timedelta(days=30, seconds=number + 60)) for number in range(5)]
    kept = LoggedRequestFactory(app=app, at=now - timedelta(days=29, hours=23))

    assert recording.forget_old_requests() == len(old)
    assert list(LoggedRequest.objects.all()) == [kept]
