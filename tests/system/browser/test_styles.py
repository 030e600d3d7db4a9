"""What is served of the style sheets says what is written in them."""

from pathlib import Path
from typing import Any

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


EDGES = """async (box) => {
  const frame = () => new Promise(requestAnimationFrame), seen = [];
  for (const at of [0, 20, box.scrollWidth]) {
    box.scrollLeft = at;
    await frame(), await frame();
    const shadows = getComputedStyle(box).boxShadow.matchAll(/(-?)20px 0px 16px/g);
    seen.push([...shadows].map(([, minus]) => minus ? "end" : "start"));
  }
  return seen;
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_goes_on_to_the_side_says_so_at_that_edge(chromium: Browser, motion: Any) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 400}, reduced_motion=motion)
    items = "".join(f"<a href='#{n}'>Choice number {n}</a>" for n in range(9))
    page.set_content(f"<nav class='segmented segmented-line' id=long>{items}</nav>"
                     f"<nav class='segmented segmented-line' id=short><a href='#'>One</a></nav>")  # fmt: skip
    page.add_style_tag(content="".join(text for name, text in STYLES.items() if name != "css/admin.css"))

    shadows = page.locator("#long").evaluate(EDGES)
    none = page.locator("#short").evaluate("box => getComputedStyle(box).boxShadow")
    page.close()

    assert (shadows, none) == ([["end"], ["start", "end"], ["start"]], "none")
