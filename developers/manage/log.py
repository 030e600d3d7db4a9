"""The request log of an app, by program."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from common.admission.schemas import PageQuery
from common.json_bodies import json_answer
from common.operations import operation
from common.shapes import NextCursor, Shape, Time
from developers.manage.base import ManagementView
from developers.request_log.models import LoggedRequest
from developers.request_log.queries import calls_of, log_row


class LoggedCall(Shape):
    """A call with a token of the app: never the token, the query or a value."""

    at: Time
    method: Annotated[str, Field(examples=["GET"])]
    route: Annotated[
        str,
        Field(
            description="The address with placeholders; of `/mcp` with the method and the tool.",
            examples=["/api/v1/user-scopes/{user_id}"],
        ),
    ]
    status: Annotated[int, Field(examples=[404])]
    code: Annotated[
        str | None, Field(description="Of the refusal; null where nothing was refused.", examples=["unknown_user"])
    ]
    trace_id: Annotated[
        str, Field(description="The `X-Request-Id` of the answer.", examples=["0b1f6a52d0c4454d8a4f7f3f5f6f2a10"])
    ]
    ms: Annotated[int, Field(description="Milliseconds until the answer, what it was held for included.", examples=[4])]


class RequestLog(Shape):
    """One page of calls, newest first."""

    items: list[LoggedCall]
    next_cursor: NextCursor


def _body(call: LoggedRequest) -> LoggedCall:
    return log_row(call)  # type: ignore[return-value]  # of these members; its own room knows no shapes


class Log(ManagementView):
    """The calls of an app."""

    takes_query = True

    @operation(
        name="listCalls",
        summary="The request log",
        description="Each call with a token of the app, for 30 days. Newest first, in pages.",
        query=PageQuery,
        answers={200: RequestLog},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(calls_of(self.member().app), _body))
