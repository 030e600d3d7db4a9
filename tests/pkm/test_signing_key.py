"""The root of a person's approvals: who may set it, who may put another in its place, and who hears of it."""

import time

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core import mail

from accounts.models import SecurityChange
from consent.ledger.models import AuditEntry
from consent_bridge import sealed, signatures
from consent_bridge.signing import signed_rotation
from pkm.vault.models import VaultKey
from tests.accounts.test_security_mail import written
from tests.callers import signed_in
from tests.factories import PersonFactory, give_vault
from tests.pkm.rotation import change
from tests.staff import confirm, give_second_factor

AT = "/vault/signing-key"


@pytest.fixture
def vault(person):
    return give_vault(person)


def another(vault):
    """The body that puts another root in the place of the vault's; nobody knows a key of it yet."""
    new, members = sealed.new_root(vault.key.secret, vault.key.key_id, vault.user.public_id)
    names = {"issuer": settings.ISSUER, "user_id": vault.user.public_id, "root_seq": 1}
    return {**members, "rotation": signed_rotation(vault.root, new, **names, apps={})}


def problem_of(answer):
    return answer.status_code, answer.json().get("code")


def rootless(person):
    """A vault that was made without a root."""
    vault = give_vault(person)
    VaultKey.objects.filter(user=person).update(signing_public_key=None, signing_jwe="")
    return vault


def test_another_root_is_told_and_written_down(owner, vault, person):
    body = another(vault)
    answer = owner.put(AT, body)

    assert answer.status_code == 200
    assert answer.json() == owner.get("/vault/keys").json()
    assert answer.json()["signing_public_key"] == body["signing_public_key"]
    changes = SecurityChange.objects.filter(user=person).order_by("pk").values_list("kind", flat=True)
    assert list(changes)[-1] == "signing_key_replaced"
    entry = AuditEntry.objects.select_related("kept").get(kind="signing_key_replaced")
    old, new = (signatures.thumbprint(key) for key in (vault.root.key.public, body["signing_public_key"]))
    assert (entry.facts["old"], entry.facts["new"]) == (old, new)


def test_the_person_gets_a_mail(owner, vault, person):
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    owner.put(AT, another(vault))

    assert [to for to, _ in written()] == [[person.email]]
    assert "signs what you approve was replaced" in mail.outbox[0].body


@pytest.mark.parametrize("make", [rootless, give_vault], ids=["first", "next"])
def test_an_old_sign_in_sets_no_root(db, make):
    vault = make(PersonFactory())
    refused = signed_in(vault.user, seconds_ago=601).put(AT, another(vault))

    assert problem_of(refused) == (403, "reauthentication_required")
    assert refused.json()["url"].endswith("/accounts/reauthenticate/")


@pytest.mark.parametrize("make", [rootless, give_vault], ids=["first", "next"])
def test_where_there_is_a_second_factor_it_has_to_be_shown(db, make):
    vault = make(PersonFactory())
    secret = give_second_factor(vault.user)
    caller = signed_in(vault.user)
    body = another(vault)
    if make is rootless:
        del body["rotation"]

    refused = caller.put(AT, body)
    assert problem_of(refused) == (403, "reauthentication_required")
    assert refused.json()["url"].endswith("/accounts/2fa/reauthenticate/")
    before = VaultKey.objects.get().signing_public_key
    confirm(caller.client, secret)
    assert caller.put(AT, body).status_code == 200
    assert VaultKey.objects.get().signing_public_key not in (None, before)


def test_a_second_factor_of_earlier_does_not_count(vault, person):
    give_second_factor(person)
    caller = signed_in(person)
    session = caller.client.session
    recent = {"method": "password", "at": time.time()}
    session["account_authentication_methods"] = [{"method": "mfa", "type": "totp", "at": time.time() - 601}, recent]
    session.save()

    assert problem_of(caller.put(AT, another(vault))) == (403, "reauthentication_required")
    Authenticator.objects.all().delete()
    assert caller.put(AT, another(vault)).status_code == 200


def test_another_root_without_the_old_ones_word_is_refused(owner, vault):
    body = another(vault)
    by_stranger = another(give_vault(PersonFactory(), {}))["rotation"]

    assert problem_of(owner.put(AT, {**body, "rotation": None})) == (403, "rotation_required")
    assert problem_of(owner.put(AT, {**body, "rotation": by_stranger})) == (400, "approval_mismatch")
    assert VaultKey.objects.get(user=vault.user).signing_public_key == vault.root.key.public


@pytest.mark.parametrize("member", ["kid", "sub"])
def test_a_root_that_is_sealed_for_elsewhere_is_refused(owner, vault, member):
    other = {"kid": "vk_t2zp3gog7m6odtqh", "sub": "usr_another"}[member]
    named = {"kid": vault.key.key_id, "sub": vault.user.public_id} | {member: other}
    _, members = sealed.new_root(vault.key.secret, named["kid"], named["sub"])

    refused = owner.put(AT, members)
    assert (problem_of(refused), refused.json()["member"]) == ((400, "approval_mismatch"), member)


def test_while_the_vaults_key_changes_the_root_stays(owner, vault):
    change(vault).start()
    assert problem_of(owner.put(AT, another(vault))) == (409, "rotation_under_way")


def test_without_a_vault_there_is_no_root(owner, person):
    _, members = sealed.new_root(bytes(32), "vk_t2zp3gog7m6odtqh", person.public_id)
    assert problem_of(owner.put(AT, members)) == (409, "vault_absent")


@pytest.mark.parametrize("changes", [{"signing_public_key": "key"}, {"signing_jwe": ""}, {"rotation": []}, {"more": 1}])
def test_a_body_that_does_not_fit_is_refused(owner, vault, changes):
    assert problem_of(owner.put(AT, another(vault) | changes)) == (400, "invalid_request")
