"""The request log of an app, by program."""

from django.utils import timezone

from common.clock import rfc3339
from developers.models import App
from tests.callers import manager
from tests.factories import AppFactory, LoggedRequestFactory, MemberFactory


def test_calls_come_newest_first_in_pages(app: App) -> None:
    program = manager(MemberFactory(app=app, role="member").user)
    at = timezone.now()
    for number in range(3):
        LoggedRequestFactory(app=app, at=at, trace_id=f"call-{number}", status=404, code="unknown_user", ms=number)
    LoggedRequestFactory(app=AppFactory(), trace_id="call-of-others")

    first = program.get(f"/apps/{app.app_id}/log", limit=2).json()
    second = program.get(f"/apps/{app.app_id}/log", limit=2, cursor=first["next_cursor"]).json()

    assert first["items"][0] == {
        "at": rfc3339(at), "method": "GET", "route": "/api/v1/consent-status", "status": 404, "code": "unknown_user",
        "trace_id": "call-2", "ms": 2,
    }  # fmt: skip
    assert [item["trace_id"] for item in first["items"] + second["items"]] == ["call-2", "call-1", "call-0"]
    assert second["next_cursor"] is None
    assert program.get(f"/apps/{app.app_id}/log", cursor="x").json()["code"] == "invalid_request"
