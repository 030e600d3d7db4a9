"""A real Chromium on a real server of `static/`, driven from a thread of its own.

The thread keeps Playwright's event loop away from whatever else a test run does. Every page carries the application's
Content Security Policy; what the browser complains about is collected, so that a test can assert there was nothing.
"""

import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.serving import Answering
from tests.patience import eventually

ROOT = Path(__file__).resolve().parents[4]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Answer = tuple[int, dict[str, str], bytes]
Api = Callable[[str, str, dict[str, str], bytes], Answer]


def find_chromium() -> str | None:
    """The one without a window where there is one: it does the same with a quarter less work."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


class Handler(Answering, SimpleHTTPRequestHandler):
    """`/static/…` and the tests' own scripts, `/page?user=…&session=…` as an empty page, the rest by `api`."""

    server: "StaticServer"

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        # as STATICFILES_DIRS has it
        return super().translate_path(path.replace("/static/js/formats/", "/bridge-js/src/formats/", 1))

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        if path.path.startswith(("/static/", "/tests/system/browser/sealing/")):
            SimpleHTTPRequestHandler.do_GET(self)
        elif path.path == "/page":
            self.answer(200, page_html(parse_qs(path.query)), {"Content-Type": "text/html; charset=utf-8"})
        elif path.path == "/favicon.ico":
            self.answer(204)
        else:
            self.from_api()

    def from_api(self) -> None:
        status, headers, body = self.server.api(self.command, self.path, dict(self.headers), self.body())
        self.answer(status, body, headers)

    do_POST = do_PUT = do_DELETE = from_api  # noqa: N815 - the names that http.server looks for


def page_html(query: dict[str, list[str]]) -> bytes:
    bound = "".join(
        f' data-{name}="{escape(query[given][0])}"'
        for name, given in (("user-id", "user"), ("session-tag", "session"))
        if given in query
    )
    return (
        f'<!doctype html><html lang="en"{bound}><head><meta charset="utf-8"><title>vault</title>'
        f'<meta name="csrf-token" content="the-csrf-token"></head><body></body></html>'
    ).encode()


def no_api(method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
    problem = {"code": "not_found", "status": 404, "title": "Not found", "detail": f"{method} {path}"}
    return 404, {"Content-Type": "application/problem+json"}, json.dumps(problem).encode()


class StaticServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(ROOT)))
        self.api: Api = no_api
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def origin(self) -> str:
        """By name: browsers count localhost as a secure context, and passkeys want a name."""
        return f"http://localhost:{self.server_address[1]}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()


@dataclass
class Tab:
    """One page. `run` evaluates JavaScript in it; an error thrown there is raised here as a RuntimeError."""

    driver: "Driver"
    page: Any
    complaints: list[str] = field(default_factory=list)

    def run(self, script: str, argument: Any = None) -> Any:
        return self.driver.do(lambda: self.page.evaluate(script, argument))

    def until(self, script: str, wanted: Any) -> None:
        """Asks again and again, on this side's clock: the page's own may be a stopped one."""
        eventually(lambda: self.run(script) == wanted, repr(wanted))

    def go(self, address: str) -> None:
        self.driver.do(lambda: self.page.goto(address))

    def with_page(self, action: Callable[[Any], Any]) -> Any:
        """For what only Playwright's own page can do: clocks, emulated authenticators, second tabs."""
        return self.driver.do(lambda: action(self.page))


class Driver(AbstractContextManager["Driver"]):
    def __init__(self, executable: str) -> None:
        self.executable = executable
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chromium")
        self.server = StaticServer()
        self.contexts: list[Any] = []

    def do(self, action: Callable[[], Any]) -> Any:
        return self.thread.submit(action).result()

    def __enter__(self) -> "Driver":
        self.do(self._launch)
        return self

    def _launch(self) -> None:
        from playwright.sync_api import sync_playwright

        self.manager = sync_playwright()
        self.browser = self.manager.__enter__().chromium.launch(
            executable_path=self.executable, headless=True, args=ARGUMENTS
        )

    def __exit__(self, *_: object) -> None:
        self.do(self.browser.close)
        self.do(lambda: self.manager.__exit__(None, None, None))
        self.thread.shutdown()
        self.server.stop()

    def new_context(self, *, kept: bool = False) -> Any:
        """A fresh profile: no storage, no other tabs. Closed with the test, or with the browser if it is kept."""
        context = self.do(self.browser.new_context)
        if not kept:
            self.contexts.append(context)
        return context

    def new_tab(self, context: Any, query: str = "") -> Tab:
        tab = Tab(driver=self, page=self.do(context.new_page))
        self.do(lambda: listen(tab))
        tab.go(f"{self.server.origin}/page{query}")
        return tab

    def close_contexts(self) -> None:
        for context in self.contexts:
            self.do(context.close)
        self.contexts.clear()
        self.server.api = no_api


def listen(tab: Tab) -> None:
    """Console errors and warnings (policy violations are among them) and uncaught errors."""
    tab.page.on("console", lambda message: tab.complaints.append(message.text) if is_complaint(message) else None)
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))


def is_complaint(message: Any) -> bool:
    """Chromium writes a line for every refusal of the server: an answer, and no fault unless a script is missing."""
    answered = message.text.startswith("Failed to load resource") and "/static/" not in message.location["url"]
    return message.type in ("error", "warning") and not answered
