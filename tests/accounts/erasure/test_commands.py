"""What an operator has for a person's request: to be erased, and to see what is held."""

import json
from io import StringIO

import pytest
from django.core import mail
from django.core.management import CommandError, call_command

from accounts.models import Erasure
from developers.apps.models import AppStatus
from developers.authentication import find_token
from developers.members.models import AppMember, MemberRole
from tests import factories
from tests.outbox import send_mails


def test_erase_person_says_what_it_does_and_erases_at_once(db: None) -> None:
    grant = factories.ExportFactory().grant
    output = StringIO()

    call_command("erase_person", grant.user.email.upper(), yes=True, stdout=output)

    assert grant.app.name in output.getvalue()
    assert f"{grant.user.public_id} is erased." in output.getvalue()
    assert Erasure.objects.get().done_at is not None
    again = StringIO()
    call_command("erase_person", grant.user.public_id, yes=True, stdout=again)
    assert "was erased on" in again.getvalue()


def test_erase_person_asks_and_takes_no_other_answer(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    user = factories.PersonFactory()
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    with pytest.raises(CommandError, match="Nothing was erased"):
        call_command("erase_person", user.public_id, stdout=StringIO())
    assert not Erasure.objects.exists()


def test_erase_person_names_what_has_to_be_settled_first(db: None) -> None:
    with pytest.raises(CommandError, match="member of staff"):
        call_command("erase_person", factories.StaffFactory().email, yes=True, stdout=StringIO())
    with pytest.raises(CommandError, match="nobody called"):
        call_command("erase_person", "nobody@example.org", yes=True, stdout=StringIO())


def test_the_app_of_a_last_owner_is_closed_and_the_others_in_its_team_are_told(db: None) -> None:
    owner = factories.MemberFactory(role=MemberRole.OWNER)
    member = factories.MemberFactory(app=owner.app, role=MemberRole.MEMBER)
    token, output = factories.TokenFactory(app=owner.app), StringIO()
    call_command("erase_person", owner.user.email, yes=True, stdout=output)

    assert f"You are the only owner of “{owner.app.name}”: it is closed" in output.getvalue()
    owner.app.refresh_from_db()
    assert owner.app.status == AppStatus.CLOSED
    assert find_token(token.secret) is None
    assert list(AppMember.objects.filter(app=owner.app)) == [member]
    assert (send_mails(), send_mails()) == (2, 0)
    letter, farewell = mail.outbox
    assert (letter.to, letter.subject) == ([member.user.email], f"{owner.app.name} is closed")
    assert (farewell.to, farewell.subject) == ([owner.user.email], "Your account is deleted")
    assert "the account of its last owner has ended" in letter.body


def test_export_person_holds_all_rooms_and_what_is_sealed_as_it_is(db: None) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    factories.ExportFactory(grant__request__user=vault.user)
    factories.RunFactory(user=vault.user)
    factories.PhoneNumberFactory(user=vault.user)
    output = StringIO()

    call_command("export_person", vault.user.email, stdout=output)

    exported = json.loads(output.getvalue())
    assert set(exported) == {"account", "agents", "consent", "developers", "vault"}
    assert exported["account"]["email"] == vault.user.email
    assert exported["vault"]["sealed_segments"][0]["ciphertext"].count(".") == 4
    assert exported["vault"]["ways_in"][0]["jwe"].count(".") == 4
    assert len(exported["consent"]["grants"]) == len(exported["consent"]["sealed_exports"]) == 1
    with pytest.raises(CommandError, match="nobody called"):
        call_command("export_person", "usr_nobody", stdout=StringIO())
