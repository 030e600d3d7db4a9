"""No developer token in the address of a page: there it means nothing, and it would travel on.

A page's address goes into `next=`, into the forms that lead back to it, and into the browser's history. So the token
is taken out before anything looks at the query. The addresses of config/program_addresses.py, where it is meant to be,
never come here.
"""

import re
from collections.abc import Callable
from urllib.parse import quote_plus, unquote_plus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import escape_leading_slashes

from common.request_notes import QUERY_CLEANED
from config.error_answers import wants_json

_TOKEN = re.compile(r"cr_[a-z]{2,12}_[A-Za-z0-9]{8}_[A-Za-z0-9_-]+")
_DECODED_AT_MOST = 3  # times: a `next` inside a `next` is escaped twice


class TokenFreeQuery:
    """Middleware: the query without tokens; who only looks is sent to the address without them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.META.get("QUERY_STRING", "")
        clean = without_tokens(given)
        if clean == given:
            return self.get_response(request)
        request.META["QUERY_STRING"] = clean
        request.META[QUERY_CLEANED] = "yes"  # for addresses that take no query at all, and say so
        request.__dict__.pop("GET", None)  # in case somebody before us looked
        if request.method in ("GET", "HEAD") and not wants_json(request):
            return HttpResponseRedirect(escape_leading_slashes(request.get_full_path()))
        return self.get_response(request)


def without_tokens(query: str) -> str:
    """`query` without a `token` and without anything of a token's form; the rest to the byte as it came."""
    if "token" not in query and "cr_" not in query and "%" not in query:
        return query
    return "&".join(kept for part in query.split("&") if (kept := _without_token(part)) is not None)


def _without_token(part: str) -> str | None:
    name, given, value = part.partition("=")
    if unquote_plus(name) == "token" or _free(name) != name:
        return None
    return name + given + _free(value)


def _free(text: str) -> str:
    """`text` without what has a token's form, however often that is escaped; else as it is."""
    decoded = text
    for times in range(_DECODED_AT_MOST):
        if _TOKEN.search(decoded):
            kept = _TOKEN.sub("", decoded)
            for _ in range(times):
                kept = quote_plus(kept)
            return kept
        decoded = unquote_plus(decoded)
    return text
