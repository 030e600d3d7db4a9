"""Every change in words, and the page of what the service knows."""

import pytest

from accounts.models import User
from pkm.history.events import record
from pkm.history.models import Event, EventKind, Index
from pkm.registry.models import ScopeEntry
from pkm.segments.exposure import bring_paths_up_to_date
from pkm.vault.actions import finish_setup, note_unlock
from pkm.vault.models import KeyWrapper, VaultKey
from pkm.web.vault_events import in_words
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory, Vault, give_vault


@pytest.fixture
def vault(person: User) -> Vault:
    return give_vault(person)


def _text(client: JsonClient) -> str:
    answer = client.get("/vault/changes/")
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_every_kind_of_change_is_told_in_words(vault: Vault) -> None:
    place = {"domain": "lifestyle", "segment_id": "food"}
    record(vault.user, EventKind.WRAPPER_ADDED, wrapper_id="wrp_a", kind="passkey")
    record(vault.user, EventKind.WRAPPER_REMOVED, wrapper_id="wrp_a", kind="passkey")
    record(vault.user, EventKind.WRAPPER_RESTORED, wrapper_id="wrp_a", kind="passkey")
    record(vault.user, EventKind.SEGMENT_DELETED, **place, content_revision=2, size_bytes=0)
    record(vault.user, EventKind.SCOPE_HIDDEN, scope="attr.lifestyle.*")
    record(vault.user, EventKind.SCOPE_SHOWN, scope="attr.gone.*")
    record(vault.user, EventKind.MIGRATION_STEP, **place)

    described = {(change.title, change.detail) for change in in_words(Event.objects.filter(user=vault.user))}

    assert described == {
        ("Your vault was set up", ""), ("Saved: Food and drink", ""),
        ("What you keep changed: Lifestyle: everything", ""),
        ("A way to unlock was added", "Passkey"), ("A way to unlock was removed", "Passkey"),
        ("A way to unlock was put back", "Passkey"), ("Deleted: Food and drink", ""),
        ("Hidden from apps: Lifestyle: everything", ""), ("Shown to apps: attr.gone.*", ""),
        ("Older data was taken over", "Food and drink"),
    }  # fmt: skip


def test_what_the_service_knows_is_told_with_what_no_app_may_ask_for(owner: JsonClient, vault: Vault) -> None:
    vault.write("identity", "basic", {"full_name": "Zoe", "age": 34})
    fresh = {"identity": "2026-11-20T10:00:00Z", "lifestyle": "2026-11-19T09:00:00Z"}
    Index.objects.filter(user=vault.user).update(domain_freshness=fresh)
    ScopeEntry.objects.filter(scope="attr.identity.basic.age").update(exposure_enabled=False)
    assert bring_paths_up_to_date() == 1
    note_unlock(by=vault.user, wrapper_id=KeyWrapper.objects.get(user=vault.user).wrapper_id)

    page = " ".join(_text(owner).split())

    for words in (
        "2 entries, 1 of them no app may ask for by itself", "20 Nov 2026, 10:00 UTC", "3 entries ·",
        "19 Nov 2026, 09:00 UTC", "5 entries", "First unlocked", "Last unlocked",
    ):  # fmt: skip
        assert words in page


def test_what_the_vault_can_do_is_told_as_it_stands(owner: JsonClient, vault: Vault) -> None:
    vault.write("contact", "email", {"email": "zoe@example.org"})
    primary = KeyWrapper.objects.get(wrapper_id=VaultKey.objects.get(user=vault.user).primary_wrapper_id)

    before = " ".join(_text(owner).split())
    Index.objects.filter(user=vault.user).update(
        capability_flags={"can_approve": False, "recovery": False, "passkey": True, "continuous": False}
    )
    finish_setup(by=vault.user)
    after = " ".join(_text(owner).split())

    for words in (
        "1 entry, confidential", f"<bdi>{primary.label}</bdi>", "None opens your data",
        "There is one<", "You can approve what they ask for. What you share can be kept up to date.",
        "Not finished yet",
    ):  # fmt: skip
        assert words in before
    for words in (
        "At least one opens your data", "There is none. Without it,", "You cannot approve anything now.<", "Done<",
    ):  # fmt: skip
        assert words in after


def test_nobody_sees_another_persons_changes(owner: JsonClient, vault: Vault) -> None:
    other = give_vault(PersonFactory(), {})

    assert "Food and drink" in owner.get("/consent/history/").content.decode()
    assert "Food and drink" not in signed_in(other.user).get("/consent/history/").content.decode()
