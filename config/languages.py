"""The language of a page: the person's choice, else the browser's. Programs are answered in English."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

# What programs call and still comes through the middleware of pages, with a part of the prefixes that
# config/program_addresses.py answers before it; the addresses for programs below /oauth/ never come this far
PROGRAMS = ("/api/v1/", "/api/a2a/", "/api/schema/", "/.well-known/", "/log/", "/mcp", "/livez", "/readyz")


class PageLanguage(LocaleMiddleware):
    """Django's choice for pages alone, taken back with the answer.

    The next request of this thread may be a program's: those addresses spend nothing on languages and rely on
    finding the one of the settings.
    """

    def process_request(self, request: HttpRequest) -> None:
        if not request.path_info.startswith(PROGRAMS):
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        try:
            if request.path_info.startswith(PROGRAMS):
                return response
            patch_vary_headers(response, ("Cookie",))
            return super().process_response(request, response)
        finally:
            translation.deactivate()
