"""What Django itself refuses before any view, or after one failed: as problem details to a program, else as a page."""

import re
from collections.abc import Mapping

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils import translation

from common.admission.exceptions import as_problem, problem_answer
from common.problems import InvalidRequest, Kind, NotFound, PayloadTooLarge

# All that programs call, whether a view is there or not; prefixes elsewhere say who skips which middleware
_JSON_PATHS = re.compile(r"/(api|\.well-known|log|mcp|oauth/(register|revoke|token)|livez|readyz)(/|$)")


def wants_json(request: HttpRequest) -> bool:
    """Whether this caller is a program rather than a person with a page.

    Pages end in a slash, and browsers say that they take them: what looks for another address than those is a program
    that guesses, such as one that looks for `/register` or `/openapi.json`.
    """
    accepted = request.headers.get("Accept", "")
    if _JSON_PATHS.match(request.path) or "application/json" in accepted:
        return True
    # the owner's JSON addresses lie among the pages; what fails on the way to the view has not asked the view yet
    try:
        view = (request.resolver_match or resolve(request.path_info)).func
    except Resolver404:
        return not request.path.endswith("/") and "text/html" not in accepted
    # as REST framework names the class of a view, and Django itself does not
    return hasattr(view, "cls") or hasattr(view, "answers_json")


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
        return problem_answer(request, problem or Defect())
    return _bare_page(
        request, "503.html" if status == 503 else "500.html", status, problem.headers if problem else None
    )


# fmt: off
Defect = Kind("internal_error", 500, "Something went wrong on our side",
    "A defect of this service; the trace_id finds it in our logs.")
# fmt: on
