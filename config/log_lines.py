"""What the service's log looks like: JSON, one line for each event, without secrets."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

import orjson

from common import request_ids
from config import env

_SECRETS = re.compile(
    r"(cr_[a-z]{2,12}_[A-Za-z0-9]{8}_)[A-Za-z0-9_-]+|(token=)[^&\s\"']+|eyJ[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_-]*){2,4}"
    r"|(inv_)[A-Za-z0-9_-]{43}|(/(?:reset/key|confirm-email)/)[^/\s\"']+"
)
# Django's loggers of what it refuses before any view, such as a wrong host or a thousand parameters: anybody may send
# that as often as they like, and a stack of ours says nothing about it
_REFUSED_AT_ONCE = "django.security."
_MARKS = ("cr_", "token=", "eyJ", "inv_", "/key/", "/confirm-email/")  # each secret has one of them before it


def redacted(text: str) -> str:
    """`text` without tokens, what opens the links of mails, and sealed data, whatever put them there."""
    if not any(mark in text for mark in _MARKS):  # of a request's line this takes a tenth of what the expression does
        return text
    return _SECRETS.sub(lambda match: f"{match[1] or match[2] or match[4] or match[5] or ''}[redacted]", text)


def _as_json(entry: dict[str, Any]) -> str:
    try:
        return orjson.dumps(entry, default=str).decode()
    except TypeError:  # a lone surrogate, of a name or address that is no UTF-8
        return json.dumps(entry, ensure_ascii=False, default=str)


class LogLines(logging.Formatter):
    """One JSON object a line, redacted: when (RFC 3339, UTC), what, and the request or task that it belongs to."""

    # `trace_id` is the request identifier, `trace` that of OpenTelemetry
    members = ("method", "path", "route", "status", "app", "task", "state", "ms", "trace_id", "trace")

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, Any] = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update({name: getattr(record, name) for name in self.members if hasattr(record, name)})
        if "trace_id" not in entry and (request_id := request_ids.current()):
            entry["trace_id"] = request_id
        if record.exc_info and not record.name.startswith(_REFUSED_AT_ONCE):
            entry["exception"] = self.formatException(record.exc_info)
        return redacted(_as_json(entry))


class OutageWithoutTraceback(logging.Filter):
    """A line, and no stack, for a database that is away: every request tells of it."""

    def filter(self, record: logging.LogRecord) -> bool:
        failure = record.exc_info[1] if record.exc_info else None
        if _is_outage(failure):
            record.exc_info = None
        return True


def _is_outage(failure: BaseException | None) -> bool:
    from common.admission.exceptions import as_problem  # REST framework, which logging is set up before

    problem = as_problem(failure) if isinstance(failure, Exception) else None
    return problem is not None and problem.status == 503


_LEVELS = ("debug", "info", "warning", "error", "critical")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"outage": {"()": "config.log_lines.OutageWithoutTraceback"}},
    "formatters": {"lines": {"()": "config.log_lines.LogLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "root": {"handlers": ["stderr"], "level": env.choice("LOG_LEVEL", _LEVELS, "info").upper()},
    "loggers": {
        "django.request": {"level": "ERROR", "filters": ["outage"]},
        "django.security.csrf": {"level": "ERROR"},
        "celery": {"level": "WARNING"},  # several tasks a second begin by the timer, and each would be told twice
    },
}
