"""Whoever replaces the key of a vault shows that the present one is held: a sign-in alone takes no vault over."""

import pytest

from consent_bridge.wrappers import possession, possession_digest
from pkm.rotation import actions as rotation_actions
from pkm.vault.models import RotationWrapper, VaultKey
from tests.factories import give_vault
from tests.pkm.rotation import change


@pytest.fixture
def changing(person):
    """A person whose vault holds one segment, and the key to come; nothing has begun."""
    return change(give_vault(person, {("lifestyle", "food"): {"favorite_cuisine": "Thai"}}))


@pytest.mark.parametrize("shown", [None, "A" * 43, "of the key to come"])
def test_sign_in_alone_replaces_no_key(owner, changing, shown):
    body = changing.body()
    shown = possession(changing.key) if shown == "of the key to come" else shown
    refused = owner.post("/vault/rotation", body | {"possession": shown})
    assert (refused.status_code, refused.json()["code"]) == (403, "possession_required")
    kept = VaultKey.objects.get()
    assert (kept.vault_status, kept.key_id, kept.rotation_key_id) == ("active", changing.vault.key.key_id, "")
    assert not RotationWrapper.objects.exists()
    assert owner.post("/vault/rotation", body).status_code == 201


def test_vault_of_a_client_that_told_no_digest_changes_its_key_without_it(owner, changing):
    VaultKey.objects.update(possession_sha256="")
    bare = {name: value for name, value in changing.body().items() if not name.startswith("possession")}
    assert owner.post("/vault/rotation", bare).status_code == 201
    changing.reseal_all()
    assert owner.post("/vault/rotation/finish", {}).status_code == 200
    assert VaultKey.objects.get().possession_sha256 == ""


def test_what_was_given_up_leaves_the_present_key_to_be_shown(owner, changing):
    changing.start()
    rotation_actions.give_up_rotation(by=changing.vault.user)
    vault = VaultKey.objects.get()
    assert (vault.possession_sha256, vault.rotation_possession_sha256) == (possession_digest(changing.vault.key), "")
