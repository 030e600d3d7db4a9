"""Giving up a vault that nobody can open: it waits, it can be taken back, and then the person begins anew."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from pkm import errors
from pkm.history.models import Event, Index
from pkm.reset import actions as reset_actions
from pkm.reset.models import VaultReset
from pkm.rotation.queries import rotation
from pkm.segments.checks import flaws
from pkm.segments.models import Blob
from pkm.vault.models import KeyWrapper, VaultKey
from tests.callers import signed_in
from tests.factories import PersonFactory, give_vault
from tests.outbox import send_mails
from tests.pkm.rotation import change
from tests.pkm.sealed_segments import segment

AT = "/vault/reset"
FOOD = ("lifestyle", "food")


@pytest.fixture
def vault(person):
    return give_vault(person, {FOOD: {"favorite_cuisine": "Thai"}, ("identity", "basic"): {"full_name": "Zoe"}})


def status(person):
    return VaultKey.objects.filter(user=person).values_list("vault_status", flat=True).first()


def week_later(*, seconds=1):
    """The database's clock cannot be moved, so what waits is."""
    VaultReset.objects.update(
        asked_at=timezone.now() - timedelta(days=7, seconds=seconds), due_at=timezone.now() - timedelta(seconds=seconds)
    )


# --- the address ------------------------------------------------------------------------------------------------------


def test_it_waits_seven_days_and_says_so(vault, owner):
    answer = owner.post(AT)

    body = answer.json()
    reset = VaultReset.objects.get()
    assert (answer.status_code, body["vault_status"]) == (200, "locked_out")
    assert set(body) == {"vault_status", "takes_effect_at"}
    assert reset.due_at - reset.asked_at == timedelta(days=7)
    assert owner.get("/vault/keys").json()["vault_status"] == "locked_out"
    assert owner.post(AT).json() == body
    assert list(flaws()) == []


def test_taking_it_back_leaves_everything_as_it_was(vault, owner, person):
    flags = Index.objects.get(user=person).capability_flags
    owner.post(AT)
    assert Index.objects.get(user=person).capability_flags["can_approve"] is False

    assert owner.delete(AT).status_code == 204
    assert owner.delete(AT).status_code == 204

    assert status(person) == "active"
    assert Index.objects.get(user=person).capability_flags == flags
    assert Blob.objects.filter(user=person, ciphertext__isnull=False).count() == 2


def test_giving_up_needs_a_fresh_sign_in_and_taking_back_does_not(vault, person):
    late = signed_in(person, seconds_ago=3600)
    assert late.post(AT).json()["code"] == "reauthentication_required"
    reset_actions.request_reset(by=person)
    assert late.delete(AT).status_code == 204


def test_without_a_vault_there_is_nothing_to_give_up(owner):
    assert owner.post(AT).json()["code"] == "vault_absent"
    assert owner.post(AT, {"now": True}).json()["code"] == "invalid_request"


# --- meanwhile --------------------------------------------------------------------------------------------------------


def test_meanwhile_nothing_is_written_and_the_answer_says_why(vault, owner, person):
    reset_actions.request_reset(by=person)

    answer = owner.put("/vault/segments/lifestyle/food", segment(vault, *FOOD, {"favorite_cuisine": "Greek"}, base=1))

    assert (answer.status_code, answer.json()["code"]) == (409, "vault_locked_out")


def test_an_unlock_takes_it_back(vault, owner, person):
    reset_actions.request_reset(by=person)
    wrapper = KeyWrapper.objects.get(user=person)

    assert owner.post("/vault/unlocked", {"wrapper_id": wrapper.wrapper_id}).status_code == 204

    assert status(person) == "active"
    assert not VaultReset.objects.exists()


def test_a_change_of_the_key_that_was_under_way_is_given_up(vault, person):
    change(vault).start()
    reset_actions.request_reset(by=person)

    assert status(person) == "locked_out"
    with pytest.raises(errors.UnknownRotation):
        rotation(person)


def test_the_person_is_told_once(vault, person):
    reset_actions.request_reset(by=person)
    assert (send_mails(), send_mails()) == (1, 0)
    assert [sent.to for sent in mail.outbox] == [[person.email]]
    assert "/account/security/reset/" in mail.outbox[0].body


# --- carried out ------------------------------------------------------------------------------------------------------


def test_nothing_is_destroyed_before_its_time(vault, person):
    reset_actions.request_reset(by=person)
    assert reset_actions.carry_out_resets() == 0
    assert status(person) == "locked_out"


def test_then_everything_sealed_is_gone_and_the_person_begins_anew(vault, owner, person):
    other = give_vault(PersonFactory(), {FOOD: {"favorite_cuisine": "Greek"}})
    reset_actions.request_reset(by=person)
    week_later()

    assert (reset_actions.carry_out_resets(), reset_actions.carry_out_resets()) == (1, 0)

    assert owner.get("/vault/keys").json()["vault_status"] == "absent"
    assert not KeyWrapper.objects.filter(user=person).exists()
    assert not Blob.objects.filter(user=person, ciphertext__isnull=False).exists()
    index = Index.objects.get(user=person)
    assert (index.available_domains, index.total_attributes) == ([], 0)
    assert set(index.capability_flags.values()) == {False}
    kinds = list(Event.objects.filter(user=person).order_by("sequence").values_list("kind", flat=True))
    assert kinds.count("segment_deleted") == 2
    assert kinds[-1] == "wrapper_removed"
    assert list(flaws()) == []
    assert status(other.user) == "active"

    again = give_vault(person, {("contact", "email"): {"email": "zoe@example.org"}})
    written = owner.put("/vault/segments/lifestyle/food", segment(again, *FOOD, {"favorite_cuisine": "Greek"}, base=2))
    assert written.json()["content_revision"] == 3  # counting went on, so no old text can pass for a new one


def test_what_is_taken_back_at_the_last_moment_is_kept(vault, person):
    reset_actions.request_reset(by=person)
    week_later()
    reset_actions.take_back_reset(by=person)
    assert reset_actions.carry_out_resets() == 0
    assert status(person) == "active"


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_asks_for_a_tick_and_then_offers_the_way_back(vault, owner, person):
    client = owner.client
    page = "/account/security/reset/"
    assert "Erase and start over" in client.get(page).content.decode()
    unticked = client.post(page)
    assert unticked.status_code == 400
    assert status(person) == "active"

    assert client.post(page, {"understood": "yes"}).headers["Location"] == page
    assert status(person) == "locked_out"
    for shown in (page, "/vault/", "/account/security/"):
        assert "Keep my data" in client.get(shown).content.decode()

    assert client.post(f"{page}keep/").headers["Location"] == "/account/security/"
    assert status(person) == "active"
    assert "Keep my data" not in client.get("/vault/").content.decode()


def test_the_page_leads_strangers_and_those_without_a_vault_elsewhere(person):
    assert Client().get("/account/security/reset/").headers["Location"].startswith("/accounts/login/")
    assert signed_in(person).client.get("/account/security/reset/").headers["Location"] == "/vault/setup/"
    assert Client().get("/account/security/reset/keep/").status_code == 405
