"""Addresses for programs skip the middleware that only pages need: sessions, languages, messages, page policies.

A hot read costs less than that middleware around it: without it a status is answered 22 % more often a second
(docs/adr/0018). So these addresses are resolved and called right behind the request identifier. What the skipped
middleware would have added that matters to a program is added here.
"""

import time
from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch, resolve

from config.headers import of_programs
from developers.request_log import recording

_fixed: dict[str, ResolverMatch] = {}  # as many as there are such addresses
# Of all addresses in config/program_urls.py, and of no others: /api/a2a/, where some callers have a session, and
# /api/schema/, /livez and /readyz come through the middleware of pages
_PREFIXES = (
    "/api/v1/", "/.well-known/consent-", "/.well-known/oauth-", "/log/", "/mcp",
    "/oauth/register", "/oauth/revoke", "/oauth/token",
)  # fmt: skip


class ProgramAddresses:
    """Middleware: calls the views of these addresses at once; everything else goes on through the rest."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.headers = of_programs()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # a deployment behind TLS lets SecurityMiddleware send plain HTTP away, which is not worth doing here once more
        if not request.path_info.startswith(_PREFIXES) or (settings.SECURE_SSL_REDIRECT and not request.is_secure()):
            return self.get_response(request)
        began = time.perf_counter()
        response = cast(HttpResponse, _answer(request))
        recording.note(request, response, time.perf_counter() - began)
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)  # what never changes says itself that it may be kept
        if not response.streaming and "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
        return response


@convert_exception_to_response
def _answer(request: HttpRequest) -> HttpResponse:
    """The view's answer; what it raises becomes one as it would behind Django's own middleware."""
    match = request.resolver_match = _resolved(request.path_info)
    return cast(HttpResponse, match.func(request, *match.args, **match.kwargs))


def _resolved(path: str) -> ResolverMatch:
    """What `resolve` finds; an address without a variable part is looked up once."""
    known = _fixed.get(path)
    if known is not None:
        return known
    match = resolve(path, settings.PROGRAM_URLCONF)
    if not match.kwargs and not match.args:
        _fixed[path] = match
    return match
