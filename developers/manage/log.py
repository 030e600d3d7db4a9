"""The request log of an app, by program."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from common.admission.shapes import PageQuery
from common.json_bodies import json_answer
from common.shapes import NextCursor, Shape, Time
from developers.manage.base import ManagementView
from developers.manage.descriptions import APP_ID, PAGE, manages
from developers.request_log.models import LoggedRequest
from developers.request_log.queries import as_told, calls_of


class LoggedCall(Shape):
    """A call with a token of the app: never the token, the query or a value."""

    at: Time
    method: str
    route: Annotated[str, Field(description="The address with placeholders; of `/mcp` with the method and the tool.")]
    status: int
    code: Annotated[str | None, Field(description="Of the refusal; null where nothing was refused.")]
    trace_id: Annotated[str, Field(description="The `X-Request-Id` of the answer.")]
    ms: Annotated[int, Field(description="Milliseconds until the answer, what it was held for included.")]


class RequestLog(Shape):
    """One page of calls, newest first."""

    items: list[LoggedCall]
    next_cursor: NextCursor


_CALL = {
    "at": "2026-11-20T10:00:00Z", "method": "GET", "route": "/api/v1/user-scopes/{user_id}", "status": 404,
    "code": "unknown_user", "trace_id": "0b1f6a52d0c4454d8a4f7f3f5f6f2a10", "ms": 4,
}  # fmt: skip


def _body(call: LoggedRequest) -> LoggedCall:
    return as_told(call)  # type: ignore[return-value]  # of these members; its own room knows no shapes


class Log(ManagementView):
    """The calls of an app."""

    takes_query = True

    @manages(
        name="listCalls",
        summary="The request log",
        description="Each call with a token of the app, for 30 days. Newest first, in pages.",
        parameters=[APP_ID, *PAGE],
        answers={200: RequestLog},
        example={"items": [_CALL], "next_cursor": None},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(calls_of(self.member().app), _body))
