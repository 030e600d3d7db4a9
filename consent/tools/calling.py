"""Who calls a tool, and what a refusal looks like to them: the very body that the REST would answer."""

from dataclasses import dataclass, field
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.views import APIView

from accounts.errors import Problem
from common.network import client_address
from consent.limits import Meter
from developers.authentication import AppContext
from developers.errors import InsufficientScope

IN_SCOPE = "consent.call"  # where the protocol's handlers find the call


@dataclass(frozen=True)
class Refusal:
    """A refusal as problem details (contract 1.7)."""

    status: int
    body: dict[str, Any]
    retry_after: int | None


@dataclass(frozen=True)
class Call:
    """One message of a host: the app whose token came with it, and the view that takes it."""

    app: AppContext
    view: APIView
    request: HttpRequest
    meter: Meter = field(default_factory=Meter)

    @property
    def address(self) -> str:
        return client_address(self.request)

    @property
    def trace_id(self) -> str:
        return getattr(self.request, "trace_id", "")

    def refusal(self, error: Exception) -> Refusal | None:
        return refusal_of(self.view, error)


def refusal_of(view: APIView, error: Exception) -> Refusal | None:
    """`error` as the REST renders it, by the same handler; None where it is a defect."""
    answer = view.get_exception_handler()(error, view.get_exception_handler_context())
    if answer is None:
        return None
    wait = answer.headers.get("Retry-After")
    return Refusal(answer.status_code, orjson.loads(answer.content), int(wait) if wait else None)


def lacks_permission(app: AppContext, needs: frozenset[str]) -> Problem | None:
    """Why this token may not do what needs one of these permissions."""
    if needs & app.permissions:
        return None
    return InsufficientScope(f"The token needs the permission {' or '.join(sorted(needs))}.")
