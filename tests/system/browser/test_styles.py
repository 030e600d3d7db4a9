"""What is served of the style sheets says what is written in them."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from config.static_files import shortened

pytestmark = pytest.mark.browser

STYLES = {f"css/{path.name}": path.read_text() for path in Path("static/css").glob("*.css")}
RULES = """text => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText.replaceAll(/,\\s+/g, ","));  // in var()
}"""


def test_a_browser_reads_the_same_rules_in_what_is_served(chromium: Browser) -> None:
    page = chromium.new_page()
    own = {name: text.replace("@import", "/* */ @import") for name, text in STYLES.items()}  # those of this file alone

    read = {name: page.evaluate(RULES, text) for name, text in STYLES.items()}
    served = {name: page.evaluate(RULES, shortened(name, text, {})) for name, text in own.items()}
    page.close()

    assert [name for name in STYLES if served[name] != read[name]] == []
    assert sum(map(len, read.values())) > 800
