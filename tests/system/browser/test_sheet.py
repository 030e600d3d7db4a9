"""The sheet of one request: a phone's first screen, and the decision that stays in view."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from consent.requests.models import ConsentRequest
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.system.browser.conftest import DESKTOP, PHONE
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import (
    PASSPHRASE,
    NewProfile,
    SignIn,
    address,
    open_unlocked,
    unlock,
    values_shown,
    wait_for_values,
)

pytestmark = pytest.mark.browser

HOME = {"address": "Storgatan 4", "city": "Turku", "postal_code": "20100", "country": "Finland"}
FOOD = {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea", "late_snack": "Olives"}
KEPT = {("lifestyle", "food"): FOOD, ("location", "home"): HOME, ("identity", "basic"): {"full_name": "Zoe", "age": 34}}
DIET, CUISINE = "lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"
URGENT = "APPROVE NOW, or your account is closed: verify your account with the bank"

# What a screen reader says with its kind; the words of some stand in their name and are not said again.
SAID_WHOLE = ("button", "checkbox", "heading", "link")
ANNOUNCED = (*SAID_WHOLE, "region", "list", "figure", "radio", "DisclosureTriangle")
WHEN = re.compile(r"\d{1,2} [A-Z][a-z]{2}\b( \d{4})?(, \d\d:\d\d)?")
# Everything that has a box on the screen, and the edges that it has to stay between.
MEASURE = """selectors => {
  const box = (element) => { const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
    return { top, bottom, left, right, width, height }; };
  const seen = (element) => element && element.getClientRects().length ? box(element) : null;
  return Object.fromEntries(Object.entries(selectors).map(([name, selector]) =>
    [name, seen(document.querySelector(selector))]));
}"""
PARTS = {
    "logo": "main .logo", "name": "[data-shown=app_name]", "legal name": ".sheet-legal > span:first-child",
    "badge": ".sheet-legal .badge", "why": "[data-shown=purpose]", "until": "#until time",
    "reads": ".terms > div:nth-of-type(2)", "updates": ".terms > div:nth-of-type(3)",
    "what to know": "#cautions > summary", "count": "#ticked-count",
    **{f"name {at}": f"#approve-form li:nth-of-type({at}) .value-label" for at in (1, 2, 3, 4)},
    **{f"value {at}": f"#approve-form li:nth-of-type({at}) .v" for at in (1, 2, 3, 4)},
}  # fmt: skip
FRAME = {
    "how to stop": "#decision-summary",
    "header": ".site-header",
    "tabs": ".tabs",
    "bar": "#decision",
    "deny": "#deny",
    "approve": "#approve",
}


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), KEPT, passphrase=PASSPHRASE)


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(
        user=vault.user, app_name="Trip Planner", binding_message="Lisbon 4711", required_attributes=[DIET],
        optional_attributes=[CUISINE, "lifestyle.food.coffee_or_tea", "lifestyle.food.late_snack"],
        access_seconds=30 * 86400,
    )  # fmt: skip
    return made


@pytest.fixture
def doubtful(vault: Vault) -> ConsentRequest:
    """An app that nobody checked asks loudly for what is sensitive and more than it registered."""
    app = AppFactory(name="Nordbank Security", verified=False, application__legal_name="Nordbank AB")
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, app=app, scope="attr.location.*", purpose=URGENT)
    return made


@pytest.fixture
def phone(new_profile: NewProfile) -> Page:
    return new_profile(viewport=PHONE, has_touch=True, is_mobile=True).new_page()


def measure(page: Page, parts: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(MEASURE, parts)
    return found


# --- the first screen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlocked", [False, True], ids=["locked", "unlocked"])
@pytest.mark.parametrize("verified", [True, False], ids=["verified", "unverified"])
def test_first_screen_of_a_phone_holds_who_why_what_and_both_buttons(
    phone: Page,
    sign_in: SignIn,
    consent_request: ConsentRequest,
    doubtful: ConsentRequest,
    verified: bool,
    unlocked: bool,
) -> None:
    shown = consent_request if verified else doubtful
    sign_in(phone, shown.user)
    if unlocked:
        open_unlocked(phone, address(shown))
    else:
        phone.goto(address(shown))
    expect(phone.locator("#approve")).to_be_enabled()
    for theme in THEMES:
        phone.emulate_media(color_scheme=theme)
        frame = measure(phone, FRAME)
        parts = measure(phone, PARTS | ({"code": ".compare b"} if verified else {}))
        outside = {
            name: box
            for name, box in parts.items()
            if not box or box["top"] < frame["header"]["bottom"] or box["bottom"] > frame["bar"]["top"]
            or box["left"] < 0 or box["right"] > PHONE["width"]
        }  # fmt: skip
        assert outside == {}, theme
        assert phone.evaluate("scrollY") == 0
        assert (frame["bar"]["bottom"], frame["tabs"]) == (PHONE["height"], None), theme
        assert frame["bar"]["top"] < frame["how to stop"]["top"] < frame["how to stop"]["bottom"] < frame["deny"]["top"]
        for button in ("deny", "approve"):
            assert frame["bar"]["top"] < frame[button]["top"] < frame[button]["bottom"] < frame["bar"]["bottom"]
        sizes = [(frame[name]["width"], frame[name]["height"]) for name in ("deny", "approve")]
        assert sizes[0] == sizes[1], theme
    assert values_shown(phone)[DIET if verified else "location.home.address"] == (
        ("Vegetarian" if verified else "Storgatan 4") if unlocked else ""
    )


def test_what_to_look_at_is_one_line_with_its_count_and_unfolds(
    phone: Page, sign_in: SignIn, doubtful: ConsentRequest
) -> None:
    sign_in(phone, doubtful.user, at=address(doubtful))
    line = phone.locator("#cautions > summary")
    expect(line).to_contain_text("6 things to know")
    expect(line).to_contain_text(
        "pressure, and a bank's name · confidential data · nobody checked who this is · nobody vouches for its key · "
        "wants more than it told us · first time it asks"
    )
    expect(phone.get_by_text("Nobody has checked who is behind")).to_be_hidden()

    line.tap()

    expect(phone.get_by_text("Nobody has checked who is behind")).to_be_visible()
    expect(phone.get_by_text("nothing is ticked that it does not require")).to_be_visible()
    expect(phone.locator("#cautions li")).to_have_count(6)


def test_unlocking_moves_nothing(phone: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(phone, consent_request.user, at=address(consent_request))
    expect(phone.locator("#approve")).to_be_enabled()
    places = {name: where for name, where in (PARTS | FRAME).items() if not name.startswith(("value", "count"))}
    before = measure(phone, places)
    phone.locator("#approve").evaluate("button => button.click()")  # a tap of the tool's would scroll by itself
    expect(phone.locator("#unlock-passphrase")).to_be_focused()

    unlock(phone)

    expect(phone.locator("#data-title")).to_be_focused()
    assert phone.evaluate("scrollY") == 0
    wait_for_values(phone)
    assert measure(phone, places) == before
    expect(phone.locator("#decision-summary")).to_contain_text("Stop any time in Apps.")


def test_the_apps_words_stand_apart_from_what_was_checked(phone: Page, sign_in: SignIn, vault: Vault) -> None:
    pending = ConsentRequestFactory(user=vault.user, purpose=URGENT)
    sign_in(phone, pending.user, at=address(pending))

    words = phone.locator("figure", has=phone.locator("[data-shown=purpose]"))
    expect(words).to_contain_text("Their words. We check names, not promises.")
    expect(words.locator(".badge")).to_have_count(0)
    expect(phone.locator(".who")).to_contain_text("Checked")


# --- the bar ----------------------------------------------------------------------------------------------------------


def test_deny_is_one_tap_from_the_first_screen(phone: Page, sign_in: SignIn, doubtful: ConsentRequest) -> None:
    sign_in(phone, doubtful.user, at=address(doubtful))
    box = measure(phone, FRAME)["deny"]
    assert set(values_shown(phone).values()) == {"", "not entered"}  # and nothing that is kept

    phone.touchscreen.tap(box["left"] + box["width"] / 2, box["top"] + box["height"] / 2)

    expect(phone.locator(".outcome h1")).to_have_text("You denied this")
    doubtful.refresh_from_db()
    assert (doubtful.status, doubtful.decided_by) == ("denied", "person")
    expect(phone.get_by_role("link", name="Download the receipt")).to_be_visible()
    phone.get_by_role("link", name="Back to the inbox").click()
    expect(phone.locator(".empty h2")).to_have_text("Nothing waits for you")


@pytest.mark.parametrize(
    "size", [(390, 844), (320, 568), (844, 390), (640, 450), (900, 700), (1280, 900)], ids=lambda size: f"{size[0]}"
)
def test_decision_stays_in_view_and_covers_nothing(
    new_profile: NewProfile, sign_in: SignIn, vault: Vault, size: tuple[int, int]
) -> None:
    """At every place of the page; the sheet is as long as names, words and values can make it."""
    width, height = size
    app = AppFactory(name="N" * 40 + " " + "x" * 39, verified=False)
    pending = ConsentRequestFactory(
        user=vault.user, app=app, scope="attr.lifestyle.*", purpose="Why and wherefore " * 15
    )
    page = new_profile(viewport={"width": width, "height": height}).new_page()
    sign_in(page, pending.user, at=address(pending))
    expect(page.locator("#approve")).to_be_enabled()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for part in (0, 0.3, 0.7, 1):
        page.evaluate(
            "part => scrollTo({ top: part * document.documentElement.scrollHeight, behavior: 'instant' })", part
        )
        frame = measure(page, FRAME)
        for button in ("deny", "approve"):
            assert frame[button]["top"] >= 0, part
            assert frame[button]["bottom"] <= height, part
        assert frame["tabs"] is None or frame["tabs"]["bottom"] <= height / 2, "no tabs below a decision"
        assert frame["deny"]["width"] == frame["approve"]["width"]
        assert frame["deny"]["height"] == frame["approve"]["height"]
    last = measure(page, {"body": ".sheet-body", "bar": "#decision"})
    beside = last["bar"]["left"] >= last["body"]["right"]
    assert beside or last["body"]["bottom"] <= last["bar"]["top"], "the end of the sheet lies behind the bar"
    assert beside == (width >= 1000)


def test_bar_keeps_the_safe_area_free(phone: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(phone, consent_request.user, at=address(consent_request))
    phone.context.new_cdp_session(phone).send("Emulation.setSafeAreaInsetsOverride", {"insets": {"bottom": 34}})
    expect(phone.locator("#approve")).to_be_enabled()
    assert measure(phone, FRAME)["approve"]["bottom"] <= PHONE["height"] - 34


MOVING = """() => [...document.querySelectorAll("*")].map((each) => getComputedStyle(each)).filter((style) =>
  [style.transitionDuration, style.animationName !== "none" && style.animationDuration].some((all) =>
    all && all.split(", ").some((one) => parseFloat(one) > 0.001))).length"""


def test_nothing_moves_for_whoever_wants_less_motion(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(page, consent_request.user, at=address(consent_request))
    assert page.evaluate(MOVING) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) > 0  # there is something to find


def test_what_has_the_focus_is_not_behind_the_bar(
    phone: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(phone, consent_request.user, at=address(consent_request))
    expect(phone.locator("#approve")).to_be_enabled()
    for _ in range(40):
        phone.keyboard.press("Tab")
        behind = phone.evaluate("""() => {
          const here = document.activeElement, bar = document.querySelector("#decision");
          if (!here.closest(".sheet-body") || here.matches(".visually-hidden")) return "";
          const [mine, its] = [here.getBoundingClientRect(), bar.getBoundingClientRect()];
          return mine.bottom > its.top && mine.top < its.bottom ? here.outerHTML : "";
        }""")
        assert behind == ""


def test_deny_is_few_steps_of_the_tab_key_away(page: Page, sign_in: SignIn, doubtful: ConsentRequest) -> None:
    def steps() -> int:
        for step in range(1, 40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "deny":
                return step
        raise AssertionError("Deny cannot be reached")

    sign_in(page, doubtful.user, at=address(doubtful))
    expect(page.locator("#approve")).to_be_enabled()
    assert steps() <= 4
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "approve"

    page.goto(address(doubtful))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # over the header, to the content
    assert steps() <= 3
    page.keyboard.press("Enter")
    expect(page.locator(".outcome h1")).to_have_text("You denied this")


def test_last_link_leads_back_to_the_decision(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(page, consent_request.user, at=address(consent_request))
    page.get_by_role("link", name="Back to your decision").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "deny"


def test_messages_that_come_and_go_do_not_cover_the_buttons(
    phone: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(phone, consent_request.user, at=address(consent_request))
    expect(phone.locator("#approve")).to_be_enabled()
    phone.evaluate("dispatchEvent(new CustomEvent('toast', { detail: { text: 'Something was said', tone: 'info' } }))")
    expect(phone.locator(".toast")).to_be_visible()
    boxes = measure(phone, {"toast": ".toast", "bar": "#decision"})
    assert boxes["toast"]["bottom"] <= boxes["bar"]["top"]


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desk"])
def test_sheet_with_everything_unfolded_is_sound(
    new_profile: NewProfile, sign_in: SignIn, doubtful: ConsentRequest, viewport: dict[str, int]
) -> None:
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, doubtful.user, at=address(doubtful))
    expect(page.locator("#approve")).to_be_enabled()
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert axe_findings_in(THEMES, page) == []


def test_approving_a_locked_request_unlocks_in_place_and_shows_the_values_first(
    phone: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(phone, consent_request.user, at=address(consent_request))
    expect(phone.locator("#approve")).to_be_enabled()
    phone.locator("#approve").tap()
    expect(phone.locator("#unlock-passphrase")).to_be_focused()
    phone.locator("#unlock-passphrase").fill(PASSPHRASE)
    phone.locator("#unlock-passphrase").press("Enter")

    expect(phone.locator("#data-title")).to_be_focused()
    expect(phone.locator("#unlock-panel")).to_be_hidden()
    frame = measure(phone, FRAME | PARTS)
    for at in (1, 2, 3, 4):
        assert frame[f"value {at}"]["bottom"] <= frame["bar"]["top"], at
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"

    wait_for_values(phone)
    phone.locator("#approve").tap()
    expect(phone.locator(".outcome h1")).to_have_text("You approved this")


# --- for those who hear the page --------------------------------------------------------------------------------------


def spoken(page: Page) -> list[str]:
    """What a screen reader says of the sheet, in its order, from Chromium's own tree: `role: name`, or plain text."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []

    def walk(node: dict[str, Any]) -> None:
        role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "").strip()
        if not node["ignored"] and name and role in (*ANNOUNCED, "StaticText"):
            states = [
                each["name"] for each in node.get("properties", ()) if each["value"].get("value") in (True, "true")
            ]
            heard = [name, *(state for state in ("checked", "disabled", "required") if state in states)]
            lines.append((f"{role}: " if role in ANNOUNCED else "") + ", ".join(heard))
            if role in SAID_WHOLE:
                return
        for child in node.get("childIds", ()):
            if child in by_id:
                walk(by_id[child])

    walk(next(node for node in nodes if node.get("role", {}).get("value") == "main"))
    return [WHEN.sub("WHEN", each) for each in lines]


def test_a_screen_reader_says_who_asks_what_leaves_and_how_to_stop(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(page, consent_request.user)
    open_unlocked(page, address(consent_request))
    lines = spoken(page)
    assert lines[: lines.index("region: Good to know")] == [
        "heading: Trip Planner asks what you eat", consent_request.app.application.legal_name, "Checked",
        "region: Your decision", "3 values", "to Trip Planner", "until", "WHEN", ". Stop any time in Apps.",
        "button: Deny", "button: Approve", "Unlocked", "button: Lock",
        "“", "Suggest restaurants that you would like", "”", "Their words. We check names, not promises.",
        "region: Would leave your vault", "heading: Would leave your vault", "3 of 4",
        "heading: Lifestyle", "list: Lifestyle",
        "checkbox: Diet · needed, checked, disabled", "Diet", "· needed", "Vegetarian",
        "checkbox: Favourite cuisine, checked", "Favourite cuisine", "Thai",
        "checkbox: Coffee or tea, checked", "Coffee or tea", "Tea",
        "checkbox: Late snack · your own", "Late snack", "· your own", "Olives",
        "Until", "button: WHEN Choose for how long", "Reads", "button: no limit", "Updates", "button: no",
        "DisclosureTriangle: 2 things to know: nobody vouches for its key · first time it asks",
        "2 things to know:", "nobody vouches for its key · first time it asks",
        "Trip Planner shows this too. If not, deny.", "Lisbon 4711",
    ]  # fmt: skip
