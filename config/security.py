"""Headers, request identifiers, and logs that hold no secret."""

import json
import logging
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.crypto import salted_hmac
from whitenoise.storage import CompressedManifestStaticFilesStorage

from common import tracing
from config.headers import of_programs

_access = logging.getLogger("access")
_SECRETS = re.compile(
    r"(cr_[a-z]{2,12}_[A-Za-z0-9]{8}_)[A-Za-z0-9_-]+|(token=)[^&\s\"']+|eyJ[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_-]*){2,4}"
    r"|(inv_)[A-Za-z0-9_-]{43}"
)
_MARKS = ("cr_", "token=", "eyJ", "inv_")  # each secret begins with one of them

Respond = Callable[[HttpRequest], HttpResponse]


_NEVER = "\ufffd"  # the character in place of what cannot be read, which no name of ours has either


class RequestContext:
    """Gives every request an identifier, answers with it, and writes one line about it: the path, never the query."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        # `headers` would name them all anew for this one
        trace_id = tracing.accepted(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.trace_id = trace_id  # type: ignore[attr-defined]  # read by the problem renderer
        if "\0" in request.path_info:
            # no name has one, and PostgreSQL cannot even be asked for it: each view says that this one is not there
            request.path, request.path_info = (path.replace("\0", _NEVER) for path in (request.path, request.path_info))
        with tracing.following(trace_id):
            response = self.get_response(request)
            response[tracing.HEADER] = trace_id
            if _access.isEnabledFor(logging.INFO) and not request.path.startswith("/static/"):
                _access.info("request", extra=_facts(request, response, time.perf_counter() - started))
        return response


def _facts(request: HttpRequest, response: HttpResponse, seconds: float) -> dict[str, Any]:
    """What the line of a request says beside its name; the app where a developer's token named one."""
    facts = {
        "method": request.method,
        "path": request.path,
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
    """`text` without tokens, links of invitations and sealed data, whatever put them there."""
    if not any(mark in text for mark in _MARKS):  # of a request's line this takes a tenth of what the expression does
        return text
    return _SECRETS.sub(lambda match: f"{match[1] or match[2] or match[4] or ''}[redacted]", text)


def _as_json(entry: dict[str, Any]) -> str:
    try:
        return orjson.dumps(entry, default=str).decode()
    except TypeError:  # a lone surrogate, of a name or address that is no UTF-8
        return json.dumps(entry, ensure_ascii=False, default=str)


class LogLines(logging.Formatter):
    """One JSON object a line, redacted: when (RFC 3339, UTC), what, and the request or task that it belongs to."""

    members = ("method", "path", "status", "app", "task", "state", "ms", "trace_id")  # of what a record may have

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, Any] = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update({name: getattr(record, name) for name in self.members if hasattr(record, name)})
        if "trace_id" not in entry and (trace_id := tracing.current()):
            entry["trace_id"] = trace_id
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return redacted(_as_json(entry))


class OutagesWithoutTraceback(logging.Filter):
    """While the database is away every request fails alike: a line for each, and no stack, which would fill the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        from common.admission.exceptions import as_problem  # REST framework, which logging is set up before

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
