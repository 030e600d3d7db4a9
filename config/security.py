"""Headers, request identifiers, and logs that hold no secret."""

import json
import logging
import re
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.crypto import salted_hmac
from whitenoise.storage import CompressedManifestStaticFilesStorage

from config.headers import of_programs

_access = logging.getLogger("access")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")
_SECRETS = re.compile(
    r"(cr_[a-z]{2,12}_[A-Za-z0-9]{8}_)[A-Za-z0-9_-]+|(token=)[^&\s\"']+|eyJ[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_-]*){2,4}"
)

Respond = Callable[[HttpRequest], HttpResponse]


class RequestContext:
    """Gives every request an identifier, answers with it, and writes one line about it: the path, never the query."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        given = request.META.get("HTTP_X_REQUEST_ID", "")  # `headers` would name them all anew for this one
        trace_id = given if _REQUEST_ID.match(given) else uuid4().hex
        request.trace_id = trace_id  # type: ignore[attr-defined]  # read by the problem renderer
        response = self.get_response(request)
        response["X-Request-Id"] = trace_id
        if _access.isEnabledFor(logging.INFO) and not request.path.startswith("/static/"):
            milliseconds = (time.perf_counter() - started) * 1000
            _access.info(
                "%s %s %d",
                request.method,
                request.path,
                response.status_code,
                extra={"trace_id": trace_id, "ms": round(milliseconds, 1)},
            )
        return response


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


class CsrfBehindNoReferrer(CsrfViewMiddleware):
    """Django's protection, for pages whose policy is `no-referrer`.

    Under that policy a browser sends `Origin: null` with every form (Fetch, "append a request Origin header"), which
    says nothing about where it came from. `Sec-Fetch-Site`, which no page can set, does; the token is checked as ever.
    """

    def _origin_verified(self, request: HttpRequest) -> bool:
        if request.headers.get("Origin") == "null":
            return request.headers.get("Sec-Fetch-Site") == "same-origin"
        return bool(super()._origin_verified(request))  # type: ignore[misc]  # the stubs leave it out


def redacted(text: str) -> str:
    """`text` without developer tokens and sealed data, whatever put them there."""
    return _SECRETS.sub(lambda match: f"{match[1] or match[2] or ''}[redacted]", text)


class LogLines(logging.Formatter):
    """One JSON object a line, redacted."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update({name: getattr(record, name) for name in ("trace_id", "ms") if hasattr(record, name)})
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return redacted(json.dumps(entry, ensure_ascii=False, default=str))


class WithoutStacksOfOutages(logging.Filter):
    """While the database is away every request fails alike: a line for each, and no stack, which would fill the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        from config.api import as_problem  # REST framework, which logging is set up before

        failure = record.exc_info[1] if record.exc_info else None
        problem = as_problem(failure) if isinstance(failure, Exception) else None
        if problem is not None and problem.status == 503:
            record.exc_info = None
        return True


def session_tag(request: HttpRequest) -> dict[str, str]:
    """A name for this session that the browser may know: it binds the unlocked vault key to the session."""
    key = getattr(getattr(request, "session", None), "session_key", None)
    return {"session_tag": salted_hmac("session-tag", key, algorithm="sha256").hexdigest()[:32] if key else ""}


class ModuleStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Static files under hashed names, `import` statements of ES modules included."""

    support_js_module_import_aggregation = True
    max_post_process_passes = 12  # a chain of imports may need a pass a link
    manifest_strict = True
