"""What is done on a page before its picture is taken."""

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from playwright.sync_api import Page

from bench.shot_stage import Scene
from deploy.sample_data.sample_person import SAMPLE

Prepare = Callable[[Page, Scene], None]
_number = count(1000).__next__  # for what has to be another each time, and the same in every run


class Shot(NamedTuple):
    """One page, or its first screen.

    `who` is "nobody", "owner", "developer", "staff", "newcomer", or a guest who signs up.
    """

    name: str
    path: str
    who: str = "owner"
    prepare: Prepare | None = None
    whole: bool = True
    status: int = 200


def unlock(page: Page, scene: Scene) -> None:
    """Open the vault on this page, unless it is open already."""
    if page.locator("#vault-chip").get_attribute("data-state") == "unlocked":
        return
    page.wait_for_selector("#unlock-panel button[type=submit]:enabled", state="attached")
    if not page.locator("#unlock-passphrase").is_visible():
        page.locator("#show-values").click()
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
    open_again(page, scene)
    page.locator("#cautions > summary").click()


def verify(page: Page, scene: Scene) -> None:
    page.locator("form[action='/consent/history/verify/'] button").click()
    page.locator("#verify-result > *").first.wait_for()


def start_analysis(page: Page, scene: Scene) -> None:
    for name, value in SAMPLE.items():
        if name != "email":  # it is the only one that there is to choose
            page.locator(f"#id_{name}").fill(value)
    for box in page.locator("input[name^=purpose-]").all():
        box.check()
    page.locator("form[data-once] button[type=submit]").last.click()
    page.wait_for_url("**/profile/ana_*/")


def reach_question(page: Page, scene: Scene) -> None:
    start_analysis(page, scene)
    page.wait_for_selector(".agent-question")


def finish_analysis(page: Page, scene: Scene) -> None:
    reach_question(page, scene)
    page.locator(".agent-question textarea").fill("loud bars")
    page.locator(".agent-question button").click()
    page.wait_for_selector("#about-title")


def see_readings(page: Page, scene: Scene) -> None:
    """How the answers were read, and the form of a correction."""
    finish_analysis(page, scene)
    page.locator(".about-analysis summary").click()
    if page.locator(".correcting").is_visible():
        page.locator(".correcting").click()
    page.locator("form:has(input[value=sports_interest])").locator("xpath=..").locator("summary").click()


def look_up(page: Page, scene: Scene) -> None:
    """What the profile agent keeps under one's own address; the agreement is asked for once."""
    page.locator("#id_about").select_option(SAMPLE["email"])
    agreed = page.locator("#id_agreed")
    if agreed.count():
        agreed.check()
    page.locator("form[data-once] button[type=submit]").last.click()
    page.wait_for_selector("#answer-title, #question-title")
    if page.locator("#question-title").count():
        page.locator("#answer").fill("loud bars")
        page.locator(".agent-question button").click()
        page.wait_for_selector("#answer-title")


def wrong_form(page: Page, scene: Scene) -> None:
    page.locator("#id_fullName").fill("")
    page.locator("form[data-once] button[type=submit]").last.click()
    page.wait_for_selector("[id$=_error]")


def ask_code(page: Page, scene: Scene) -> None:
    """As somebody new, with another number: codes are counted for each."""
    sign_up(page, scene)
    page.goto("/profile/numbers/")
    page.locator("#id_to").fill(f"+49 151 2345{_number()}")
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_selector("#id_code")


def sign_up(page: Page, scene: Scene) -> None:
    """Somebody new each time, as far as the recovery code."""
    passphrase, number = scene.sample["owner"]["passphrase"], _number()
    password = f"a-password-of-guest-{number}"  # two of one kind are refused
    page.locator("input[name=email]").fill(f"guest{number}@example.org")
    page.locator("input[name=password1]").fill(password)
    page.locator("input[name=password1]").press("Enter")
    page.wait_for_url("**/vault/setup/")
    page.locator("#new-passphrase").fill(passphrase)
    page.locator("#passphrase-form button[type=submit]").click()
    page.wait_for_selector("#recovery-code code")


def give_address(page: Page, scene: Scene) -> None:
    """To the second page of a sign-up by passkey."""
    page.locator("input[name=email]").fill("ann.shots@example.org")
    page.locator("input[name=email]").press("Enter")
    page.wait_for_url("**/accounts/signup/passkey/create/")


def confirm_code(page: Page, scene: Scene) -> None:
    sign_up(page, scene)
    groups = page.locator("#recovery-code code").all_inner_texts()
    number = next(sign for sign in page.locator("#confirm-label").inner_text() if sign.isdigit())
    page.locator("#confirm-group").fill(groups[int(number) - 1])
    page.locator("#confirm-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/first/")


def enter_first(page: Page, scene: Scene) -> None:
    confirm_code(page, scene)
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    page.locator("#first-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/preview/")


def call_operation(page: Page, scene: Scene) -> None:
    page.locator("#call button[type=submit]").click()
    page.wait_for_selector("#answer-status")


def make_token(page: Page, scene: Scene) -> None:
    """The one page that shows a token; each look makes another, revoked before the next."""
    page.locator("#id_label").fill(f"shots {_number()}")
    page.locator("main form button[type=submit]").last.click()
    page.wait_for_selector("#new-token")


def ask_staff(action: str, row: str = "") -> Prepare:
    """What the admin asks before it does this to the first row, or to the one that says `row`."""

    def prepare(page: Page, scene: Scene) -> None:
        page.locator("#result_list tbody tr").filter(has_text=row).locator("input.action-select").first.check()
        page.locator("select[name=action]").select_option(action)
        page.locator("#changelist-form button[name=index]").click()
        page.wait_for_load_state("networkidle")

    return prepare
