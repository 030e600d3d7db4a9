"""How every JSON address reads, answers and refuses."""

from collections.abc import Mapping
from typing import Any

import orjson
import psycopg_pool
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils import translation
from rest_framework import exceptions as drf
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from accounts.answers import strict_json
from accounts.errors import (
    AuthenticationRequired,
    CsrfFailed,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Problem,
    TemporarilyUnavailable,
    UnsupportedMediaType,
)

_JSON_PATHS = ("/api/", "/.well-known/", "/mcp")


class StrictJSONParser(BaseParser):
    """application/json, read up to the view's `body_limit` (bytes) and parsed strictly."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        limit = parser_context["view"].body_limit
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise PayloadTooLarge(f"This address takes at most {limit} bytes.")
        return strict_json(body)


class FastJSONRenderer(BaseRenderer):
    """orjson; the views answer with bytes of their own, so only the schema's tooling meets this."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return orjson.dumps(data)


class AsTheViewSays(BaseContentNegotiation):
    """No negotiation: an address answers in its own form, and the two that have a second one look themselves."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return next((parser for parser in parsers if request.content_type.split(";")[0] == parser.media_type), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


def handle_exception(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """The one place where a refusal becomes an answer; anything else is a defect and stays an exception."""
    problem = as_problem(error)
    return None if problem is None else problem_answer(context["request"]._request, problem)


def as_problem(error: Exception) -> Problem | None:
    """The refusal that an exception stands for, or None where it is a defect."""
    match error:
        case Problem():
            return error
        case drf.MethodNotAllowed():
            return MethodNotAllowed(headers={"Allow": ""})
        case drf.UnsupportedMediaType():
            return UnsupportedMediaType()
        case RequestDataTooBig():
            return PayloadTooLarge()
        case drf.ParseError():
            return InvalidRequest("The body cannot be read.")
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return AuthenticationRequired()
        case drf.PermissionDenied() | PermissionDenied():
            return CsrfFailed()
        case Http404() | drf.NotFound():
            return NotFound()
        case OperationalError() | InterfaceError() | psycopg_pool.PoolTimeout():
            return TemporarilyUnavailable(headers={"Retry-After": "5"})
        case DatabaseError() if (
            type(error) is DatabaseError
        ):  # none of its kinds: SQLite's file is no database (any more)
            return TemporarilyUnavailable(headers={"Retry-After": "5"})
    return None


def problem_answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """application/problem+json (RFC 9457)."""
    body: dict[str, Any] = {
        "type": f"/docs/errors#{problem.code}",
        "title": str(problem.title),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "trace_id": getattr(request, "trace_id", ""),
        # RFC 9457 lets a problem carry members of its own; `status` of a grant replaces the number only in its own name
        **problem.members,
    }
    if problem.errors:
        body["errors"] = problem.errors
    return HttpResponse(
        orjson.dumps(body), status=problem.status, content_type="application/problem+json", headers=problem.headers
    )


def wants_json(request: HttpRequest) -> bool:
    """Whether this caller is a program rather than a person with a page."""
    if request.path.startswith(_JSON_PATHS) or "application/json" in request.headers.get("Accept", ""):
        return True
    # the owner's JSON addresses lie among the pages; what fails on the way to the view has not asked the view yet
    try:
        view = (request.resolver_match or resolve(request.path_info)).func
    except Resolver404:
        return False
    return hasattr(view, "cls")  # as REST framework names the class of a view, and Django itself does not


def _bare_page(
    request: HttpRequest, template: str, status: int, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A page that asks nothing of anybody: no context processor, so no session, no person and no database."""
    with translation.override(translation.get_language_from_request(request)):
        return HttpResponse(render_to_string(template), status=status, headers=dict(headers or {}))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django itself refuses before any view: another host's name, a form with too many fields or too large."""
    problem = PayloadTooLarge() if isinstance(exception, RequestDataTooBig) else InvalidRequest()
    if wants_json(request):
        return problem_answer(request, problem)
    return _bare_page(request, f"{problem.status}.html", problem.status)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_answer(request, NotFound()) if wants_json(request) else render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """A defect, or a database that is away; nothing of it is told."""
    import sys

    failure = sys.exc_info()[1]
    problem = as_problem(failure) if isinstance(failure, Exception) else None
    status = problem.status if problem else 500
    if wants_json(request):
        return problem_answer(request, problem or InternalError())
    return _bare_page(
        request, "503.html" if status == 503 else "500.html", status, problem.headers if problem else None
    )


class InternalError(Problem):
    """A defect of this service; the trace_id finds it in our logs."""

    code = "internal_error"
    status = 500
    title = "Something went wrong on our side"


def only_developer_addresses(endpoints: list[Any]) -> list[Any]:
    """The OpenAPI document describes the developers' REST and nothing else."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/v1/")]
