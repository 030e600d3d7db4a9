"""A way in that changes is told by mail: once, in plain words, later than the request, and without secrets."""

import inspect
import re
from datetime import timedelta

import pytest
from allauth.account.internal.flows import manage_email, password_change, password_reset
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal import flows as codes_flows
from allauth.mfa.totp.internal import flows as totp_flows
from allauth.mfa.webauthn.internal import flows as passkey_flows
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.identifiers import sandbox_address
from accounts.models import SecurityChange, User, WayChange
from accounts.security_changes import note_change
from pkm.reset import actions as reset_actions
from pkm.rotation import actions as rotation_actions
from pkm.vault import actions as vault_actions
from pkm.vault.models import KeyWrapper
from tests import factories
from tests.callers import JsonClient, signed_in
from tests.factories.accounts import PASSWORD
from tests.outbox import send_mails
from tests.pkm.rotation import Change, change
from tests.pkm.sealed_segments import wrapper
from tests.totp import in_one_period, totp_code
from tests.visitor import secret_shown

NEW = "a quiet harbour at night 3"


def later(**by: int) -> None:
    """The clock cannot be moved, so what waits is."""
    for waiting in SecurityChange.objects.all():
        SecurityChange.objects.filter(pk=waiting.pk).update(at=waiting.at - timedelta(**(by or {"seconds": 30})))


def written() -> list[tuple[list[str], str]]:
    """To whom the next run writes of changed ways in, and the subjects."""
    now = timezone.now()  # a clock that a test set back may have left changes that have settled by this one
    SecurityChange.objects.filter(at__gt=now - timedelta(seconds=30)).update(at=now)
    send_mails()  # what waits besides
    later()
    mail.outbox.clear()
    send_mails()
    return [(sent.to, sent.subject) for sent in mail.outbox]


@pytest.fixture
def fresh(person: User) -> Client:
    """A browser in which they signed in, and confirmed just now that it is them; their address is confirmed too."""
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


@pytest.fixture
def vault(person: User) -> factories.Vault:
    return factories.give_vault(person, passphrase="gravel lantern otter plum 7")


@pytest.fixture
def changing(vault: factories.Vault) -> Change:
    return change(vault)


# --- the account ------------------------------------------------------------------------------------------------------


def test_every_change_that_allauth_tells_of_has_words() -> None:
    flows = (manage_email, password_change, password_reset, codes_flows, totp_flows, passkey_flows)
    calls = re.compile(r"send_notification_mail\(\s*\"[a-z]+/email/(\w+)\"")
    notified = {name for module in flows for name in calls.findall(inspect.getsource(module))}
    assert notified == {kind.value for kind in list(WayChange)[:10]}


def test_a_changed_password_is_told_after_the_request(owner: JsonClient, person: User) -> None:
    typed = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert owner.client.post("/accounts/password/change/", typed).status_code == 302
    assert (send_mails(), mail.outbox) == (0, [])  # more may come

    assert written() == [([person.email], "Your password was changed")]
    body = mail.outbox[0].body
    assert "/account/security/" in body
    assert "127.0.0.1" not in body
    assert NEW not in body
    assert not SecurityChange.objects.exists()
    assert send_mails() == 0


def test_it_is_in_the_persons_language(person: User) -> None:
    User.objects.filter(pk=person.pk).update(language="de")
    note_change(of=person, kind=WayChange.PASSWORD_RESET)
    assert written() == [
        ([person.email], "Dein Passwort wurde per E-Mail zurückgesetzt; die Passphrase deiner Daten ist wie zuvor")
    ]
    assert "Warst du das" in mail.outbox[0].body


def test_a_changed_address_is_told_where_it_was(fresh: Client, person: User) -> None:
    EmailAddress.objects.create(user=person, email="new@example.org", verified=True)
    form = {"email": "new@example.org", "action_primary": ""}
    assert fresh.post("/accounts/email/", form).status_code == 302

    assert written() == [([person.email], "The e-mail address of your account was changed to new@example.org")]


@pytest.mark.django_db(transaction=True)  # allauth tells after the commit, within the request
def test_an_authenticator_app_and_new_codes_are_one_mail(fresh: Client, person: User) -> None:
    secret = secret_shown(fresh.get("/accounts/2fa/totp/activate/").content.decode())
    with in_one_period():
        fresh.post("/accounts/2fa/totp/activate/", {"code": totp_code(secret)})
        fresh.post("/accounts/2fa/recovery-codes/generate/")

    assert written() == [([person.email], "Your ways to sign in and to unlock were changed")]
    body = mail.outbox[0].body
    assert "An authenticator app was added" in body
    assert "New recovery codes for signing in were made" in body
    assert secret not in body


def test_nobody_is_written_to_for_a_sandbox_person(db: None) -> None:
    note_change(of=factories.PersonFactory(email=sandbox_address("usr_sandbox")), kind=WayChange.PASSWORD_CHANGED)
    assert not SecurityChange.objects.exists()


# --- the data ---------------------------------------------------------------------------------------------------------


def add(person: User, vault: factories.Vault, kind: str) -> str:
    way = vault_actions.NewWrapper(**wrapper(person, vault.key, kind))
    return str(vault_actions.add_wrapper(by=person, wrapper=way)["wrapper_id"])


def test_a_replaced_passphrase_is_one_line(person: User, vault: factories.Vault) -> None:
    old = KeyWrapper.objects.get(user=person, kind="passphrase")
    add(person, vault, "passphrase")
    vault_actions.remove_wrapper(by=person, wrapper_id=old.wrapper_id)

    assert written() == [([person.email], "The passphrase of your data was changed")]
    assert "for 7 days" in mail.outbox[0].body
    assert "eyJhbGciOi" not in mail.outbox[0].body


def test_a_way_that_comes_goes_and_comes_back_is_told(person: User, vault: factories.Vault) -> None:
    added = add(person, vault, "passkey")
    assert written() == [([person.email], "A passkey that unlocks your data was added")]
    assert "for 7 days" not in mail.outbox[0].body

    vault_actions.remove_wrapper(by=person, wrapper_id=added)
    assert written() == [([person.email], "A passkey no longer unlocks your data")]

    vault_actions.restore_wrapper(by=person, wrapper_id=added)
    assert written() == [([person.email], "A passkey that was removed unlocks your data again")]


def test_one_that_goes_before_another_comes_is_not_replaced(person: User, vault: factories.Vault) -> None:
    old = KeyWrapper.objects.get(user=person, kind="passphrase")
    vault_actions.remove_wrapper(by=person, wrapper_id=old.wrapper_id, allow_only_recovery=True)
    add(person, vault, "passphrase")

    assert written() == [([person.email], "Your ways to sign in and to unlock were changed")]
    assert "no longer unlocks" in mail.outbox[0].body
    assert "was added" in mail.outbox[0].body


def test_a_change_of_the_key_is_told_when_it_begins_and_when_it_ends(person: User, changing: Change) -> None:
    changing.start("recovery", "passphrase")
    assert written() == [([person.email], "A change of the key of your data was begun")]

    changing.reseal_all()
    rotation_actions.finish_rotation(by=person)
    line = "The key of your data was changed; earlier ways to unlock open nothing now"
    assert written() == [([person.email], line)]  # and no word about each way


def test_a_change_of_the_key_at_one_go_is_one_line(person: User, changing: Change) -> None:
    changing.start("recovery", "passphrase")
    changing.reseal_all()
    rotation_actions.finish_rotation(by=person)
    assert [subject for _, subject in written()] == [
        "The key of your data was changed; earlier ways to unlock open nothing now"
    ]


def test_a_change_of_the_key_that_is_given_up_is_told(person: User, changing: Change) -> None:
    changing.start()
    rotation_actions.give_up_rotation(by=person)
    assert [subject for _, subject in written()] == ["Your ways to sign in and to unlock were changed"]
    assert "was given up" in mail.outbox[0].body


def test_the_first_vault_and_one_that_is_given_up_are_not_told_twice(person: User, vault: factories.Vault) -> None:
    """Its own mail tells of a vault that is given up (pkm/reset)."""
    reset = reset_actions.request_reset(by=person)
    now = timezone.now()
    type(reset).objects.update(asked_at=now - timedelta(days=8), due_at=now - timedelta(days=1))
    assert reset_actions.carry_out_resets() == 1
    assert written() == []


# --- the queue --------------------------------------------------------------------------------------------------------


def test_what_could_not_be_told_for_a_week_is_forgotten(person: User) -> None:
    factories.SecurityChangeFactory(user=person)
    later(days=8)
    assert (send_mails(), SecurityChange.objects.count()) == (0, 0)


def test_what_goes_on_changing_is_told_within_minutes(person: User) -> None:
    factories.SecurityChangeFactory(user=person)
    later(seconds=130)
    factories.SecurityChangeFactory(user=person, kind=WayChange.TOTP_DEACTIVATED)
    assert send_mails() == 1
    assert not SecurityChange.objects.exists()


def test_what_waits_goes_with_the_account(person: User) -> None:
    from accounts.erasure.actions import erase, order_erasure

    factories.SecurityChangeFactory(user=person)
    assert erase(erasure_pk=order_erasure(of=person).pk)
    assert not SecurityChange.objects.exists()


def test_a_client_without_a_session_leaves_nothing(db: None) -> None:
    assert Client().post("/accounts/password/change/", {"password1": NEW}).status_code == 302
    assert signed_in(factories.PersonFactory()).client.post("/accounts/password/change/", {}).status_code == 200
    assert not SecurityChange.objects.exists()
