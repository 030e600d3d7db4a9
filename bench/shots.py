"""A picture of every page, on phone and desk, light and dark, under var/shots/.

    ./run shots [words …]      only pages whose name holds one of the words

Runs a service of its own with a database of its own. Each page is a row of `PAGES`: a name, an address, who looks at
it, and what is done on it before the picture. The names in the addresses are those of `Scene.names`.
"""

import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.staging import Scene, stage
from deploy.local.place import VAR
from tests.browser.people import enter_code
from tests.browser.sealing.chromium import ARGUMENTS, find_chromium

SIZES = {"390": (390, 844), "1280": (1280, 900)}
THEMES = ("light", "dark")
Prepare = Callable[[Page, "Scene"], None]


class Shot(NamedTuple):
    """One page, or its first screen; `who` is "nobody", "owner", "staff", "newcomer", or a guest who signs up."""

    name: str
    path: str
    who: str = "owner"
    prepare: Prepare | None = None
    whole: bool = True


def unlock(page: Page, scene: Scene) -> None:
    """Open the vault on this page, unless it is open already."""
    if page.locator("#vault-chip").get_attribute("data-state") == "unlocked":
        return
    page.wait_for_selector("#unlock-panel button[type=submit]:enabled", state="attached")
    if not page.locator("#unlock-passphrase").is_visible():
        page.locator("#unlock-panel > summary").click()
    page.locator("#unlock-passphrase").fill(scene.sample["owner"]["passphrase"])
    page.locator("#unlock-passphrase").press("Enter")
    page.wait_for_selector("#vault-chip[data-state=unlocked]")
    page.wait_for_timeout(400)


def open_again(page: Page, scene: Scene) -> None:
    """As somebody meets the page who unlocked before."""
    unlock(page, scene)
    page.goto(page.url)
    page.wait_for_selector("[data-value]:not(.is-locked)")


def unfold(page: Page, scene: Scene) -> None:
    """Everything that there is to look at."""
    open_again(page, scene)
    page.locator("#cautions > summary").click()


def verify(page: Page, scene: Scene) -> None:
    """Have the history checked."""
    page.locator("form[action='/consent/history/verify/'] button").click()
    page.wait_for_load_state("networkidle")


def follow(selector: str) -> Prepare:
    """Go where the first such link leads."""

    def prepare(page: Page, scene: Scene) -> None:
        page.locator(selector).first.click()
        page.wait_for_load_state("networkidle")

    return prepare


def unlocked_import(page: Page, scene: Scene) -> None:
    """What of an analysis would be kept."""
    follow("a[href*='/vault/import/']")(page, scene)
    unlock(page, scene)


def start_analysis(page: Page, scene: Scene) -> None:
    """Fill in the form and see the first agents being asked."""
    for name, value in (("fullName", "Zoe Lindqvist"), ("countryCode", "+49"), ("phoneNumber", "15123456789")):
        page.locator(f"#id_{name}").fill(value)
    page.locator("#id_agreed").check()
    page.locator("form[data-once] button[type=submit]").last.click()
    page.wait_for_url("**/profile/ana_*/")


def finish_analysis(page: Page, scene: Scene) -> None:
    start_analysis(page, scene)
    page.wait_for_selector("#about-title")


def wrong_form(page: Page, scene: Scene) -> None:
    """Sent with nothing filled in."""
    page.locator("#id_fullName").fill("")
    page.locator("form[data-once] button[type=submit]").last.click()
    page.wait_for_selector("[id$=_error]")


def ask_code(page: Page, scene: Scene) -> None:
    """As somebody new, with another number: codes are counted for each."""
    sign_up(page, scene)
    page.goto("/profile/numbers/")
    page.locator("#id_to").fill(f"+49 151 2345{secrets.randbelow(10_000):04}")
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_selector("#id_code")


def sign_up(page: Page, scene: Scene) -> None:
    """Somebody new each time, as far as the recovery code."""
    password = scene.sample["owner"]["passphrase"]
    page.locator("input[name=email]").fill(f"{secrets.token_hex(4)}@example.org")
    page.locator("input[name=password1]").fill(password)
    page.locator("input[name=password1]").press("Enter")
    page.wait_for_url("**/vault/setup/")
    page.locator("#new-passphrase").fill(password)
    page.locator("#again-passphrase").fill(password)
    page.locator("#passphrase-form button[type=submit]").click()
    page.wait_for_selector("#recovery-code code")


def confirm_code(page: Page, scene: Scene) -> None:
    sign_up(page, scene)
    groups = page.locator("#recovery-code code").all_inner_texts()
    asked = next(sign for sign in page.locator("#confirm-label").inner_text() if sign.isdigit())
    page.locator("#confirm-group").fill(groups[int(asked) - 1])
    page.locator("#confirm-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/first/")


def enter_first(page: Page, scene: Scene) -> None:
    confirm_code(page, scene)
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    page.locator("#first-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/preview/")


PAGES = [
    Shot("home", "/", "nobody"),
    Shot("sign-in", "/accounts/login/", "nobody"),
    Shot("sign-up", "/accounts/signup/", "nobody"),
    Shot("password-reset", "/accounts/password/reset/", "nobody"),
    Shot("docs", "/docs/", "nobody"),
    Shot("docs-quick-start", "/docs/quick-start/", "nobody"),
    Shot("docs-integrating", "/docs/integrating/", "nobody"),
    Shot("docs-api", "/api/docs/", "nobody"),
    Shot("docs-errors", "/docs/errors", "nobody"),
    Shot("docs-security", "/docs/security/", "nobody"),
    Shot("verify-receipt", "/consent/verify/", "nobody"),
    Shot("not-found", "/nothing-here/", "nobody"),
    Shot("setup", "/vault/setup/", "newcomer"),
    Shot("setup-recovery", "/accounts/signup/", "guest-1", sign_up),
    Shot("setup-first", "/accounts/signup/", "guest-2", confirm_code),
    Shot("setup-preview", "/accounts/signup/", "guest-3", enter_first),
    Shot("inbox-empty", "/consent/", "newcomer"),
    Shot("sharing-empty", "/consent/grants/", "newcomer"),
    Shot("history-empty", "/consent/history/", "newcomer"),
    Shot("profile-empty", "/profile/", "newcomer"),
    Shot("agreements-empty", "/profile/consent/", "newcomer"),
    Shot("home-signed-in", "/"),
    Shot("inbox", "/consent/"),
    Shot("review-locked", "/consent/requests/{pending}/"),
    Shot("sheet-verified-locked", "/consent/requests/{pending}/", whole=False),
    Shot("sheet-unverified-locked", "/consent/requests/{unverified}/", whole=False),
    Shot("vault-locked", "/vault/"),
    Shot("data-locked", "/vault/data/lifestyle/"),
    Shot("review", "/consent/requests/{pending}/", prepare=unlock),
    Shot("sheet-verified-unlocked", "/consent/requests/{pending}/", prepare=open_again, whole=False),
    Shot("sheet-unverified-unlocked", "/consent/requests/{unverified}/", prepare=open_again, whole=False),
    Shot("review-unverified", "/consent/requests/{unverified}/", prepare=unfold),
    Shot("review-narrow", "/consent/requests/{narrow}/", prepare=unlock),
    Shot("review-renewal", "/consent/requests/{renewal}/", prepare=unlock),
    Shot("review-restricted", "/consent/requests/{restricted}/", prepare=unlock),
    Shot("review-approved", "/consent/requests/{approved}/"),
    Shot("review-denied", "/consent/requests/{denied}/"),
    Shot("sharing", "/consent/grants/"),
    Shot("history", "/consent/history/"),
    Shot("history-verified", "/consent/history/", prepare=verify),
    Shot("receipt", "/consent/history/", prepare=follow("a[href^='/consent/receipts/']")),
    Shot("app", "/consent/apps/{app}/"),
    Shot("vault", "/vault/", prepare=unlock),
    Shot("data", "/vault/data/lifestyle/", prepare=unlock),
    Shot("transfer", "/vault/transfer/"),
    Shot("profile-progress", "/profile/", prepare=start_analysis),
    Shot("profile-wrong", "/profile/", prepare=wrong_form),
    Shot("profile-result", "/profile/", prepare=finish_analysis),
    Shot("profile", "/profile/"),
    Shot("profile-raw", "/profile/{analysis}/raw/"),
    Shot("profile-delete", "/profile/{analysis}/delete/"),
    Shot("profile-keep", "/profile/{analysis}/", prepare=unlocked_import),
    Shot("agree", "/profile/consent/?purposes=profile,enrichment,messaging"),
    Shot("agreements", "/profile/consent/"),
    Shot("agreement-unfit", "/profile/consent/?purposes=everything"),
    Shot("numbers", "/profile/numbers/"),
    Shot("numbers-code", "/accounts/signup/", "guest-4", ask_code),
    Shot("institutions", "/profile/financial/"),
    Shot("security", "/account/security/"),
    Shot("email", "/accounts/email/"),
    Shot("password", "/accounts/password/change/"),
    Shot("two-step", "/accounts/2fa/"),
    Shot("sessions", "/accounts/sessions/"),
    Shot("sign-out", "/accounts/logout/"),
    Shot("apply", "/developers/applications/new/"),
    Shot("admin", "/admin/", "staff"),
    Shot("admin-applications", "/admin/developers/developerapplication/", "staff"),
    Shot("admin-application", "/admin/developers/developerapplication/", "staff", follow("#result_list tbody th a")),
    Shot("admin-scopes", "/admin/pkm/scopeentry/", "staff"),
    Shot("admin-apps", "/admin/developers/app/", "staff"),
    Shot("admin-tokens", "/admin/developers/developertoken/", "staff"),
    Shot("admin-requests", "/admin/consent/consentrequest/", "staff"),
    Shot("admin-grants", "/admin/consent/grant/", "staff"),
    Shot("admin-scope", "/admin/pkm/scopeentry/", "staff", follow("#result_list tbody th a")),
    Shot("admin-app", "/admin/developers/app/", "staff", follow("#result_list tbody th a")),
]

ANSWERS = {"not-found": 404, "agreement-unfit": 400}  # every other page: 200


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
