"""The one place where a refusal becomes an answer."""

from typing import Any

import orjson
import psycopg.errors
import psycopg_pool
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions as drf

from common import problems
from common.request_notes import PROBLEM_CODE


def handle_exception(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """REST framework's exception handler: problem details, or None where the error is a defect and stays one."""
    problem = as_problem(error)
    return None if problem is None else problem_answer(context["request"], problem)


def as_problem(error: Exception) -> problems.Problem | None:
    """The refusal that an exception stands for, or None where it is a defect."""
    match error:
        case problems.Problem():
            return error
        case drf.MethodNotAllowed():
            return problems.MethodNotAllowed(headers={"Allow": ""})
        case drf.UnsupportedMediaType():
            return problems.UnsupportedMediaType()
        case RequestDataTooBig():
            return problems.PayloadTooLarge()
        case drf.ParseError():
            return problems.InvalidRequest("The body cannot be read.")
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return problems.AuthenticationRequired()
        # No JSON view of ours comes here: its permission classes and its CSRF check raise problems themselves. What the
        # framework forbids besides is answered like a forged call.
        case drf.PermissionDenied() | PermissionDenied():
            return problems.CsrfFailed()
        case Http404() | drf.NotFound():
            return problems.NotFound()
        case OperationalError() | InterfaceError() | psycopg_pool.PoolTimeout():
            return problems.TemporarilyUnavailable(headers={"Retry-After": "5"})
        # a standby, or a server that is being moved
        case InternalError() if isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction):
            return problems.TemporarilyUnavailable(headers={"Retry-After": "5"})
        # none of its kinds: SQLite's file is no database (any more)
        case DatabaseError() if type(error) is DatabaseError:
            return problems.TemporarilyUnavailable(headers={"Retry-After": "5"})
    return None


def problem_answer(request: HttpRequest, problem: problems.Problem) -> HttpResponse:
    """application/problem+json (RFC 9457). The code is noted on the request, for the log of an app's requests."""
    request.META[PROBLEM_CODE] = problem.code
    return HttpResponse(
        orjson.dumps(problem.body(getattr(request, "trace_id", ""))),
        status=problem.status,
        content_type=problem.media_type,
        headers=problem.headers,
    )
