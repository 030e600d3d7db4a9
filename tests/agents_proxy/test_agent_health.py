"""The staff's view of how the agents do: counted out of calls and steps, and nothing of what was said or where."""

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents_proxy.agents import AGENTS, Protocol
from agents_proxy.health.queries import FAILURES, SAMPLE, Health, Share, health_of_agents
from agents_proxy.states import CallOutcome
from tests import factories
from tests.agents_proxy.proxy_calls import configure
from tests.staff import at_the_admin

pytestmark = pytest.mark.django_db
PAGE = "/admin/agents_proxy/call/health/"
URL = "https://name:word-of-tests@agent.example/secret-path"


@pytest.fixture
def page() -> Client:
    return at_the_admin(factories.StaffFactory(is_superuser=True))


def call(outcome: str = "answered", *, minutes: float = 1, agent: str = "brand", ms: int = 100) -> datetime:
    """A call so many minutes ago; when it was."""
    at = timezone.now() - timedelta(minutes=minutes)
    factories.CallFactory(agent=agent, outcome=outcome, started_at=at, duration_ms=ms)
    return at


def brand() -> Health:
    return health_of_agents()[0]


def shown(answer: Any) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_every_agent_is_there_before_anybody_was_called() -> None:
    found = health_of_agents()

    assert [one.agent.name for one in found] == list(AGENTS)
    assert {(one.protocol, one.median_ms, one.p99_ms, one.last_success, one.last_failure) for one in found} == {
        (None, None, None, None, None)
    }
    nothing = Share(0, None)
    assert {(each.calls, each.failed, each.by_outcome) for one in found for each in one.figures} == {
        (0, nothing, (nothing,) * len(FAILURES))
    }


def test_calls_are_counted_by_period_and_outcome() -> None:
    newest = call()
    call("agent_error", minutes=30)
    call("upstream_timeout", minutes=120)
    call(minutes=150)
    call("upstream_timeout", minutes=60 * 24 * 6)
    call("invalid_agent_response", minutes=60 * 24 * 8)
    failed = call("upstream_unavailable", minutes=2, agent="core")

    hour, day, week = brand().figures
    assert (hour.calls, hour.failed) == (2, Share(1, 50.0))
    by_outcome = [dict(zip(FAILURES, period.by_outcome, strict=True)) for period in (hour, day, week)]
    none = dict.fromkeys(FAILURES, Share(0, 0.0))
    assert by_outcome == [
        {**none, "agent_error": Share(1, 50.0)},
        {**none, "agent_error": Share(1, 25.0), "upstream_timeout": Share(1, 25.0)},
        {**none, "agent_error": Share(1, 20.0), "upstream_timeout": Share(2, 40.0)},
    ]
    assert (day.calls, day.failed) == (4, Share(2, 50.0))
    assert (week.calls, week.failed) == (5, Share(3, 60.0))
    assert brand().last_success == newest
    core = health_of_agents()[list(AGENTS).index("core")]
    assert (core.last_success, core.last_failure) == (None, failed)
    assert [each.failed.percent for each in core.figures] == [100.0] * 3


@pytest.mark.parametrize(
    ("durations", "median", "p99"),
    [([7], 7, 7), ([1, 3], 1, 3), (range(1, 21), 10, 20), (range(1, 101), 50, 99), ([5] * 99 + [900], 5, 5)],
)
def test_durations_are_those_of_calls_that_were_answered(durations: Any, median: int, p99: int) -> None:
    for duration in durations:
        call(ms=duration)
    call("upstream_timeout", ms=50_000)
    call(ms=9_000, minutes=60 * 24 * 8)
    call(ms=8_000, agent="core")

    assert (brand().median_ms, brand().p99_ms) == (median, p99)


def test_durations_are_those_of_the_newest_calls() -> None:
    now = timezone.now()
    for minutes, duration, count in ((60, 9_000, 100), (1, 10, SAMPLE)):
        at = now - timedelta(minutes=minutes)
        made = factories.CallFactory.build_batch(count, started_at=at, duration_ms=duration)
        type(made[0]).objects.bulk_create(made)

    assert (brand().median_ms, brand().p99_ms) == (10, 10)


def test_answers_that_no_analysis_could_read_are_counted() -> None:
    now = timezone.now()
    run = factories.RunFactory()
    for position, (agent, code, age) in enumerate(
        [("brand", "not_json", 1), ("core", "upstream_timeout", 1), ("public", "too_deep", 8)]
    ):
        at = now - timedelta(days=age)
        factories.StepFactory(
            run=run, position=position, agent=agent, status="failed", error_code=code, started_at=at, finished_at=at
        )

    found = {one.agent.name: one.unreadable for one in health_of_agents()}
    assert {name for name, count in found.items() if count} == {"brand"}
    assert found["brand"] == 1


def test_the_page_shows_what_was_counted_and_no_address(page: Client, settings: Any) -> None:
    configure(settings, url=URL, token="token-of-tests", protocol=Protocol.A2A.value)
    call(ms=1234)
    call("agent_error")

    answer = page.get(PAGE)
    text = shown(answer)

    assert answer.status_code == 200
    assert "Brand agent Configured a2a 1,234 ms 1,234 ms a minute ago a minute ago 0" in text
    assert "Profile agent Not configured" + 5 * " \N{EN DASH}" + " 0" in text
    assert "Last hour 2 1 (50.0 %) 1 (50.0 %)" + 6 * " 0" + " " in text
    assert "No agent was asked" not in text
    assert not any(secret in text for secret in ("agent.example", "word-of-tests", "secret-path", "token-of-tests"))


def test_the_page_of_a_new_deployment_is_there(page: Client) -> None:
    answer = page.get(PAGE)

    assert answer.status_code == 200
    assert shown(answer).count("Not configured") == len(AGENTS)
    assert "No agent was asked in the last 7 days." in shown(answer)
    assert "Last hour 0" + 8 * " \N{EN DASH}" + " Last 24 hours" in shown(answer)


def test_the_page_speaks_german(page: Client) -> None:
    text = shown(page.get(PAGE, headers={"accept-language": "de"}))

    assert "Zustand der Agenten" in text
    assert "Profil-Agent Nicht eingerichtet" in text
    assert "Letzte Stunde 0" in text


def test_the_lists_of_staff_lead_to_it(page: Client) -> None:
    for address in ("/admin/", "/admin/agents_proxy/call/"):
        assert f'href="{PAGE}"' in page.get(address).content.decode()


def test_however_many_calls_there_are_the_queries_are_as_many(page: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as taken:
            assert page.get(PAGE).status_code == 200
        return len([query for query in taken if "agent_calls" in query["sql"] or "analysis_steps" in query["sql"]])

    assert queries() == 2 + len(AGENTS)
    for outcome in CallOutcome:
        for agent in AGENTS:
            call(outcome, agent=agent)
    assert queries() == 2 + len(AGENTS)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_wrong_method_is_refused(method: str, page: Client) -> None:
    answer = getattr(page, method)(PAGE)

    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"


def test_staff_need_the_permission_to_see_calls() -> None:
    keeper = factories.StaffFactory(is_superuser=False)
    assert at_the_admin(keeper).get(PAGE).status_code == 403
    assert PAGE not in at_the_admin(keeper).get("/admin/").content.decode()

    keeper.user_permissions.add(Permission.objects.get(codename="view_call"))
    assert at_the_admin(keeper).get(PAGE).status_code == 200


def test_what_a_query_may_say_changes_nothing(page: Client) -> None:
    assert page.get(PAGE, {"agent": "'\"><script>", "period": "century"}).status_code == 200
