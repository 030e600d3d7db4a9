"""What a page answers when it refuses: a page of its own with a way on. Programs get problem+json instead."""

import math
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import select_template

from accounts.interrupted.middleware import confirmation_page
from accounts.interrupted.page_forms import form_of, page_at
from common.admission.exceptions import problem_answer
from common.problems import CsrfFailed, MethodNotAllowed, Problem, TooManyRequests
from config.error_answers import page_not_found, wants_json

_LONGEST_WAIT = 24 * 60  # minutes; more are no advice


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is missing or too old: what it asked is shown again, unless another site sent it."""
    if wants_json(request):
        return problem_answer(request, CsrfFailed())
    return confirmation_page(request) or render(
        request, "403_csrf.html", {"way_on": page_at(request.path) if _is_page(request) else ""}, status=403
    )


class RefusalPages:
    """Gives every refusal that came without a page one; what it says of itself, such as `Allow`, stays."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not 400 <= response.status_code < 500 or not _is_bare(response):
            return response
        page = _in_its_place(request, response)
        for name, value in response.items():
            if name not in ("Content-Type", "Content-Length"):
                page[name] = value
        page.cookies = response.cookies
        return page

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """What a page does not find of its person's is answered as what is not there; a limit says when to go on."""
        if isinstance(exception, Problem) and exception.status == 404:
            return page_not_found(request, exception)
        if isinstance(exception, TooManyRequests):
            return _too_many(request, exception)
        return None


def _too_many(request: HttpRequest, refusal: TooManyRequests) -> HttpResponse:
    if wants_json(request):
        return problem_answer(request, refusal)
    minutes = math.ceil(int(refusal.headers.get("Retry-After", 0)) / 60)
    context = {"reason": refusal.detail if refusal.detail != refusal.title else "", "of_person": True}
    if minutes <= _LONGEST_WAIT:
        context["minutes"] = minutes
    page = render(request, "429.html", context, status=refusal.status)
    for name, value in refusal.headers.items():
        page[name] = value
    return page


def _is_bare(response: HttpResponse) -> bool:
    kind = response.get("Content-Type", "").partition(";")[0]
    return not response.streaming and (not response.content or kind == "text/plain")


def _in_its_place(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    status = response.status_code
    if status == 405 and wants_json(request):
        return problem_answer(request, MethodNotAllowed())
    template = select_template([f"{status}.html", "4xx.html"])
    context = {
        "status": status,
        "reason": response.content.decode(errors="replace")[:300],
        "way_on": _way_on(request, response),
    }
    return HttpResponse(template.render(context, request), status=status)


def _is_page(request: HttpRequest) -> bool:
    return form_of(request.resolver_match) is not None


def _way_on(request: HttpRequest, response: HttpResponse) -> str:
    """The page that holds the button of this address, or the address itself where it can be looked at."""
    if _is_page(request):
        return page_at(request.path)
    return request.path if "GET" in response.get("Allow", "") else ""
