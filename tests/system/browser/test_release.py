"""What a browser itself does about code that is not the release's: hashes of scripts, styles and imported modules."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.altering import Exchange, altered

pytestmark = pytest.mark.browser

RUNS = "document.documentElement.dataset.altered"
MARK = b'\n;document.documentElement.dataset.altered = "yes";'


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def appended(pattern: str) -> Any:
    """Code that shows that it ran, at the end of each file whose path fits."""

    def alter(answer: Exchange) -> None:
        if re.search(pattern, answer.path):
            answer.body += MARK

    return alter


def test_an_altered_script_does_not_run(site: str, page: Page) -> None:
    for pattern in (r"/js/shell\.", r"/js/session\.", r"/js/i18n\."):
        with altered(site, appended(pattern)) as proxy:
            messages: list[str] = []
            page.on("console", lambda message, messages=messages: messages.append(message.text))
            page.goto(f"{proxy}/accounts/login/", wait_until="networkidle")
            assert page.evaluate(RUNS) is None, pattern
            assert any("integrity" in text for text in messages), (pattern, messages)


def test_the_same_code_runs_where_nothing_holds_it(site: str, page: Page) -> None:
    """So that the test before this one could fail: without hashes, map and policy the altered module runs."""

    def bare(answer: Exchange) -> None:
        appended(r"/js/i18n\.")(answer)
        if answer.headers.get("content-type", "").startswith("text/html"):
            answer.headers.pop("content-security-policy")
            answer.body = re.sub(rb'<script type="importmap">.*?</script>| integrity="[^"]+"', b"", answer.body)

    with altered(site, bare) as proxy:
        page.goto(f"{proxy}/accounts/login/", wait_until="networkidle")
        assert page.evaluate(RUNS) == "yes"
