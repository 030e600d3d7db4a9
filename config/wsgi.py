"""The WSGI entry point; one server kind for everything (docs/adr)."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's answer; one that is whole already as a list, which the server sends at once and not piece by piece."""
    answer: Iterable[bytes] = _django(environ, start_response)
    if not isinstance(answer, HttpResponse):  # a stream, or a file
        return answer
    whole = [answer.content]
    answer.close()
    return whole
