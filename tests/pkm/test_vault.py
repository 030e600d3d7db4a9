"""Creating a vault, and the ways into it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from common import encryption
from common.problems import InvalidRequest
from consent_bridge import sealed
from pkm import errors
from pkm.history.models import Event, Index
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.vault.models import KeyWrapper, VaultKey
from tests.factories import PersonFactory, give_vault
from tests.pkm.sealed_segments import wrapper
from tests.refused import refused_as


def _history(person):
    return list(Event.objects.filter(user=person).order_by("sequence").values_list("sequence", "kind", "facts"))


def _newest(person):
    """The last thing that happened; what came before has been counted without a gap."""
    history = _history(person)
    assert [sequence for sequence, _, _ in history] == list(range(1, len(history) + 1))
    return history[-1][1:]


def _new(person, key, kind="recovery", **changes):
    return vault_actions.NewWrapper(**(wrapper(person, key, kind) | changes))


def test_create_vault_keeps_the_wrappers_and_the_history(person):
    key = sealed.generate_vault_key()
    ways = [_new(person, key), _new(person, key, "passkey", label="My phone")]
    answer = vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=ways)
    vault = VaultKey.objects.get(user=person)
    first, second = KeyWrapper.objects.filter(user=person).order_by("pk")
    assert answer == {
        "user_id": person.public_id,
        "key_id": key.key_id,
        "vault_status": "active",
        "primary_wrapper_id": second.wrapper_id,  # a recovery code is offered last
        "wrappers": [
            {
                "wrapper_id": row.wrapper_id,
                "kind": way.kind,
                "label": way.label,
                "credential_id": way.credential_id,
                "jwe": way.jwe,
                "created_at": row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "last_used_at": None,
            }
            for row, way in zip((first, second), ways, strict=True)
        ],
        "signing_public_key": None,
        "signing_jwe": None,
        "rotation": None,
    }
    assert answer == vault_queries.vault_keys(person)
    assert (vault.key_id, vault.vault_status, vault.first_login_at) == (key.key_id, "active", None)
    assert _history(person) == [
        (1, "vault_created", {"key_id": key.key_id, "wrappers": [first.wrapper_id, second.wrapper_id]})
    ]
    assert Index.objects.get(user=person).total_attributes == 0


def test_wrappers_are_encrypted_once_more_at_rest(person):
    key = sealed.generate_vault_key()
    way = _new(person, key)
    vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=[way])
    with connection.cursor() as cursor:
        cursor.execute("SELECT jwe FROM vault_key_wrappers")
        (kept,) = cursor.fetchone()
    assert kept.startswith("gAAAA")
    assert way.jwe.split(".")[3] not in kept
    assert encryption.opened(kept) == way.jwe


def test_vault_key_id_of_somebody_else_is_refused(person):
    other = give_vault(PersonFactory())
    with pytest.raises(InvalidRequest):
        vault_actions.create_vault(by=person, key_id=other.key.key_id, wrappers=[_new(person, other.key)])
    assert not VaultKey.objects.filter(user=person).exists()
    assert not KeyWrapper.objects.filter(user=person).exists()
    assert _history(person) == []


@pytest.mark.parametrize("count", [0, 21])
def test_vault_starts_with_one_to_twenty_wrappers(person, count):
    key = sealed.generate_vault_key()
    with pytest.raises(InvalidRequest):
        vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=[_new(person, key)] * count)


@pytest.mark.parametrize(
    ("whose", "member"), [("another person", "sub"), ("another vault", "kid"), ("another kind", "kind")]
)
def test_wrapper_that_does_not_belong_here_is_refused(person, whose, member):
    key = sealed.generate_vault_key()
    way = {
        "another person": lambda: _new(PersonFactory(), key),
        "another vault": lambda: _new(person, sealed.generate_vault_key()),
        "another kind": lambda: (
            _new(person, key, kind="recovery")
            and vault_actions.NewWrapper(kind="passkey", label="x", jwe=_new(person, key).jwe, credential_id="AA")
        ),
    }[whose]()
    with refused_as(errors.WrapperMismatch) as caught:
        vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=[way])
    assert caught.value.members == {"member": member}


def test_wrapper_that_is_no_jwe_is_refused(person):
    key = sealed.generate_vault_key()
    with refused_as(errors.WrapperMismatch):
        vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=[_new(person, key, jwe="no.jwe")])


def test_add_wrapper(person):
    vault = give_vault(person)
    way = _new(person, vault.key, "passkey", label="My phone")
    answer = vault_actions.add_wrapper(by=person, wrapper=way)
    kept = KeyWrapper.objects.get(wrapper_id=answer["wrapper_id"])
    assert answer == {
        "wrapper_id": kept.wrapper_id,
        "kind": "passkey",
        "label": "My phone",
        "credential_id": way.credential_id,
        "jwe": way.jwe,
        "created_at": kept.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "last_used_at": None,
    }
    assert _newest(person) == ("wrapper_added", {"wrapper_id": kept.wrapper_id, "kind": "passkey"})


def test_add_wrapper_stops_at_twenty_but_a_removed_one_comes_back(person, monkeypatch):
    vault = give_vault(person)
    monkeypatch.setattr("pkm.vault.actions.MOST_WRAPPERS", 2)
    vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))
    with pytest.raises(errors.TooManyWrappers):
        vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))
    first = vault_queries.vault_keys(person)["wrappers"][0]["wrapper_id"]
    vault_actions.remove_wrapper(by=person, wrapper_id=first)
    vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))
    vault_actions.restore_wrapper(by=person, wrapper_id=first)
    assert len(vault_queries.vault_keys(person)["wrappers"]) == 3


def test_remove_wrapper_makes_another_one_primary(person):
    vault = give_vault(person)
    recovery = vault_queries.vault_keys(person)["primary_wrapper_id"]
    added = vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key, "passkey"))["wrapper_id"]
    vault_actions.remove_wrapper(by=person, wrapper_id=recovery)
    keys = vault_queries.vault_keys(person)
    assert ([way["wrapper_id"] for way in keys["wrappers"]], keys["primary_wrapper_id"]) == ([added], added)
    assert _newest(person) == ("wrapper_removed", {"wrapper_id": recovery, "kind": "recovery"})
    removed = vault_queries.removed_wrappers(person)
    assert [(way["wrapper_id"], way["kind"]) for way in removed] == [(recovery, "recovery")]
    assert "jwe" not in removed[0]


def test_last_wrapper_cannot_be_removed(person):
    give_vault(person)
    only = vault_queries.vault_keys(person)["primary_wrapper_id"]
    with pytest.raises(errors.LastWrapper):
        vault_actions.remove_wrapper(by=person, wrapper_id=only)
    assert len(vault_queries.vault_keys(person)["wrappers"]) == 1


def test_recovery_code_alone_is_left_only_on_purpose(person):
    vault = give_vault(person, {})
    passphrase, passkey = (
        vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key, kind))["wrapper_id"]
        for kind in ("passphrase", "passkey")
    )
    vault_actions.remove_wrapper(by=person, wrapper_id=passphrase)
    with pytest.raises(errors.OnlyRecoveryLeft):
        vault_actions.remove_wrapper(by=person, wrapper_id=passkey)
    assert len(vault_queries.vault_keys(person)["wrappers"]) == 2
    vault_actions.remove_wrapper(by=person, wrapper_id=passkey, allow_only_recovery=True)
    assert [way["kind"] for way in vault_queries.vault_keys(person)["wrappers"]] == ["recovery"]


def test_one_of_two_recovery_codes_goes_without_a_second_look(person):
    vault = give_vault(person, {})
    added = vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))["wrapper_id"]
    vault_actions.remove_wrapper(by=person, wrapper_id=added)
    assert len(vault_queries.vault_keys(person)["wrappers"]) == 1


def test_removed_wrapper_is_restored_within_seven_days(person):
    vault = give_vault(person)
    recovery = vault_queries.vault_keys(person)["primary_wrapper_id"]
    vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))
    vault_actions.remove_wrapper(by=person, wrapper_id=recovery)
    KeyWrapper.objects.filter(wrapper_id=recovery).update(removed_at=timezone.now() - timedelta(days=6, hours=23))
    answer = vault_actions.restore_wrapper(by=person, wrapper_id=recovery)
    assert answer in vault_queries.vault_keys(person)["wrappers"]
    assert sealed.unwrap(answer["jwe"], "recovery", vault.recovery_code) == vault.key
    assert _newest(person) == ("wrapper_restored", {"wrapper_id": recovery, "kind": "recovery"})
    before = _history(person)
    assert vault_actions.restore_wrapper(by=person, wrapper_id=recovery) == answer
    assert _history(person) == before


def test_wrapper_removed_long_ago_is_gone(person):
    vault = give_vault(person)
    recovery = vault_queries.vault_keys(person)["primary_wrapper_id"]
    added = vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key))["wrapper_id"]
    vault_actions.remove_wrapper(by=person, wrapper_id=recovery)
    KeyWrapper.objects.filter(wrapper_id=recovery).update(removed_at=timezone.now() - timedelta(days=7, seconds=1))
    with pytest.raises(errors.UnknownWrapper):
        vault_actions.restore_wrapper(by=person, wrapper_id=recovery)
    assert vault_queries.removed_wrappers(person) == []
    assert vault_actions.forget_removed_wrappers() == 1
    assert list(KeyWrapper.objects.values_list("wrapper_id", flat=True)) == [added]


def test_note_unlock_remembers_the_wrapper_and_the_first_time(person):
    give_vault(person)
    only = vault_queries.vault_keys(person)["primary_wrapper_id"]
    vault_actions.note_unlock(by=person, wrapper_id=only)
    first = VaultKey.objects.get(user=person)
    vault_actions.note_unlock(by=person, wrapper_id=only)
    second = VaultKey.objects.get(user=person)
    assert first.first_login_at == first.last_login_at == second.first_login_at < second.last_login_at
    assert KeyWrapper.objects.get(wrapper_id=only).last_used_at == second.last_login_at


# --- after the recovery code was needed ------------------------------------------------------------------------------


@pytest.fixture
def unlocked_by_code(person):
    """A vault that its recovery code opened a moment ago, and the code's wrapper."""
    vault = give_vault(person, passphrase="gravel lantern otter plum 7")
    code = KeyWrapper.objects.get(user=person, kind="recovery")
    vault_actions.note_unlock(by=person, wrapper_id=code.wrapper_id)
    return vault, code


def test_a_code_that_was_needed_is_remembered_until_there_is_a_new_passphrase(person, unlocked_by_code):
    vault, _ = unlocked_by_code
    assert vault_queries.needs_new_secrets(person)
    vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key, "recovery"))
    assert vault_queries.needs_new_secrets(person)  # the one that was used still opens

    vault_actions.add_wrapper(by=person, wrapper=_new(person, vault.key, "passphrase"))

    assert not vault_queries.needs_new_secrets(person)


def test_a_code_that_was_needed_is_remembered_until_it_is_gone(person, unlocked_by_code):
    _, code = unlocked_by_code
    vault_actions.remove_wrapper(by=person, wrapper_id=code.wrapper_id)
    assert not vault_queries.needs_new_secrets(person)
    vault_actions.restore_wrapper(by=person, wrapper_id=code.wrapper_id)
    assert vault_queries.needs_new_secrets(person)


def test_other_ways_in_remind_of_nothing(person):
    give_vault(person, passphrase="gravel lantern otter plum 7")
    for way in KeyWrapper.objects.filter(user=person).exclude(kind="recovery"):
        vault_actions.note_unlock(by=person, wrapper_id=way.wrapper_id)
    assert not vault_queries.needs_new_secrets(person)
    assert not KeyWrapper.objects.exclude(unlocked_at=None).exists()


def test_the_pages_of_the_vault_lead_on_to_new_secrets(owner, person, unlocked_by_code):
    _, code = unlocked_by_code
    leads = '<div class="notice notice-warn" id="recovered" tabindex="-1">'
    pages = ("/vault/", "/vault/data/lifestyle/", "/vault/transfer/", "/account/security/")
    assert [page for page in pages if leads in owner.get(page).content.decode()] == list(pages)

    vault_actions.remove_wrapper(by=person, wrapper_id=code.wrapper_id)

    assert [page for page in pages if leads in owner.get(page).content.decode()] == []


def test_unlocked_tells_a_code_that_was_needed_from_one_that_was_tried(owner, person):
    vault = give_vault(person)
    code = owner.post("/vault/wrappers", wrapper(person, vault.key)).json()["wrapper_id"]
    owner.post("/vault/unlocked", {"wrapper_id": code, "tried": True})
    assert KeyWrapper.objects.get(wrapper_id=code).last_used_at is not None
    assert not vault_queries.needs_new_secrets(person)

    assert owner.post("/vault/unlocked", {"wrapper_id": code, "tried": False}).status_code == 204
    assert vault_queries.needs_new_secrets(person)
    refused = owner.post("/vault/unlocked", {"wrapper_id": code, "tried": 1})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
