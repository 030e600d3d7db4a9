"""Pages in a browser that notice everything a person should never meet: errors, policy violations, failed requests."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response

# Written into every document before its own scripts: some violations reach no console.
_WATCH_POLICY = """
document.addEventListener("securitypolicyviolation", (event) => {
  const { violatedDirective, blockedURI, sourceFile, lineNumber } = event;
  console.error(`policy violation: ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
});
"""
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
        if message.type in ("error", "warning") and not _FAILED_LOAD.match(message.text):
            self.lines.append(f"{message.type}: {message.text}")

    def _on_failure(self, request: Request) -> None:
        # leaving a page ends what it was waiting for, which is nobody's fault
        if request.failure != "net::ERR_ABORTED":
            self.lines.append(f"request failed: {request.method} {request.url} {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.lines.append(f"answered {response.status}: {response.request.method} {response.url}")


def axe_findings(page: Page) -> list[str]:
    """What axe finds serious or critical on this page as it is now, one line each."""
    # axe would read imported style sheets by writing inline ones, which the policy rightly refuses; and it need not
    # describe every node that is in order
    found = Axe().run(page, options={"preload": False, "resultTypes": ["violations"]}).response["violations"]
    return [
        f"{finding['id']} ({finding['impact']}): {finding['help']} at "
        + json.dumps([node["target"] for node in finding["nodes"]][:3])
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]
