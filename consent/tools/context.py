"""The context of a tool call: which app calls, from where, and how a problem is told to it."""

from dataclasses import dataclass
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.views import APIView

from common.network import client_address
from consent.api.base import DeveloperView
from developers.authentication import AppContext

CALL_CONTEXT = "consent.call"  # where the ASGI scope holds it


@dataclass(frozen=True)
class ProblemAnswer:
    """A problem as the REST answers it: problem details (contract 1.7)."""

    status: int
    body: dict[str, Any]
    retry_after: int | None


@dataclass(frozen=True)
class CallContext:
    """One message of a host: the app whose token came with it, and the view that takes it."""

    app: AppContext
    view: DeveloperView
    request: HttpRequest

    @property
    def address(self) -> str:
        return client_address(self.request)

    @property
    def trace_id(self) -> str:
        return getattr(self.request, "trace_id", "")

    def problem(self, error: Exception) -> ProblemAnswer | None:
        """`error` as the REST answers it; None where it is a defect."""
        return problem_answer(self.view, error)


def problem_answer(view: APIView, error: Exception) -> ProblemAnswer | None:
    """`error` as the REST answers it, rendered by the same handler; None where it is a defect."""
    answer = view.get_exception_handler()(error, view.get_exception_handler_context())
    if answer is None:
        return None
    retry_after = answer.headers.get("Retry-After")
    return ProblemAnswer(answer.status_code, orjson.loads(answer.content), int(retry_after) if retry_after else None)
