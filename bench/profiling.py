"""Where the time of one request goes, by function; in this process, so that the profiler sees all of it."""

import cProfile
import pstats
import time
from io import BytesIO
from itertools import cycle, islice
from typing import Any

WARM_UP, REQUESTS = 100, 400
SHOWN = 45


def profile(jobs: dict[str, tuple[list[str], int]]) -> None:
    """Print a profile for every address."""
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()
    for name, (requests, _) in jobs.items():
        for text in requests[:WARM_UP]:
            _call(application, text)
        measured = cProfile.Profile(time.process_time)
        measured.enable()
        for text in islice(cycle(requests), WARM_UP, WARM_UP + REQUESTS):
            _call(application, text)
        measured.disable()
        print(f"\n===== {name}: {REQUESTS} requests")
        pstats.Stats(measured).strip_dirs().sort_stats("tottime").print_stats(SHOWN)


def _call(application: Any, text: str) -> None:
    head, _, body = text.partition("\r\n\r\n")
    line, *lines = head.split("\r\n")
    method, target, _ = line.split(" ")
    path, _, query = target.partition("?")
    headers = dict(pair.split(": ", 1) for pair in lines)
    own = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    environment = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http", "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": BytesIO(body.encode()), "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": headers.get("Content-Type", ""), **own, "HTTP_HOST": "localhost",
    }  # fmt: skip
    answer = application(environment, lambda status, headers, exc_info=None: None)
    b"".join(answer)
    answer.close()
