"""The middleware of every request: its identifier, log line and metrics, security headers, compression and CSRF.

Besides, what pages are given of the session: its tag for the vault's scripts, and messages.
"""

import logging
import re
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.utils.crypto import salted_hmac

from common import metrics, request_ids
from common.request_notes import PROBLEM_CODE, ROUTE
from common.text import without_nul
from config.headers import of_programs

_access = logging.getLogger("access")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# Static files with a hash in their names. No document by themselves, as a picture in SVG may be, they need no policy of
# documents; they never change, so no validators either. Without these headers the forty responses of a page are smaller
_HASHED_ASSET = re.compile(rf"{re.escape(settings.STATIC_URL)}.+\.[0-9a-f]{{12}}\.(css|js|woff2|png)\Z")
_HEADERS_USELESS_FOR_ASSETS = (
    "Content-Security-Policy", "Cross-Origin-Opener-Policy", "Referrer-Policy", "ETag", "Last-Modified",
    request_ids.HEADER,
)  # fmt: skip
_SHARING_ID = re.compile(r"/(usr|sh)_[^/]*")  # whom somebody asks about is nobody's who reads a log

Respond = Callable[[HttpRequest], HttpResponse]


class RequestContext:
    """Gives every request an identifier, answers with it, and writes one line about it: the path, never the query."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        # `headers` would name them all anew for this one
        request_id = request_ids.accepted(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.trace_id = request_id  # type: ignore[attr-defined]  # read by the problem renderer
        if "\0" in request.path_info:
            # no name has one, and no file can even be asked for by one: each view says that this one is not there
            request.path, request.path_info = without_nul(request.path), without_nul(request.path_info)
        with request_ids.following(request_id):
            response = self.get_response(request)
            response[request_ids.HEADER] = request_id
            if response.status_code in (204, 304):
                del response.headers["Content-Length"]  # that of an answer without a body says nothing (RFC 9110 8.6)
            if response.status_code in (200, 206, 304) and _HASHED_ASSET.match(request.path):
                for name in _HEADERS_USELESS_FOR_ASSETS:
                    del response.headers[name]
            if not request.path.startswith("/static/"):
                _note(request, response, time.perf_counter() - started)
        return response


def _note(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """Count and log it. No method but those that views take is a label: a caller could make up as many as it likes."""
    method = request.method if request.method in _METHODS else "other"
    route, kind = _route(request), _kind(getattr(request, "auth", None))
    request.META[ROUTE] = (method, route, response.status_code)
    metrics.REQUESTS.labels(method, route, kind, response.status_code).observe(seconds)
    if code := request.META.get(PROBLEM_CODE):
        metrics.REFUSALS.labels(code).inc()
    if _access.isEnabledFor(logging.INFO):
        _access.info("request", extra={**_facts(request, response, seconds), "route": route})


def _route(request: HttpRequest) -> str:
    """The address as the table of addresses writes it, with names where people's and apps' own parts stand."""
    return f"/{request.resolver_match.route}" if request.resolver_match else "none"


def _kind(app: Any) -> str:
    """The kind of app that called; `none` without a developer's or a host's token."""
    if not hasattr(app, "is_personal"):
        return "none"
    return "personal" if app.is_personal else "test" if app.is_test else "host" if app.is_host else "live"


def _facts(request: HttpRequest, response: HttpResponse, seconds: float) -> dict[str, Any]:
    """What the line of a request says beside its name; the app where a developer's token named one."""
    facts = {
        "method": request.method,
        "path": _SHARING_ID.sub(r"/\1_-", request.path),
        "status": response.status_code,
        "ms": round(seconds * 1000, 1),
    }
    app_id = getattr(getattr(request, "auth", None), "app_id", None)
    return {**facts, "app": app_id} if app_id else facts


class SecurityHeaders:
    """What an answer lacks of the headers that every answer has: one that a middleware gave is an answer like others.

    Static files are kept by browsers; nothing else is.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response
        self.headers = of_programs()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_static = request.path.startswith(settings.STATIC_URL)
        for name, value in self.headers.items():
            if name == "Strict-Transport-Security" and not request.is_secure():
                continue  # over plain HTTP it is to be ignored, so it is not sent
            if name == "Cache-Control" and is_static and response.status_code in (200, 206, 304):
                continue
            response.headers.setdefault(name, value)
        if not is_static:
            response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        return response


class CompressedPages(GZipMiddleware):
    """Pages are compressed where nothing that a stranger chose with this very request stands beside a secret.

    A length tells whether two texts are alike (BREACH): what is asked with a query, or answers a form, stays as it is.
    The token against forgery is masked anew in each page, and Django adds up to 100 random octets.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress such a page; leave every other response alone, streams and answers for programs too."""
        is_page = response.status_code == 200 and response.headers.get("Content-Type", "").startswith("text/html")
        if request.method != "GET" or request.META.get("QUERY_STRING") or not is_page or response.streaming:
            return response
        return super().process_response(request, response)


class CsrfBehindNoReferrer(CsrfViewMiddleware):
    """Django's protection, for pages whose policy is `no-referrer`.

    Under that policy a browser sends `Origin: null` with every form (Fetch, "append a request Origin header"), which
    says nothing about where it came from. `Sec-Fetch-Site`, which no page can set, does; the token is checked as ever.
    """

    def _origin_verified(self, request: HttpRequest) -> bool:
        if request.headers.get("Origin") == "null":
            return request.headers.get("Sec-Fetch-Site") == "same-origin"
        return bool(super()._origin_verified(request))  # type: ignore[misc]  # the stubs leave it out


def session_tag(request: HttpRequest) -> dict[str, str]:
    """A name for this session that the browser may know: it binds the unlocked vault key to the session."""
    key = getattr(getattr(request, "session", None), "session_key", None)
    return {"session_tag": salted_hmac("session-tag", key, algorithm="sha256").hexdigest()[:32] if key else ""}


class HostCookie(CookieStorage):
    """Django's signed cookie under the prefixed name, which has no setting of its own."""

    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Messages(FallbackStorage):
    """The cookie first, the session for what it cannot hold."""

    storage_classes = (HostCookie, SessionStorage)
