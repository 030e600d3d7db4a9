"""No page reads a NUL: PostgreSQL cannot even be asked for one, and nobody's keyboard has it.

The path is looked after by `config.security.RequestContext`, and JSON addresses refuse one by themselves.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from config.api import wants_json

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class RefuseNul:
    """Middleware: a query or a form with a NUL in it is refused (400) before its page looks at it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        if ("%00" in request.META.get("QUERY_STRING", "") and not wants_json(request)) or _is_in_form(request):
            raise BadRequest("a NUL in the query or the form")


def _is_in_form(request: HttpRequest) -> bool:
    if request.method != "POST" or request.content_type not in _FORMS:
        return False
    try:
        given = request.POST.lists()
    except OSError:  # whoever sent it has gone meanwhile
        return False
    return any("\0" in text for name, values in given for text in (name, *values))
