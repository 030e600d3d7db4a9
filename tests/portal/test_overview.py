"""The overview of an app: its calls, what people decided, and the first steps, from its own records."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from developers.models import App
from developers.request_log import figures
from portal import overview
from portal.overview import Span
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    LoggedRequestFactory,
    MemberFactory,
    SandboxPersonFactory,
    TestAppFactory,
    TokenFactory,
)

NOW = datetime(2026, 11, 20, 10, 30, tzinfo=UTC)


def test_calls_are_added_up_by_the_hour_and_the_day(app: App) -> None:
    for minutes, ms, status, code in (
        (1, 10, 200, ""), (5, 20, 404, "unknown_user"), (31, 30, 200, "invalid_scope"), (31, 40, 200, ""),
        (24 * 60, 900, 500, "internal_error"), (40 * 24 * 60, 5, 200, ""),
    ):  # fmt: skip
        LoggedRequestFactory(app=app, at=NOW - timedelta(minutes=minutes), ms=ms, status=status, code=code)
    LoggedRequestFactory(app=AppFactory(), at=NOW)

    day, month = figures.last_day(app, NOW), figures.last_month(app, NOW)

    assert (len(day.slots), day.slots[-1].at) == (24, NOW.replace(minute=0))
    assert [(slot.calls, slot.failed) for slot in day.slots[-3:]] == [(0, 0), (2, 1), (2, 1)]
    assert (day.calls, day.failed, day.median, day.slow) == (4, 2, 20, 40)
    assert sorted(day.codes) == [("invalid_scope", 1), ("unknown_user", 1)]
    assert (len(month.slots), month.calls, month.failed, month.median, month.slow) == (30, 5, 3, 30, 900)
    assert [(slot.calls, slot.failed) for slot in month.slots[-2:]] == [(1, 1), (4, 2)]


def test_much_traffic_is_counted_once_in_a_while(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_MANY", 2)
    cache.clear()
    LoggedRequestFactory(app=app, at=NOW)
    assert figures.last_day(app, NOW).calls == 1
    LoggedRequestFactory(app=app, at=NOW)
    first = figures.last_day(app, NOW)
    LoggedRequestFactory(app=app, at=NOW)

    assert first.calls == 2
    assert figures.last_day(app, NOW) == first


def test_the_drawing_fits_its_frame(app: App) -> None:
    for _ in range(3):
        LoggedRequestFactory(app=app, at=NOW, status=404)
    LoggedRequestFactory(app=app, at=NOW - timedelta(hours=1))

    columns = Span("", "hours", figures.last_day(app, NOW)).columns

    assert (columns[-1].y, columns[-1].height, columns[-1].failed_height) == (0, 120, 120)
    assert (columns[-2].y, columns[-2].height, columns[-2].failed_height) == (80, 40, 0)
    assert columns[0].x > 0
    assert columns[-1].x + columns[-1].width < 600


def test_decisions_are_those_of_this_app(app: App) -> None:
    now = timezone.now()
    ConsentRequestFactory(app=app)
    ConsentRequestFactory(app=app, status="denied", decided_at=now, decided_by="person")
    ExportFactory(grant__request__app=app, grant__reads=2)
    ExportFactory()

    found = overview.decisions_of(app)

    assert (found.requested, found.approved, found.denied, found.approved_share) == (3, 1, 1, 50)
    assert (found.pending, found.live) == (1, 1)
    assert overview.decisions_of(AppFactory()).approved_share is None


def test_what_waits_for_a_connection_is_told_by_no_figure(app: App) -> None:
    now = timezone.now()
    ConsentRequestFactory(app=app, withheld=True)
    ConsentRequestFactory(app=app, withheld=True, status="denied", decided_at=now, decided_by="person")
    ExportFactory(grant__request__app=app, grant__request__withheld=True)

    found = overview.decisions_of(app)

    assert found == overview.decisions_of(AppFactory())
    assert not any(step.done for step in overview.first_steps(app))


def test_the_first_steps_tick_themselves_and_go(db: None) -> None:
    app = TestAppFactory()
    assert [(step.name, step.done) for step in overview.first_steps(app)] == [
        ("token", False), ("person", False), ("request", False), ("approve", False), ("read", False),
    ]  # fmt: skip
    TokenFactory(app=app)
    SandboxPersonFactory(app=app)
    grant = ExportFactory(grant__request__app=app).grant
    assert [step.done for step in overview.first_steps(app)] == [True, True, True, True, False]

    grant.reads = 1
    grant.save()

    assert overview.first_steps(app) == []


def test_the_page_shows_them(app: App, client: Client) -> None:
    LoggedRequestFactory(app=app, status=404, code="unknown_user", ms=1234)
    client.force_login(MemberFactory(app=app).user)

    text = client.get(f"/developers/apps/{app.app_id}/").content.decode()

    assert "1,234 ms" in text
    assert f'/developers/apps/{app.app_id}/log/?code=unknown_user"' in text
    assert "Make a token" in text
    assert "style=" not in text
