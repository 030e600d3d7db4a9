"""What a person keeps, in a real browser: editing, two tabs at once, undo, files, the lock and its ways in."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from consent.exports.models import Export
from consent_bridge import sealed
from pkm.registry.models import HiddenScope
from pkm.segments.checks import flaws
from pkm.segments.models import Blob
from tests.factories import ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.patience import eventually
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, SignIn, enter, kept, lock, save, unlock
from tests.system.browser.remembered import notes_of

pytestmark = pytest.mark.browser


@pytest.fixture
def lifestyle(page: Page, sign_in: SignIn, vault: Vault) -> Page:
    """The page of one domain, unlocked."""
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    return page


def test_saved_values_come_back_and_the_server_has_only_sealed_text(lifestyle: Page, vault: Vault) -> None:
    enter(lifestyle, "food", "favorite_cuisine", "Ethiopian")
    enter(lifestyle, "fitness", "gym_membership", "true")
    save(lifestyle, "food")
    save(lifestyle, "fitness")
    lifestyle.reload()

    expect(lifestyle.locator("#f-food-favorite_cuisine")).to_have_value("Ethiopian")
    expect(lifestyle.locator("#f-fitness-gym_membership")).to_have_value("true")
    sealed_text = "".join(Blob.objects.filter(user=vault.user).values_list("ciphertext", flat=True))
    assert "Ethiopian" not in sealed_text
    assert "Ethiopian" not in json.dumps(list(Blob.objects.values()), default=str)


def test_two_tabs_both_write_and_the_later_one_chooses(
    lifestyle: Page, profile: BrowserContext, complaints: Complaints
) -> None:
    other = profile.new_page()
    other.goto("/vault/data/lifestyle/")
    expect(other.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    enter(other, "food", "favorite_cuisine", "Finnish")
    save(other, "food")

    enter(lifestyle, "food", "favorite_cuisine", "Korean")
    enter(lifestyle, "food", "diet_preference", "Vegan")
    with complaints.expecting(409):
        lifestyle.locator("#food [data-save]").click()
        dialog = lifestyle.get_by_role("dialog")
        expect(dialog).to_contain_text("Korean")
        expect(dialog).to_contain_text("Finnish")
        dialog.get_by_role("radio", name="Finnish").check()
        dialog.get_by_role("button", name="Save my choice").click()
        expect(lifestyle.locator("#food [data-state]")).to_have_text("Saved")

    expect(lifestyle.locator("#f-food-favorite_cuisine")).to_have_value("Finnish")
    expect(lifestyle.locator("#f-food-diet_preference")).to_have_value("Vegan")


def test_edits_of_different_fields_do_not_conflict(
    lifestyle: Page, profile: BrowserContext, complaints: Complaints
) -> None:
    other = profile.new_page()
    other.goto("/vault/data/lifestyle/")
    expect(other.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    enter(other, "food", "diet_preference", "Vegan")
    save(other, "food")

    enter(lifestyle, "food", "favorite_cuisine", "Korean")
    with complaints.expecting(409):
        save(lifestyle, "food")

    expect(lifestyle.locator("#f-food-favorite_cuisine")).to_have_value("Korean")
    expect(lifestyle.locator("#f-food-diet_preference")).to_have_value("Vegan")


def test_own_attribute_is_added_deleted_after_asking_and_undone(lifestyle: Page) -> None:
    lifestyle.locator("#food summary").click()
    lifestyle.locator("#own-food").fill("Favourite dessert")
    lifestyle.locator("#own-food").press("Enter")
    enter(lifestyle, "food", "favourite_dessert", "Mango")
    save(lifestyle, "food")

    lifestyle.get_by_role("button", name="Delete Favourite dessert").click()
    lifestyle.get_by_role("button", name="Keep it").click()
    expect(lifestyle.locator("#f-food-favourite_dessert")).to_have_value("Mango")
    lifestyle.get_by_role("button", name="Delete Favourite dessert").click()
    lifestyle.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(lifestyle.locator("#f-food-favourite_dessert")).to_have_count(0)
    lifestyle.get_by_role("button", name="Undo").click()

    expect(lifestyle.locator("#f-food-favourite_dessert")).to_have_value("Mango")


def test_whole_segment_is_deleted_after_asking_and_undone(lifestyle: Page, vault: Vault) -> None:
    lifestyle.locator("#food [data-clear]").click()
    lifestyle.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(lifestyle.locator("#f-food-favorite_cuisine")).to_have_value("")
    assert Blob.objects.get(user=vault.user, is_current=True).ciphertext is None

    lifestyle.get_by_role("button", name="Undo").click()

    expect(lifestyle.locator("#f-food-favorite_cuisine")).to_have_value("Thai")


def test_whoever_unlocks_goes_on_at_the_heading(lifestyle: Page) -> None:
    expect(lifestyle.locator("h1")).to_be_focused()


def test_whoever_saves_by_keyboard_stays_where_they_are(lifestyle: Page) -> None:
    dialogs: list[str] = []
    lifestyle.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.accept()))
    field, button = lifestyle.locator("#f-food-favorite_cuisine"), lifestyle.locator("#food [data-save]")
    state = lifestyle.locator("#food [data-state]")
    field.fill("Korean")
    field.press("Enter")
    expect(state).to_have_text("Saved")
    expect(field).to_be_focused()

    enter(lifestyle, "food", "favorite_cuisine", "Finnish")
    button.press("Enter")
    expect(state).to_have_text("Saved")
    expect(button).to_be_focused()

    lifestyle.locator("#food [data-undo]").press("Enter")
    expect(field).to_have_value("Korean")
    expect(lifestyle.locator("#title-food")).to_be_focused()
    lifestyle.reload()
    assert dialogs == []


def test_what_is_typed_stays_when_something_else_is_hidden(lifestyle: Page) -> None:
    enter(lifestyle, "fitness", "fitness_routine", "Climbing")
    with lifestyle.expect_navigation():
        lifestyle.locator("#food button[name=hide]").click()

    expect(lifestyle.locator("#food")).to_contain_text("Hidden: apps cannot see")
    expect(lifestyle.locator("#f-fitness-fitness_routine")).to_have_value("Climbing")
    expect(lifestyle.locator("#fitness [data-state]")).to_contain_text("What you typed is filled in again.")


def test_a_field_of_ones_own_keeps_its_sharp_s(lifestyle: Page) -> None:
    lifestyle.locator("#food summary").click()
    lifestyle.locator("#own-food").fill("Schuhgröße")
    lifestyle.locator("#own-food").press("Enter")

    expect(lifestyle.get_by_label("Schuhgrosse", exact=True)).to_be_focused()


EVERYTHING = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai", "diet_preference": None},
    ("lifestyle", "fitness"): {"gym_membership": True, "own_note": "at six"},
    ("identity", "basic"): {"full_name": "Zoe"},
}


@pytest.fixture
def full(page: Page, sign_in: SignIn, site: str) -> tuple[Page, Vault]:
    """The page of a domain of two segments, unlocked; another domain is beside it."""
    vault = give_vault(PersonFactory(), EVERYTHING, passphrase=PASSPHRASE)
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    return page, vault


def delete_domain(page: Page) -> None:
    page.get_by_role("button", name="Delete everything in “Lifestyle”").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Everything in “Lifestyle” will be deleted")
    dialog.get_by_role("button", name="Delete").click()


def test_whole_domain_is_deleted_after_asking_and_put_back_as_it_was(full: tuple[Page, Vault]) -> None:
    page, vault = full
    before = kept(vault)
    page.get_by_role("button", name="Delete everything in “Lifestyle”").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    assert kept(vault) == before

    delete_domain(page)
    expect(page.locator("#clear-domain [data-undo]")).to_be_focused()
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("")
    expect(page.locator("#f-fitness-own_note")).to_have_count(0)
    expect(page.locator("[data-clear-domain]")).to_be_hidden()
    assert kept(vault) == {"identity.basic": {"full_name": "Zoe"}}
    assert list(flaws()) == []
    segment_ids = vault.user.pkm_events.filter(kind="segment_deleted").values_list("facts__segment_id", flat=True)
    assert sorted(segment_ids) == ["fitness", "food"]

    page.locator("#clear-domain [data-undo]").click()
    expect(page.locator("#f-fitness-own_note")).to_have_value("at six")
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    eventually(lambda: kept(vault) == before, "the values as they were, null included")
    assert list(flaws()) == []


def test_what_was_changed_elsewhere_stays_when_a_domain_is_deleted(
    full: tuple[Page, Vault], profile: BrowserContext, complaints: Complaints
) -> None:
    page, vault = full
    other = profile.new_page()
    other.goto("/vault/data/lifestyle/")
    expect(other.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    enter(other, "food", "favorite_cuisine", "Finnish")
    save(other, "food")

    with complaints.expecting(409):
        delete_domain(page)
        expect(page.locator("#clear-domain [data-error]")).to_contain_text("changed somewhere else")
        expect(page.locator("#f-fitness-own_note")).to_have_count(0)

    assert kept(vault)["lifestyle.food"]["favorite_cuisine"] == "Finnish"
    assert "lifestyle.fitness" not in kept(vault)


def test_locking_takes_away_what_could_be_put_back(full: tuple[Page, Vault]) -> None:
    page, _ = full
    delete_domain(page)
    expect(page.locator("#clear-domain [data-undo]")).to_be_visible()
    lock(page)
    expect(page.locator("#clear-domain [data-undo]")).to_have_count(0)


def test_number_that_is_none_is_explained(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/vault/data/identity/")
    unlock(page)
    enter(page, "basic", "age", "about thirty")
    page.locator("#basic [data-save]").click()
    expect(page.locator("#basic [data-error]")).to_contain_text("Write a number")


def test_hidden_scope_is_hidden_and_shown_again(lifestyle: Page, vault: Vault) -> None:
    with lifestyle.expect_navigation():  # pressed before the page's script came anew, the next button would do nothing
        lifestyle.locator("#food").get_by_role("button", name="Hide from apps").click()
    expect(lifestyle.locator(".messages")).to_contain_text("Hidden")
    assert list(HiddenScope.objects.values_list("scope", flat=True)) == ["attr.lifestyle.food.*"]
    lifestyle.locator("#food").get_by_role("button", name="Show to apps").click()
    expect(lifestyle.locator(".messages")).to_contain_text("Shown")
    assert not HiddenScope.objects.exists()


def test_a_scope_that_somebody_shows_again_in_the_database_is_told(lifestyle: Page, vault: Vault) -> None:
    lifestyle.locator("#food").get_by_role("button", name="Hide from apps").click()
    expect(lifestyle.locator(".messages")).to_contain_text("Hidden")
    assert notes_of(vault)["hidden"] == ["attr.lifestyle.food.*"]

    HiddenScope.objects.all().delete()
    lifestyle.goto("/consent/history/")

    notice = lifestyle.locator("#older-state")
    expect(notice).to_contain_text("Hidden by you, and shown to apps again")
    expect(notice).to_contain_text("Lifestyle: Food")


def test_a_locked_vault_hides_and_shows_nothing_again(lifestyle: Page, vault: Vault) -> None:
    lifestyle.locator("#food").get_by_role("button", name="Hide from apps").click()
    expect(lifestyle.locator(".messages")).to_contain_text("Hidden")
    lifestyle.locator("#vault-lock").click()
    lifestyle.get_by_role("button", name="Hide the whole domain from apps").click()
    expect(lifestyle.locator(".messages")).to_contain_text("Hidden")

    lifestyle.get_by_role("button", name="Show the whole domain to apps").click()

    expect(lifestyle.locator(".messages")).to_contain_text("Unlock your data, then show this to apps again.")
    assert HiddenScope.objects.count() == 2


def test_csv_is_read_with_quotes_and_a_heading(lifestyle: Page, tmp_path: Path) -> None:
    rows = 'name,value\nlifestyle.food.favorite_cuisine,"Thai, and ""spicy"""\nintents.now.needs,a bicycle|a lamp\n'
    (tmp_path / "mine.csv").write_text(rows)
    lifestyle.goto("/vault/transfer/")
    lifestyle.locator("#import-file").set_input_files(tmp_path / "mine.csv")

    expect(lifestyle.locator("#import-plan .value-data").nth(0)).to_have_text('Thai, and "spicy"')
    expect(lifestyle.locator("#import-plan .value-data").nth(1)).to_have_text("a bicycle, a lamp")


def test_fifteen_idle_minutes_lock_every_tab(page: Page, sign_in: SignIn, vault: Vault) -> None:
    page.clock.install()
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")

    page.clock.run_for(15 * 60 * 1000 + 20_000)

    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "locked")
    expect(page.locator("#f-food-favorite_cuisine")).to_have_count(0)
    expect(page.locator("#unlock-passphrase")).to_be_visible()
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")


def test_signing_out_drops_the_key(lifestyle: Page, sign_in: SignIn, vault: Vault) -> None:
    lifestyle.locator("details.menu > summary").click()
    lifestyle.get_by_role("button", name="Sign out").click()
    lifestyle.wait_for_url(lambda url: "/vault/" not in url)
    sign_in(lifestyle, vault.user, at="/vault/data/lifestyle/")
    expect(lifestyle.locator("#unlock-passphrase")).to_be_visible()
    expect(lifestyle.locator("#vault-chip")).to_have_attribute("data-state", "locked")


def test_approval_that_is_kept_up_to_date_gets_the_newer_values(lifestyle: Page, vault: Vault) -> None:
    pending = ConsentRequestFactory(user=vault.user, refresh_policy="continuous")
    lifestyle.goto(f"/consent/requests/{pending.request_id}/")
    expect(lifestyle.locator("[data-value]").first).not_to_have_class(re.compile(r"\bis-locked\b"))
    lifestyle.get_by_role("button", name="Approve").click()
    expect(lifestyle.locator(".outcome h1")).to_have_text("You approved this")

    lifestyle.goto("/vault/data/lifestyle/")
    enter(lifestyle, "food", "favorite_cuisine", "Korean")
    save(lifestyle, "food")
    expect(lifestyle.locator("#toasts")).to_contain_text("gets the newer values")

    exports = Export.objects.filter(grant__request=pending).order_by("revision")
    assert [(export.revision, export.ciphertext is None) for export in exports] == [(1, True), (2, False)]
    header = sealed.ExportHeader(
        kid=pending.connector_key_id, iss=settings.ISSUER, sub=pending.pairwise_id, aud=pending.app.app_id,
        request_id=pending.request_id, scope=pending.scope, revision=2, request_digest=pending.request_digest,
    )  # fmt: skip
    opened = sealed.open_export(exports[1].ciphertext, pending.connector, header)
    assert opened.data["lifestyle"]["food"]["favorite_cuisine"] == "Korean"
