"""Profile analysis in a real browser: the form, live steps, the merged profile, keeping it, and hostile replies."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from pkm.segments.models import Blob
from tests.agents_proxy.agent_server import ORDER, Agents, speaking, waits_for
from tests.agents_proxy.full_profile import FULL
from tests.agents_proxy.hostile import hostile_replies
from tests.agents_proxy.proxy_calls import owning
from tests.factories import PersonFactory, RunFactory, StepFactory, give_vault
from tests.system.browser.conftest import DESKTOP, IN_LONG, PHONE
from tests.system.browser.ended_runs import ended
from tests.system.browser.page_faults import Themes, axe_findings_in, faults_at
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, lock, unlock

pytestmark = pytest.mark.browser
PLANTED = "main :is(script:not([type='application/json']), img, iframe, base, meta[http-equiv], [onerror], [onfocus])"
REPLIES: dict[str, Any] = {
    "brand": {"likes": ["Muji", "tea"], "brand_affinities": ["Uniqlo"], "city": "Linz", "confidence": 0.6},
    "core": {"full_name": "Ana Sá", "age": 41, "favorite_cuisine": "Portuguese", "gym_membership": False},
    "public": {
        "city": "Bad Gastein", "occupation": "Nurse", "accuracy": 0.9, "shoe_size": 38,
        "intent_24h": {"category": "Groceries", "budget": "60 €", "timeWindow": "today", "confidence": 0.9},
        "intent_48h": [{"category": "Running shoes", "budget": "120 €", "confidence": 0.6}, {"category": "Concert"}],
        "intent_72h": {"category": "Weekend trip", "budget": "300 €", "timeWindow": "Friday", "confidence": 0.4},
    },
    "second": {"city": "Bad Gastein", "needs": ["a lamp"], "tech_affinity": "high", "sports_interest": "Running"},
}  # fmt: skip


@pytest.fixture
def agents(settings: Any) -> Iterator[Agents]:
    with speaking() as found:
        settings.AGENTS = {**settings.AGENTS, **found.settings()}
        yield found


@pytest.fixture
def worker() -> Iterator[Callable[[str], None]]:
    """Runs an analysis as the worker does, beside the test."""
    threads: list[threading.Thread] = []

    def work(run_pk: int) -> None:
        try:
            steps.run_through(run_pk)
        finally:
            connection.close()

    def begin(analysis_id: str) -> None:
        threads.append(threading.Thread(target=work, args=(Run.objects.get(analysis_id=analysis_id).pk,)))
        threads[-1].start()

    yield begin
    for thread in threads:
        thread.join(90)


def fill(page: Page) -> None:
    for name, value in (("fullName", "Ana Sá"), ("countryCode", "+351"), ("phoneNumber", "9123456789")):
        page.locator(f"#id_{name}").fill(value)


def tick(page: Page) -> None:
    for box in page.locator("input[name^=purpose-]").all():
        box.check()


def states(page: Page) -> list[str | None]:
    return [row.get_attribute("data-state") for row in page.locator("[data-agent]").all()]


def test_an_analysis_from_the_form_to_the_vault(
    page: Page, site: str, sign_in: SignIn, agents: Agents, worker: Callable[[str], None], complaints: Any
) -> None:
    vault = give_vault(PersonFactory(), {("location", "home"): {"city": "Linz"}}, passphrase=PASSPHRASE)
    sign_in(page, owning(vault.user), at="/profile/")
    fill(page)
    page.locator("#id_phoneNumber").fill("123")
    with complaints.expecting(400):
        page.get_by_role("button", name="Start the analysis").click()
        expect(page.locator("#id_phoneNumber_error")).to_contain_text("10 to 15 digits")
    expect(page.get_by_role("alert")).to_contain_text("unless you agree")
    expect(page.locator("#id_fullName")).to_have_value("Ana Sá")
    page.locator("#id_phoneNumber").fill("9123456789")
    tick(page)
    gates = {agent: threading.Event() for agent in ORDER}
    agents.replies = {agent: waits_for(gates[agent], REPLIES[agent]) for agent in ORDER}
    page.get_by_role("button", name="Start the analysis").click()

    expect(page.locator("[data-agent]")).to_have_count(4)
    assert states(page) == ["todo"] * 4
    analysis_id = page.url.rstrip("/").split("/")[-1]
    worker(analysis_id)
    bar = page.locator("#live-bar")
    for done, agent in enumerate(ORDER):
        expect(page.locator(f"[data-agent={agent}]")).to_have_attribute("data-state", "current")
        expect(bar).to_have_js_property("value", done)
        if agent == "public":  # closed and found again
            page.goto("about:blank")
            page.goto("/profile/")
            page.locator(f"a[href$='{analysis_id}/']").click()
            expect(page.locator("[data-agent=core]")).to_have_attribute("data-state", "done")
            expect(bar).to_have_js_property("value", 2)
        gates[agent].set()

    expect(page.get_by_role("heading", name="What agents say about you")).to_be_visible()
    city = page.locator("#section-location").locator("xpath=..")
    expect(city).to_contain_text("Bad Gastein")
    expect(city).to_contain_text("Second public-data agent")
    city.get_by_text("Agents differ: City").locator("xpath=..").click()
    expect(city).to_contain_text("Brand agent said")
    expect(city).to_contain_text("Linz")
    expect(page.locator(".chart-dot")).to_have_count(4)
    expect(page.locator(".chart-dot-hollow")).to_have_count(1)
    expect(page.locator("meter")).to_have_count(4)  # coverage, agreement, and the two scores
    page.get_by_role("link", name="Raw data").click()
    expect(page.locator("#raw-json")).to_contain_text('"phoneNumber": "9123456789"')
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a file").click()
    assert json.loads(download.value.path().read_text())["profile"]["city"] == "Bad Gastein"

    page.go_back()
    page.get_by_role("link", name="Keep in my data").click()
    unlock(page)
    expect(page.locator("[data-skipped]")).to_contain_text("Shoe size")
    boxes = {box.get_attribute("value"): box.is_checked() for box in page.locator("[data-plan] input").all()}
    assert {"city", "age"} < boxes.keys()
    assert set(boxes.values()) == {False}  # nobody has checked what the agents say
    page.locator("#keep-start").click()
    expect(page.locator("#keep-problem")).to_contain_text("Choose at least one thing")
    page.get_by_role("button", name="Select all").click()
    page.locator("[data-plan] input[value=age]").uncheck()
    page.locator("#keep-start").click()
    expect(page.locator("#keep-done")).to_be_visible()

    stored = {(blob.domain, blob.segment_id): blob for blob in Blob.objects.filter(user=vault.user, is_current=True)}
    assert {("location", "home"), ("brands", "affinity"), ("intents", "now")} <= set(stored)
    assert "Bad Gastein" not in json.dumps([blob.ciphertext for blob in stored.values()])
    page.goto("/vault/data/intents/")
    expect(page.locator("#f-now-intent_24h-time_window")).to_have_value("today")
    page.goto("/vault/data/location/")
    expect(page.locator("#f-home-city")).to_have_value("Bad Gastein")


@pytest.mark.parametrize(("locale", "comma"), [("en-GB", "."), ("de-DE", ",")])
def test_live_steps_count_as_the_language_does(
    new_profile: NewProfile, sign_in: SignIn, agents: Agents, worker: Callable[[str], None],
    locale: str, comma: str,
) -> None:  # fmt: skip
    user = owning(PersonFactory())
    run = RunFactory(user=user)
    for position, agent in enumerate(ORDER):
        StepFactory(run=run, position=position, agent=agent)
    shown, go_on = threading.Event(), threading.Event()
    agents.replies = {"brand": waits_for(shown, {"city": "Linz"}), "core": waits_for(go_on, {})}
    page = new_profile(locale=locale).new_page()
    sign_in(page, user, at=f"/profile/{run.analysis_id}/")
    worker(run.analysis_id)
    took = page.locator("[data-agent=brand] [data-took]")
    try:
        expect(page.locator("[data-agent=brand]")).to_have_attribute("data-state", "current")
        shown.set()
        expect(took).to_have_text(re.compile(rf"^1 (field|Feld), [0-9]+{re.escape(comma)}[0-9] s$"))
        page.reload()
        expect(took).to_have_text(re.compile(rf"[0-9]+{re.escape(comma)}[0-9] s$"))
    finally:
        shown.set()
        go_on.set()


def test_a_failed_step_is_tried_again(
    page: Page, site: str, sign_in: SignIn, agents: Agents, worker: Callable[[str], None]
) -> None:
    user = owning(PersonFactory())
    run = ended(user, {**REPLIES, "core": "I know nobody of that name."})
    sign_in(page, user, at=f"/profile/{run.analysis_id}/")
    expect(page.get_by_text("not a profile that can be read")).to_be_visible()
    agents.replies = REPLIES
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator("[data-agent=core]")).to_have_attribute("data-state", "todo")
    worker(run.analysis_id)

    expect(page.get_by_text("Ana Sá")).to_be_visible()
    assert agents.names == ["core"]


def test_only_what_fits_its_field_can_be_kept(page: Page, site: str, sign_in: SignIn) -> None:
    kept = {"travel_frequency": ["often", "rarely"]}
    vault = give_vault(PersonFactory(), {("interests", "leisure"): kept}, passphrase=PASSPHRASE)
    reply = {
        "address": {"street": "Kaiserpromenade", "number": 1}, "postal_code": 5640, "age": "around 40", "city": " ",
        "desires": ["a garden", None, " "], "needs": [{"category": "a lamp"}], "gym_membership": "yes",
        "intent_24h": {"category": "Tea", "when": "soon", "time_window": None},
        "intent_48h": [{"category": "Concert"}, {"category": "Shoes", "confidence": "0.6"}, {"category": {}}, "Bread"],
        "intent_72h": "Weekend trip", "coffee_or_tea": "Tea", **kept,
        "shopping_preferences": {"channel": "online", "categoryFocus": ["home", ""], "loyalty": 3},
    }  # fmt: skip
    run = ended(vault.user, {"brand": reply})
    sign_in(page, vault.user, at=f"/vault/import/?analysis={run.analysis_id}")
    unlock(page)
    fitting = {
        "postal_code", "desires", "gym_membership", "intent_24h", "intent_48h", "intent_72h", "coffee_or_tea",
        "shopping_preferences", "address", "age",
    }  # fmt: skip
    expect(page.locator("[data-plan] input:enabled")).to_have_count(len(fitting))
    expect(page.locator("[data-plan] input:checked")).to_have_count(0)
    page.get_by_role("button", name="Select all").click()
    boxes = {box.get_attribute("value"): box for box in page.locator("[data-plan] input").all()}
    assert boxes.keys() == fitting | {"needs"}
    assert {name for name, box in boxes.items() if box.is_enabled() and box.is_checked()} == fitting
    misfits = page.locator("[data-plan] li", has=page.locator("input:disabled"))
    assert [line.locator(".value-flags").inner_text() for line in misfits.all()] == ["does not fit this field"]
    for name, left in (("intent_24h", "When"), ("shopping_preferences", "Loyalty")):
        line = page.locator("[data-plan] li", has=page.locator(f"input[value={name}]"))
        expect(line.locator(".value-flags")).to_have_text(f"new · left out: {left}")
    page.locator("#keep-start").click()
    expect(page.locator("[data-done-text]")).to_have_text(f"{len(fitting)} things were sealed and kept.")

    for place, value in {
        "intents/#f-now-intent_48h-category": "Shoes", "intents/#f-now-intent_48h-confidence": "0.6",
        "intents/#f-now-intent_72h-category": "Weekend trip", "intents/#f-now-desires": "a garden",
        "intents/#f-now-needs": "", "location/#f-home-postal_code": "5640",
        "location/#f-home-address": "Kaiserpromenade",
        "lifestyle/#f-food-coffee_or_tea": "tea", "lifestyle/#f-fitness-gym_membership": "true",
        "brands/#f-affinity-shopping_preferences-category_focus": "home",
    }.items():  # fmt: skip
        domain, field = place.split("#")
        if f"/vault/data/{domain}" not in page.url:
            page.goto(f"/vault/data/{domain}")
        expect(page.locator(f"#{field}")).to_have_value(value)


def test_the_legend_filters_by_agent_with_the_keyboard_and_without_a_script(
    new_profile: NewProfile, sign_in: SignIn, site: str
) -> None:
    user = PersonFactory()
    run = ended(user, FULL)
    page = new_profile(java_script_enabled=False).new_page()
    sign_in(page, user, at=f"/profile/{run.analysis_id}/")
    rows = page.locator(".said-row:visible")
    everything = rows.count()
    page.locator("#from-all").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")

    expect(page.locator("#from-4")).to_be_checked()
    assert 0 < rows.count() < everything
    assert all("4" in (row.get_attribute("data-from") or "").split() for row in rows.all())
    expect(page.locator("#section-demographics")).to_be_hidden()
    expect(page.locator("#section-technology")).to_be_visible()


def test_no_raw_key_reaches_a_person(page: Page, site: str, sign_in: SignIn) -> None:
    vault = give_vault(PersonFactory(), passphrase=PASSPHRASE)
    reply = {
        **FULL["public"],
        "confidence_score": 1,
        "user_id": "u-1",
        "nested_thing": {"inner_key": {"deep_key": [1]}},
    }
    run = ended(vault.user, {**FULL, "public": reply})
    sign_in(page, vault.user, at=f"/profile/{run.analysis_id}/")
    shown = page.locator("main").inner_text()
    page.goto(f"/vault/import/?analysis={run.analysis_id}")
    unlock(page)
    expect(page.locator("[data-plan] input").first).to_be_attached()
    shown += page.locator("main").inner_text()

    assert "Nested thing" in shown
    assert re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", shown) == []
    assert "Female" in shown


@pytest.mark.long("200 replies on 50 pages; in short 32 of them, four of each kind")
def test_hostile_replies_stay_text(page: Page, site: str, sign_in: SignIn, long_form: bool) -> None:
    """The browser reports every script error and policy violation, and none may come."""
    user = give_vault(PersonFactory(), passphrase=PASSPHRASE).user
    replies = hostile_replies(200)
    # the kinds come again after two runs, and every seventh run is taken in short, so that all are among them
    every = 1 if long_form else 7
    runs = [
        ended(user, dict(zip(ORDER, replies[at : at + 4], strict=True))) for at in range(0, len(replies), 4 * every)
    ]
    sign_in(page, user, at=f"/vault/import/?analysis={runs[0].analysis_id}")
    unlock(page)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for number, run in enumerate(runs):
        here, keep = f"/profile/{run.analysis_id}/", f"/vault/import/?analysis={run.analysis_id}"
        for path in (here, *([f"{here}raw/"] if number % 4 == 0 else []), *([keep] if number % 5 == 0 else [])):
            page.goto(path)
            if path == keep:
                expect(page.locator(":is([data-plan] input, [data-skipped]:not(:empty))").first).to_be_attached()
            assert page.evaluate("window.pwned") is None, path
            assert page.locator(PLANTED).count() == 0, path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
    assert dialogs == []


@pytest.mark.long("in both themes and widths; in short on a phone, in the light one")
@pytest.mark.parametrize("viewport", [PHONE, pytest.param(DESKTOP, marks=IN_LONG)], ids=["phone", "desk"])
def test_pages_of_analyses_are_sound(
    new_profile: NewProfile, sign_in: SignIn, themes: Themes, site: str, viewport: dict[str, int]
) -> None:
    user = give_vault(PersonFactory(), passphrase=PASSPHRASE).user
    run = ended(user, {**REPLIES, "core": {"address": {"street": "x"}}, "second": "sorry"})
    going, stopped = RunFactory(user=user), RunFactory(user=user)
    for begun in (going, stopped):
        for position, agent in enumerate(ORDER):
            StepFactory(run=begun, position=position, agent=agent)
        steps.claim_step(begun.pk)
    analysis_actions.cancel_analysis(by=user, analysis_id=stopped.analysis_id)
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, user, at=f"/vault/import/?analysis={run.analysis_id}")
    unlock(page)
    expect(page.locator("[data-plan] input").first).to_be_visible()
    findings = axe_findings_in(themes, page)
    done = f"{run.analysis_id}/"
    others = (f"{going.analysis_id}/", f"{stopped.analysis_id}/")
    paths = ("", done, f"{done}raw/", f"{done}brand-affinity/", f"{done}delete/", *others)
    for path in paths:
        findings += faults_at(page, f"/profile/{path}", themes)
    assert findings == []


def test_what_is_kept_already_is_ticked_unlocked_in_place_and_nothing_else_is_sent(
    page: Page, site: str, sign_in: SignIn, agents: Agents, themes: Themes
) -> None:
    home = {"city": "Porto", "country": "Portugal"}
    data = {("location", "home"): home, ("lifestyle", "food"): {"diet_preference": "vegan"}}
    vault = give_vault(PersonFactory(), data, passphrase=PASSPHRASE)
    agents.replies = {"core": {"city": "Linz", "country": "Austria"}}
    page.set_viewport_size(PHONE)
    sign_in(page, owning(vault.user), at="/profile/")
    page.get_by_text("Use what you keep already").click()
    unlock(page)
    boxes = page.locator("#own [data-plan] input")
    expect(boxes).to_have_count(3)
    assert not [box for box in boxes.all() if box.is_checked()]
    expect(page.locator("#own .value", has_text="City")).to_contain_text("Porto")
    page.get_by_label("City").check()
    expect(page.locator("#own-count")).to_have_text("1 ticked")
    findings = axe_findings_in(themes, page)
    lock(page)
    expect(page.locator("#own")).not_to_contain_text("Porto")
    assert page.locator("#own-values").input_value() == ""
    unlock(page)
    expect(page.get_by_label("City")).to_be_checked()
    fill(page)
    tick(page)
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Start the analysis").click()
    expect(page.locator("[data-agent]")).to_have_count(4)
    run = Run.objects.get()
    steps.run_through(run.pk)
    expect(page.get_by_role("heading", name="What agents say about you")).to_be_visible()

    assert findings == []
    posted = sent.value.post_data or ""
    assert "Porto" in posted
    assert not [other for other in ("Portugal", "vegan") if other in posted]
    rows = page.locator(".said-row")
    expect(rows.filter(has_text="Porto").get_by_title("You")).to_have_count(1)
    expect(rows.filter(has_text="Country")).to_contain_text("Austria")
