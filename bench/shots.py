"""A picture of every page, on phone and desk, light and dark, under var/shots/.

    ./run shots [words …]      only pages whose name holds one of the words

Runs a service of its own with a database of its own. Each page is a row of `bench.shot_pages`: a name, an address, who
looks at it, and what is done on it before the picture.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from bench.shot_pages import ANSWERS, PAGES
from bench.shot_stage import Scene, stage
from bench.shot_steps import Shot, wrong_form
from deploy.local.place import VAR
from tests.system.browser.people import enter_code
from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

SIZES = {"390": (390, 844), "1280": (1280, 900)}
THEMES = ("light", "dark")


def main() -> int:
    executable = find_chromium()
    if executable is None:
        sys.exit("No Chromium found; set CHROMIUM to its path.")
    wanted = [shot for shot in PAGES if not sys.argv[1:] or any(word in shot.name for word in sys.argv[1:])]
    folder = VAR / "shots"
    folder.mkdir(parents=True, exist_ok=True)
    with stage() as scene, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=ARGUMENTS)
        screens = [Screen(size, theme, folder) for size in SIZES for theme in THEMES]
        wrong = [line for screen in screens for line in look(browser, scene, wanted, screen)]
        browser.close()
    print(f"{len(wanted) * len(SIZES) * len(THEMES)} pictures in {folder}")
    print("\n".join(wrong) or "Every page answered as it should, and no page was wider than its screen.")
    return 1 if wrong else 0


class Screen(NamedTuple):
    """What it is looked at on, and where the pictures go."""

    size: str
    theme: str
    folder: Path


def look(browser: Browser, scene: Scene, shots: list[Shot], screen: Screen) -> list[str]:
    """Take the pictures of one screen and theme; what was wrong on the way."""
    width, height = SIZES[screen.size]
    wrong, contexts = [], dict[str, BrowserContext]()
    for shot in shots:
        if shot.who not in contexts:
            context = browser.new_context(
                base_url=scene.address, viewport={"width": width, "height": height}, locale="en-GB",
                color_scheme=screen.theme, reduced_motion="reduce", device_scale_factor=2 if width < 500 else 1,
            )  # fmt: skip
            context.set_default_timeout(15_000)
            contexts[shot.who] = context
            if shot.who in scene.sample:
                sign_in(context, scene.sample[shot.who])
        found = take(contexts[shot.who], scene, shot, screen)
        wrong += [f"{shot.name} {screen.size} {screen.theme}: {line}" for line in found]
    for context in contexts.values():
        context.close()
    return wrong


def sign_in(context: BrowserContext, person: dict[str, str]) -> None:
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(person["email"])
    page.locator("input[name=password]").fill(person["password"])
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)
    if "totp_secret" in person:
        enter_code(page, person["totp_secret"])
    page.close()


def take(context: BrowserContext, scene: Scene, shot: Shot, screen: Screen) -> list[str]:
    """One picture, of the whole page; what was wrong with it."""
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        answer = page.goto(shot.path.format(**scene.names))
        page.wait_for_load_state("networkidle")
        if shot.prepare is not None:
            shot.prepare(page, scene)
            page.wait_for_load_state("networkidle")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        page.screenshot(path=screen.folder / f"{shot.name}-{screen.size}-{screen.theme}.png", full_page=shot.whole)
        status = answer.status if answer else 0
        if status != ANSWERS.get(shot.name, 200):
            complaints.append(f"answered {status}")
        elif status != 200 or shot.prepare is wrong_form:
            complaints = [line for line in complaints if "the server responded with a status of 4" not in line]
        if wide > 0:
            complaints.append(f"{wide} pixels wider than the screen")
    except Exception as error:  # the other pictures are wanted all the same
        complaints.append(f"no picture: {error}")
    page.close()
    return complaints


if __name__ == "__main__":
    sys.exit(main())
