"""Answers in the shape of JSON-RPC, and the headers that let registered pages of other sites read them."""

import logging
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from agents_proxy.errors import InvalidJson, InvalidParams, Refusal, TooLarge, Unavailable, WrongMediaType, WrongMethod
from agents_proxy.proxy.callers import HEADER
from common import problems
from common.admission.exceptions import as_problem

_log = logging.getLogger(__name__)

_EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
_PREFLIGHT_SECONDS = "600"


def answer(body: bytes, *, status: int = 200) -> HttpResponse:
    return HttpResponse(body, status=status, content_type="application/json")


def handle_exception(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """REST framework's exception handler for these addresses; None where the error is a defect and stays one."""
    refusal = error if isinstance(error, Refusal) else _as_refusal(as_problem(error))
    if isinstance(refusal, Unavailable) and refusal is not error:
        # where it was away already when the origin was to be looked up, no origin is known to be registered,
        # and the page that called cannot read this
        _log.error("the database is away", exc_info=error)
    return None if refusal is None else refused(context["request"], refusal, context["view"].task_id)


def _as_refusal(problem: problems.Problem | None) -> Refusal | None:
    """What the checks of every address for programs refuse, in the words of these."""
    match problem:
        case problems.MethodNotAllowed():
            return WrongMethod(headers=problem.headers)
        case problems.UnsupportedMediaType():
            return WrongMediaType()
        case problems.PayloadTooLarge():
            return TooLarge()
        case problems.InvalidRequest():
            return InvalidParams(errors=problem.errors) if problem.errors else InvalidJson()
        case problems.TemporarilyUnavailable():
            return Unavailable(headers=problem.headers)
    return None


def refused(request: HttpRequest, refusal: Refusal, task_id: str | None) -> HttpResponse:
    body = refusal.body(getattr(request, "trace_id", ""), task_id=task_id)
    response = answer(orjson.dumps(body), status=refusal.status)
    for name, value in refusal.headers.items():
        response.headers[name] = value
    return response


def preflight() -> HttpResponse:
    """What a browser asks before it lets a registered page call: no credentials, no other method."""
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]  # of nothing
    response.headers["Access-Control-Allow-Methods"] = "POST"
    response.headers["Access-Control-Allow-Headers"] = f"Content-Type, {HEADER}, X-Request-Id"
    response.headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
    return response


def allow(response: HttpResponse, origin: str | None) -> HttpResponse:
    """Let the page of a registered `origin` read this answer. Never with credentials."""
    response.headers["Vary"] = ", ".join(filter(None, [response.headers.get("Vary"), "Origin"]))
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
    return response
