"""A picture of every page, on phone and desk, light and dark, under var/shots/.

    ./run shots [words …]      only pages whose name holds one of the words

Runs a service of its own with a database of its own. Each page is a row of `PAGES`: a name, an address, who looks at
it, and what is done on it before the picture. The names in the addresses are those of `Scene.names`.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from bench.shot_steps import (
    Shot,
    ask_code,
    ask_staff,
    call_operation,
    confirm_code,
    enter_first,
    finish_analysis,
    follow,
    give_address,
    look_up,
    make_token,
    open_again,
    show_profile,
    sign_up,
    start_analysis,
    unfold,
    unlock,
    unlocked_import,
    verify,
    write_profile,
    wrong_form,
)
from bench.staging import Scene, stage
from deploy.local.place import VAR
from tests.system.browser.people import enter_code
from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

SIZES = {"390": (390, 844), "1280": (1280, 900)}
THEMES = ("light", "dark")
_APP, _LIVE, _EMPTY = (f"/developers/apps/{{{name}}}/" for name in ("test_app", "app", "empty_app"))
FIRST_ROW = follow("#result_list tbody th a")
PORTAL = [
    Shot("account-delete", "/account/delete/", "owner"),
    Shot("name-and-photo", "/account/name/", "owner"),
    Shot("public-profile-empty", "/account/public-profile/", "newcomer"),
    Shot("public-profile-preview", "/account/public-profile/", "owner", write_profile),
    Shot("public-profile-on", "/account/public-profile/", "owner", show_profile),
    Shot("public-profile-page", "/people/zoe-q/", "nobody"),
    Shot("portal-home", "/developers/", "developer"),
    Shot("portal-home-empty", "/developers/"),
    Shot("portal-app", _APP, "developer"),
    Shot("portal-app-live", _LIVE, "developer"),
    Shot("portal-app-empty", _EMPTY, "newcomer"),
    Shot("portal-tokens", f"{_APP}tokens/", "developer"),
    Shot("portal-tokens-empty", f"{_EMPTY}tokens/", "newcomer"),
    Shot("portal-token-made", f"{_EMPTY}tokens/", "newcomer", make_token),
    Shot("portal-token-rotate", f"{_APP}tokens/{{prefix}}/rotate/", "developer"),
    Shot("portal-token-revoke", f"{_APP}tokens/{{prefix}}/revoke/", "developer"),
    Shot("portal-management", "/developers/management-tokens/", "developer"),
    Shot("portal-management-empty", "/developers/management-tokens/", "newcomer"),
    Shot("portal-management-revoke", "/developers/management-tokens/{management_prefix}/revoke/", "developer"),
    Shot("portal-sandbox", f"{_APP}sandbox/", "developer"),
    Shot("portal-sandbox-empty", f"{_EMPTY}sandbox/", "newcomer"),
    Shot("portal-sandbox-person", f"{_APP}sandbox/{{test_person}}/", "developer"),
    Shot("portal-try", f"{_APP}try/?operation=requestConsent", "developer"),
    Shot("portal-try-answered", f"{_APP}try/?operation=getUserScopes", "developer", call_operation),
    Shot("portal-try-refused", f"{_APP}try/?operation=getReceipt", "developer"),
    Shot("portal-try-live", f"{_LIVE}try/", "developer"),
    Shot("portal-webhooks", f"{_APP}webhooks/", "developer"),
    Shot("portal-destinations", f"{_APP}destinations/", "developer"),
    Shot("portal-webhooks-empty", f"{_EMPTY}webhooks/", "newcomer"),
    Shot("portal-webhook", f"{_APP}webhooks/{{endpoint}}/", "developer"),
    Shot("portal-webhook-delete", f"{_APP}webhooks/{{endpoint}}/delete/", "developer"),
    Shot("portal-log", f"{_APP}log/", "developer"),
    Shot("portal-log-empty", f"{_EMPTY}log/", "newcomer"),
    Shot("portal-keys", f"{_APP}keys/", "developer"),
    Shot("portal-keys-empty", f"{_EMPTY}keys/", "newcomer"),
    Shot("portal-limits", f"{_APP}limits/", "developer"),
    Shot("portal-members", f"{_APP}members/", "developer"),
    Shot("portal-domain", f"{_LIVE}domain/", "developer"),
    Shot("portal-settings", f"{_APP}settings/", "developer"),
    Shot("portal-settings-live", f"{_LIVE}settings/", "developer"),
    Shot("portal-close", f"{_APP}settings/close/", "developer"),
    Shot("portal-audit", f"{_APP}audit/", "developer"),
    Shot("portal-application-sent-back", "/developers/applications/{sent_back}/", "developer"),
    Shot("portal-application-waiting", "/developers/applications/{waiting}/", "developer"),
    Shot("portal-invitation", "/developers/invitations/{invitation}/", "nobody"),
    Shot("portal-invitation-own", "/developers/invitations/{invitation}/", "newcomer"),
    Shot("portal-invitation-ended", "/developers/invitations/inv_nobody/", "nobody"),
]

PAGES = [
    Shot("home", "/", "nobody"),
    Shot("sign-in", "/accounts/login/", "nobody"),
    Shot("sign-up", "/accounts/signup/", "nobody"),
    Shot("vault-reset", "/account/security/reset/", "owner"),
    Shot("sign-up-passkey", "/accounts/signup/passkey/", "nobody"),
    Shot("create-passkey", "/accounts/signup/passkey/", "nobody", give_address),
    Shot("password-reset", "/accounts/password/reset/", "nobody"),
    Shot("docs", "/docs/", "nobody"),
    Shot("docs-quick-start", "/docs/quick-start/", "nobody"),
    Shot("docs-integrating", "/docs/integrating/", "nobody"),
    Shot("docs-lifecycle", "/docs/lifecycle/", "nobody"),
    *(Shot(f"docs-{name}", f"/docs/{name}/", "nobody") for name in ("mcp", "agents", "messaging", "financial")),
    Shot("docs-api", "/api/docs/", "nobody", whole=False),  # on a phone longer than a picture may be
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
    Shot("changes", "/vault/changes/"),
    Shot("transfer", "/vault/transfer/"),
    Shot("archive", "/vault/archive/"),
    Shot("profile-progress", "/profile/", prepare=start_analysis),
    Shot("profile-wrong", "/profile/", prepare=wrong_form),
    Shot("profile-result", "/profile/", prepare=finish_analysis),
    Shot("profile", "/profile/"),
    *(Shot(f"profile-{kind}", f"/profile/{kind}/") for kind in ("create", "update", "look-up")),
    Shot("profile-looked-up", "/profile/look-up/", prepare=look_up),
    Shot("profile-affinity", "/profile/{analysis}/brand-affinity/"),
    Shot("messages", "/profile/messages/"),
    Shot("profile-raw", "/profile/{analysis}/raw/"),
    Shot("profile-delete", "/profile/{analysis}/delete/"),
    Shot("profile-send", "/profile/analyses/{analysis}/send/"),
    Shot("profile-keep", "/profile/{analysis}/", prepare=unlocked_import),
    Shot("agree", "/profile/consent/?purposes=profile,enrichment,messaging"),
    Shot("agreements", "/profile/consent/"),
    Shot("agreement-unfit", "/profile/consent/?purposes=everything"),
    Shot("numbers", "/profile/numbers/"),
    Shot("numbers-code", "/accounts/signup/", "guest-4", ask_code),
    Shot("institutions", "/profile/financial/"),
    Shot("security", "/account/security/"),
    Shot("change-key", "/account/security/key/"),
    Shot("email", "/accounts/email/"),
    Shot("password", "/accounts/password/change/"),
    Shot("two-step", "/accounts/2fa/"),
    Shot("sessions", "/accounts/sessions/"),
    Shot("sign-out", "/accounts/logout/"),
    Shot("portal-apply", "/developers/applications/new/"),
    *PORTAL,
    Shot("admin", "/admin/", "staff"),
    Shot("admin-applications", "/admin/developers/developerapplication/", "staff"),
    Shot("admin-application", "/admin/developers/developerapplication/", "staff", FIRST_ROW),
    Shot("admin-scopes", "/admin/pkm/scopeentry/", "staff"),
    Shot("admin-withdraw", "/admin/pkm/scopeentry/?q=attr.technology.use", "staff", ask_staff("withdraw")),
    Shot("admin-apps", "/admin/developers/app/", "staff"),
    Shot("admin-suspend", "/admin/developers/app/", "staff", ask_staff("suspend", "Nordbank Security")),
    Shot("admin-reports", "/admin/consent/appreport/", "staff"),
    Shot("admin-report", "/admin/consent/appreport/", "staff", FIRST_ROW),
    Shot("admin-report-move", "/admin/consent/appreport/", "staff", ask_staff("take_in_hand")),
    Shot("admin-tokens", "/admin/developers/developertoken/", "staff"),
    Shot("admin-requests", "/admin/consent/consentrequest/", "staff"),
    Shot("admin-grants", "/admin/consent/grant/", "staff"),
    Shot("admin-scope", "/admin/pkm/scopeentry/", "staff", FIRST_ROW),
    Shot("admin-app", "/admin/developers/app/", "staff", FIRST_ROW),
    Shot("admin-agents", "/admin/agents_proxy/call/health/", "staff"),
]

ANSWERS = {"not-found": 404, "agreement-unfit": 400, "portal-invitation-ended": 404}  # every other page: 200


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
