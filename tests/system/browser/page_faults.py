"""Pages in a browser that notice everything a person should never meet: errors, policy violations, failed requests."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response

from tests.patience import eventually

# Written into every document before its own scripts: some violations reach no console.
_WATCH_POLICY = """
document.addEventListener("securitypolicyviolation", (event) => {
  const { violatedDirective, blockedURI, sourceFile, lineNumber } = event;
  console.error(`policy violation: ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
});
"""
Theme = Literal["light", "dark"]
Themes = Sequence[Theme]
THEMES: Themes = ("light", "dark")
_OF_PLAYWRIGHT = "Service Worker registration blocked by Playwright"
_FAILED_LOAD = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")


@dataclass
class Complaints:
    """What the browser complained about. A test that means to be refused says so with `expecting`."""

    lines: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)

    @contextmanager
    def expecting(self, *statuses: int) -> Iterator[None]:
        """Answers of these statuses are part of the test while this lasts."""
        before, self.expected = self.expected, self.expected | set(statuses)
        try:
            yield
        finally:
            self.expected = before

    def watch(self, context: BrowserContext) -> None:
        """Listen to every page of this profile."""
        context.add_init_script(_WATCH_POLICY)
        context.on("page", self._watch_page)

    def _watch_page(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.lines.append(f"uncaught: {error}"))
        page.on("requestfailed", self._on_failure)
        page.on("response", self._on_response)

    def _on_console(self, message: ConsoleMessage) -> None:
        # a refused request is judged by its response, which knows the address
        left_out = _FAILED_LOAD.match(message.text) or message.text == _OF_PLAYWRIGHT
        if message.type in ("error", "warning") and not left_out:
            self.lines.append(f"{message.type}: {message.text}")

    def _on_failure(self, request: Request) -> None:
        # leaving a page ends what it was waiting for, which is nobody's fault
        if request.failure != "net::ERR_ABORTED":
            self.lines.append(f"request failed: {request.method} {request.url} {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.lines.append(f"answered {response.status}: {response.request.method} {response.url}")


def axe_findings(page: Page) -> list[str]:
    """What axe finds serious or critical on this page once it is loaded, one line each."""
    page.wait_for_load_state()  # a step before may have waited for one field of it alone
    page.evaluate(AXE_SCRIPT)
    # axe would read imported style sheets by writing inline ones, which the policy rightly refuses; and it need neither
    # describe what is in order nor bring it here
    options = json.dumps({"preload": False, "resultTypes": ["violations"]})
    found = page.evaluate(f"axe.run({options}).then((results) => results.violations)")
    return [
        f"{finding['id']} ({finding['impact']}): {finding['help']} at "
        + json.dumps([node["target"] for node in finding["nodes"]][:3])
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]


def axe_findings_in(themes: Themes, page: Page) -> list[str]:
    """`axe_findings` in each theme, one after the other on the same page: only style sheets know the theme."""
    found = []
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        found += [f"{theme}: {line}" for line in axe_findings(page)]
    return found


def faults_at(page: Page, path: str, themes: Themes = THEMES) -> list[str]:
    """What is wrong with the page at `path`: its status, anything wider than the screen, axe's findings."""
    return [*too_wide(page, path), *(f"{path}: {line}" for line in axe_findings_in(themes, page))]


@contextmanager
def settling(page: Page) -> Iterator[None]:
    """Afterwards, waits until what was begun here on the page has ended: no request for a tenth of a second.

    Playwright's own `networkidle` is half a second, which hundreds of pages have not to give.
    """
    begun, pending = Counter[str](), set[Request]()

    def begin(request: Request) -> None:
        begun["requests"] += 1
        pending.add(request)

    def end(request: Request) -> None:
        pending.discard(request)

    def is_quiet() -> bool:
        before = begun.total()
        page.wait_for_timeout(100)
        return begun.total() == before and not pending

    listeners: list[tuple[Any, Any]] = [("request", begin), ("requestfinished", end), ("requestfailed", end)]
    for event, listener in listeners:
        page.on(event, listener)
    yield
    eventually(is_quiet, "a page that has all it asks for")
    for event, listener in listeners:
        page.remove_listener(event, listener)


def too_wide(page: Page, path: str) -> list[str]:
    """Whether the page at `path` answers, and within the width of the screen."""
    with settling(page):
        answer = page.goto(path)
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    status = answer.status if answer else None
    return [f"{path}: {status}"] * (status != 200) + [f"{path}: {wider} px too wide"] * (wider > 0)
