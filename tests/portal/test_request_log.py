"""The page of the request log, and what it asks for while it is looked at."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from developers.models import App
from tests.factories import AppFactory, LoggedRequestFactory, MemberFactory


@pytest.fixture
def developer(app: App, client: Client) -> Client:
    client.force_login(MemberFactory(app=app, role="member").user)
    return client


def page(app: App, query: str = "") -> str:
    return f"/developers/apps/{app.app_id}/log/{query}"


def latest(app: App, query: str = "") -> str:
    return f"/developers/apps/{app.app_id}/log/latest{query}"


def test_calls_are_shown_newest_first_and_of_this_app_alone(app: App, developer: Client) -> None:
    assert "No calls yet" in developer.get(page(app)).content.decode()
    LoggedRequestFactory(app=app, route="/api/v1/scope-catalog", trace_id="first-call", ms=7)
    LoggedRequestFactory(app=app, status=429, code="slow_down", trace_id="second-call")
    LoggedRequestFactory(app=AppFactory(), trace_id="call-of-others")

    text = developer.get(page(app)).content.decode()

    assert text.index("second-call") < text.index("first-call")
    assert "call-of-others" not in text
    assert '/docs/errors#slow_down"' in text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?status=failed", {"refused-tool", "not-there", "not-taken", "broken"}),
        ("?status=4xx", {"not-there", "not-taken"}),
        ("?status=5xx", {"broken"}),
        ("?status=2xx", {"fine", "refused-tool"}),
        ("?code=unknown_user", {"not-there"}),
        ("?code=406", {"not-taken"}),
        ("?route=/mcp", {"refused-tool"}),
        ("?trace_id=broken", {"broken"}),
        ("?status=4xx&code=slow_down", set()),
    ],
)
def test_filters_narrow_the_page_and_what_follows(query: str, found: set[str], app: App, developer: Client) -> None:
    LoggedRequestFactory(app=app, trace_id="fine")
    LoggedRequestFactory(
        app=app, trace_id="refused-tool", route="/mcp tools/call request_consent", code="invalid_scope"
    )
    LoggedRequestFactory(app=app, trace_id="not-there", status=404, code="unknown_user")
    LoggedRequestFactory(app=app, trace_id="not-taken", status=406)  # an error of JSON-RPC has no code of ours
    LoggedRequestFactory(app=app, trace_id="broken", status=500, code="internal_error")

    shown = developer.get(page(app, query))
    body = developer.get(latest(app, query)).json()

    assert {call.trace_id for call in shown.context_data["calls"]} == found  # type: ignore[attr-defined]
    assert {item["trace_id"] for item in body["items"]} == found
    assert ('id="log-empty" hidden' in shown.content.decode()) == bool(found)


def test_what_the_script_reads_is_refused_as_a_problem(app: App, developer: Client) -> None:
    answer = developer.get(latest(AppFactory()))

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "not_found"


def test_older_ones_are_a_page_further(app: App, developer: Client) -> None:
    for number in range(120):
        LoggedRequestFactory(app=app, trace_id=f"call-{number:03}", status=404 if number < 110 else 200)
    seen, url = [], page(app, "?status=4xx")
    while url:
        answer = developer.get(url)
        seen.append([call.trace_id for call in answer.context_data["calls"]])  # type: ignore[attr-defined]
        url = answer.context_data["older_url"]  # type: ignore[attr-defined]

    assert [len(some) for some in seen] == [50, 50, 10]
    assert [name for some in seen for name in some] == [f"call-{number:03}" for number in reversed(range(110))]


def test_what_came_since_is_told_once(app: App, developer: Client) -> None:
    LoggedRequestFactory(app=app)
    cursor = developer.get(latest(app)).json()["cursor"]
    at = timezone.now().replace(microsecond=0) - timedelta(hours=1)
    LoggedRequestFactory(app=app, at=at, trace_id="new-call", status=503, code="temporarily_unavailable", ms=12)

    answer = developer.get(latest(app, f"?cursor={cursor}")).json()

    assert answer["items"] == [
        {
            "at": at.isoformat().replace("+00:00", "Z"), "method": "GET", "route": "/api/v1/consent-status",
            "status": 503, "code": "temporarily_unavailable", "trace_id": "new-call", "ms": 12,
        }
    ]  # fmt: skip
    assert developer.get(latest(app, f"?cursor={answer['cursor']}")).json() == {**answer, "items": []}


@pytest.mark.parametrize("query", ["?status=9xx", "?code=NO", "?trace_id=a b", "?cursor=x", f"?route={'x' * 121}"])
def test_filters_that_do_not_fit_are_told_and_kept(query: str, app: App, developer: Client) -> None:
    LoggedRequestFactory(app=app)

    shown, refused = developer.get(page(app, query)), developer.get(latest(app, query))

    assert shown.status_code == 400
    assert "Nothing is shown" in shown.content.decode()
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    name, value = query[1:].split("=")
    assert refused.json()["errors"][0]["field"] == name
    if name in ("code", "trace_id", "route"):
        assert f'value="{value}"' in shown.content.decode()
