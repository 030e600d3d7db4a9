"""What the request log of apps costs a call: processor time of this process with it and without it, taken in turn.

    python -m bench.request_log

Prints the two, in microseconds a call, and their ratio. What writes the rows counts along. The database is one of its
own, made beside the one of DATABASE_URL and removed afterwards; the database's own processor time is not measured.
"""

import os
import time
from io import BytesIO
from typing import Any

ROUNDS, CALLS = 30, 250


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.test.utils import setup_databases, teardown_databases

    application = get_wsgi_application()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        environment = _status_read()
        spent: dict[bool, list[float]] = {True: [], False: []}
        for round_ in range(ROUNDS * 2 + 2):
            settings.REQUEST_LOG_FLUSH_SECONDS = 3600 if round_ % 2 else 0
            seconds = _measure(application, environment)
            if round_ >= 2:  # the first of each kind warm up
                spent[bool(round_ % 2)].append(seconds)
        with_log, without = (min(spent[kind]) * 1e6 / CALLS for kind in (True, False))  # what disturbs only adds
        print(f"with the log {with_log:.0f} µs a call, without {without:.0f} µs: ratio {with_log / without:.3f}")
    finally:
        teardown_databases(databases, verbosity=0)


def _status_read() -> dict[str, Any]:
    """The hottest read of all, of a request that waits."""
    from django.conf import settings

    from tests.factories import ConsentRequestFactory, TokenFactory

    settings.STATUS_POLL_BURST = 0
    asked = ConsentRequestFactory()
    token = TokenFactory(app=asked.app).secret
    return {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/api/v1/consent-status",
        "QUERY_STRING": f"request_id={asked.request_id}",
        "SERVER_NAME": "localhost", "SERVER_PORT": "8000", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http",
        "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost", "HTTP_AUTHORIZATION": f"Bearer {token}",
    }  # fmt: skip


def _measure(application: Any, environment: dict[str, Any]) -> float:
    from developers.request_log.recording import flush_request_log

    began = time.process_time()
    for _ in range(CALLS):
        answer = application({**environment, "wsgi.input": BytesIO()}, _started)
        assert answer.status_code == 200
        answer.close()
    flush_request_log()
    return time.process_time() - began


def _started(status: str, headers: Any, exc_info: Any = None) -> None:
    """Takes the head of an answer, as a server does."""


if __name__ == "__main__":
    main()
