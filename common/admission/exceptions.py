"""The one place where a refusal becomes an answer."""

from typing import Any

import orjson
import psycopg.errors
import psycopg_pool
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions as drf

from common.problems import (
    PROBLEM_CODE,
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


def handle_exception(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """REST framework's exception handler: problem details, or None where the error is a defect and stays one."""
    problem = as_problem(error)
    return None if problem is None else problem_answer(context["request"], problem)


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
        case InternalError() if isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction):
            return TemporarilyUnavailable(headers={"Retry-After": "5"})  # a standby, or a server that is being moved
        case DatabaseError() if (
            type(error) is DatabaseError
        ):  # none of its kinds: SQLite's file is no database (any more)
            return TemporarilyUnavailable(headers={"Retry-After": "5"})
    return None


def problem_answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """application/problem+json (RFC 9457). The code is noted on the request, for the log of an app's requests."""
    request.META[PROBLEM_CODE] = problem.code
    return HttpResponse(
        orjson.dumps(problem.body(getattr(request, "trace_id", ""))),
        status=problem.status,
        content_type=problem.media_type,
        headers=problem.headers,
    )
