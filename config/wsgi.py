"""The WSGI entry point; one server kind for everything (docs/adr)."""

import gc
import logging
import os
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import resolve

from common.shutdown import watch_signals
from config.checks import require_keys, require_release
from config.database_watch import watch
from config.headers import of_programs
from consent.release import starting

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()
resolve("/livez")  # loads the table of addresses, or the first caller of each process would wait for it
gc.freeze()  # as in config/apps.py
_log = logging.getLogger(__name__)
if settings.TRACES_TO:
    from config import telemetry

    telemetry.start(settings.TRACES_NAME)
require_keys()
require_release()
watch_signals()
if settings.DATABASE_WATCH:
    watch.start()
starting.begin()
from config import metrics  # noqa: E402  # which the settings have to come before

metrics.start()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's response; a complete one as a list, which the server sends at once and not piece by piece."""
    try:
        answer: Iterable[bytes] = _django(environ, start_response)
    except Exception:
        # no handler turned this into a response: the server would send an empty one, without a single header
        _log.exception("the request ended outside of everything that answers")
        return _fallback_answer(start_response)
    if not isinstance(answer, HttpResponse):  # a stream, or a file
        return answer
    whole = [answer.content]
    answer.close()
    return whole


def _fallback_answer(start_response: Callable[..., Any]) -> list[bytes]:
    body = b"Something broke on our side. Try again in a moment.\n"
    headers = {**of_programs(), "X-Request-Id": uuid4().hex, "Content-Type": "text/plain; charset=utf-8"}
    headers["Content-Length"] = str(len(body))
    start_response("500 Internal Server Error", list(headers.items()))
    return [body]


if settings.TRACES_TO:
    application = telemetry.Traced(application)
