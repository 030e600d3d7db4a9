"""What a browser seals while the vault's key is changed on another device: approvals, refreshes, old data."""

from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from consent.exports.models import Export
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from pkm.errors import RotationIncomplete
from pkm.legacy.models import LegacyBlob, MigrationState
from pkm.notes import VaultNotes
from pkm.rotation import actions as rotation_actions
from pkm.rotation import queries as rotation_queries
from pkm.vault.models import VaultKey
from tests.factories import ConsentRequestFactory, LegacyBlobFactory, MigrationStateFactory, PersonFactory, give_vault
from tests.factories.legacy import OLD_PASSPHRASE
from tests.pkm.rotation import Change, change
from tests.refused import refused_as
from tests.system.browser.people import PASSPHRASE, SignIn, enter, save, unlock, wait_for_values

pytestmark = pytest.mark.browser
SEGMENTS = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai", "coffee_or_tea": "Tea"},
    ("lifestyle", "fitness"): {"gym_membership": True},
    ("identity", "basic"): {"full_name": "Zoë 🥭"},
}
VALUES = {".".join(place): values for place, values in SEGMENTS.items()}


@pytest.fixture
def changing(site: str) -> Change:
    """A change that another device began; two of three segments are sealed again."""
    started = change(give_vault(PersonFactory(), SEGMENTS, passphrase=PASSPHRASE))
    started.start()
    started.reseal("lifestyle", "food")
    started.reseal("lifestyle", "fitness")
    return started


def finish(changing: Change) -> None:
    """The other device goes on to the end."""
    changing.reseal_all()
    changing.reseal_notes()
    rotation_actions.finish_rotation(by=changing.vault.user)


def see_values(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(page, consent_request.user, at=f"/consent/requests/{consent_request.request_id}/")
    unlock(page)
    wait_for_values(page)


def approve(page: Page) -> None:
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def newest(consent_request: ConsentRequest) -> sealed.ExportContent:
    """What the app opens with its own key."""
    export = Export.objects.filter(grant__request=consent_request).latest("revision")
    header = sealed.ExportHeader(
        kid=consent_request.connector_key_id,
        iss=settings.ISSUER,
        sub=consent_request.pairwise_id,
        aud=consent_request.app.app_id,
        request_id=consent_request.request_id,
        scope=consent_request.scope,
        revision=export.revision,
        request_digest=consent_request.request_digest,
    )
    opened: sealed.ExportContent = sealed.open_export(export.ciphertext, consent_request.connector, header)
    return opened


def food(consent_request: ConsentRequest) -> Any:
    return newest(consent_request).data["lifestyle"]["food"]


def test_an_approval_is_sealed_to_the_app_and_the_change_goes_on(page: Page, sign_in: SignIn, changing: Change) -> None:
    pending = ConsentRequestFactory(user=changing.vault.user)
    see_values(page, sign_in, pending)

    approve(page)

    assert food(pending) == SEGMENTS["lifestyle", "food"]
    assert rotation_queries.rotation(pending.user)["done"] == 2
    finish(changing)
    assert changing.opened() == VALUES
    assert food(pending) == SEGMENTS["lifestyle", "food"]


def test_an_approval_after_the_end_waits_for_the_new_key_and_leaves_nothing_behind(
    page: Page, sign_in: SignIn, changing: Change, complaints: Any
) -> None:
    pending = ConsentRequestFactory(user=changing.vault.user)
    see_values(page, sign_in, pending)
    finish(changing)

    with complaints.expecting(400):  # of the decision: what the vault has to remember with it needs the present key
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("#vault-chip")).to_have_attribute("data-state", "locked")
        expect(page.locator("#review-problem")).to_contain_text("Your data is locked")

    pending.refresh_from_db()
    assert (pending.status, Export.objects.count(), VaultNotes.objects.count()) == ("pending", 0, 0)


def test_a_refresh_with_the_old_key_after_the_end_locks_and_leaves_the_export_as_it_is(
    page: Page, sign_in: SignIn, changing: Change
) -> None:
    pending = ConsentRequestFactory(user=changing.vault.user, refresh_policy="continuous")
    see_values(page, sign_in, pending)
    approve(page)
    finish(changing)
    elsewhere = replace(changing.vault, key=changing.key)
    elsewhere.write("lifestyle", "food", {"favorite_cuisine": "Korean", "coffee_or_tea": "Tea"}, base=1)

    page.goto("/consent/grants/")

    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "locked")
    assert food(pending) == SEGMENTS["lifestyle", "food"]
    assert Export.objects.count() == 1


def test_an_export_that_is_kept_up_to_date_gets_the_newer_values_and_the_segment_is_sealed_again(
    page: Page, sign_in: SignIn, changing: Change
) -> None:
    pending = ConsentRequestFactory(user=changing.vault.user, refresh_policy="continuous")
    see_values(page, sign_in, pending)
    approve(page)

    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "favorite_cuisine", "Korean")
    save(page, "food")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")

    assert food(pending)["favorite_cuisine"] == "Korean"
    assert rotation_queries.rotation(pending.user)["done"] == 1  # what was sealed again of food is not food any more
    with refused_as(RotationIncomplete):
        rotation_actions.finish_rotation(by=pending.user)
    finish(changing)
    assert changing.opened()["lifestyle.food"] == {"favorite_cuisine": "Korean", "coffee_or_tea": "Tea"}
    assert Export.objects.filter(grant__request=pending).latest("revision").sources[0]["content_revision"] == 2


def test_old_data_is_moved_under_the_present_key_and_carried_over(
    page: Page, sign_in: SignIn, changing: Change
) -> None:
    person = changing.vault.user
    LegacyBlobFactory(user=person, document={"favorite_cuisine": "Georgian", "food": {"favourite_dessert": "Mango"}})
    LegacyBlobFactory(user=person, domain="location", document={"city": "Tbilisi"})
    MigrationStateFactory(user=person)
    sign_in(page, person, at="/vault/")
    unlock(page)
    page.locator("#old-passphrase").fill(OLD_PASSPHRASE)
    page.locator("#old-passphrase").press("Enter")
    expect(page.locator("#old-data [data-told]")).to_contain_text("2 domains were brought in.")

    assert not LegacyBlob.objects.exists()
    assert MigrationState.objects.get(user=person).status == "completed"
    rotation = rotation_queries.rotation(person)
    assert (rotation["done"], rotation["total"]) == (1, 4)
    with refused_as(RotationIncomplete):
        rotation_actions.finish_rotation(by=person)
    finish(changing)
    assert changing.opened() == VALUES | {
        "lifestyle.food": {"favorite_cuisine": "Thai", "coffee_or_tea": "Tea", "favourite_dessert": "Mango"},
        "location.home": {"city": "Tbilisi"},
    }
    assert VaultKey.objects.get(user=person).key_id == changing.key.key_id
