"""The team of an app: who may change it, that an owner stays, and what invitations open to whom."""

import hashlib
import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import SecurityChange
from common.problems import Problem
from config.log_lines import redacted
from developers import erasure
from developers.apps.actions import close_app
from developers.members import actions, invitations
from developers.models import App, AppAuditEntry, AppInvitation, AppMember, MemberRole
from tests.callers import sign_in
from tests.factories import MemberFactory, PersonFactory, TestAppFactory
from tests.outbox import send_mails


def confirmed(**fields):
    person = PersonFactory(**fields)
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True, "primary": True})
    return person


@pytest.fixture
def owner(db) -> AppMember:
    return MemberFactory(app=TestAppFactory())


@pytest.fixture
def member(owner) -> AppMember:
    return MemberFactory(app=owner.app, role=MemberRole.MEMBER)


def refused(act) -> str:
    with pytest.raises(Problem) as found:
        act()
    return found.value.code


def audit_entries(app: App) -> list[tuple[str, dict[str, object]]]:
    return list(AppAuditEntry.objects.filter(app=app).order_by("pk").values_list("action", "facts"))


def secret_in(letter) -> str:
    return re.search(r"/developers/invitations/([^/]+)/", letter.body)[1]


def invite(owner, email, **fields):
    return invitations.invite(app=owner.app, email=email, by=owner.user, **fields)


def accept(person) -> AppMember:
    """Accept what the mail offers that went out last."""
    send_mails()
    return invitations.accept_invitation(secret=secret_in(mail.outbox[-1]), by=person)


def browser(user) -> Client:
    client = Client()
    sign_in(client, user)
    return client


def roles() -> set[tuple[int, str]]:
    return set(AppMember.objects.values_list("user", "role"))


def test_roles_change_and_each_change_is_in_the_audit(owner, member):
    actions.change_role(member=member, role="owner", by=owner.user)
    assert roles() == {(owner.user_id, "owner"), (member.user_id, "member")}  # nobody owns anything unasked
    assert refused(lambda: actions.change_role(member=member, role="owner", by=owner.user)) == "already_invited"
    accept(member.user)
    actions.change_role(member=AppMember.objects.get(pk=member.pk), role="owner", by=owner.user)
    actions.remove_member(member=owner, by=member.user)

    them = member.member_id
    assert audit_entries(owner.app) == [
        ("invitation.made", {"address": them, "role": "owner"}),
        ("invitation.accepted", {"member_id": them, "role": "owner"}),
        ("member.removed", {"member_id": owner.member_id, "role": "owner"}),
    ]
    assert roles() == {(member.user_id, "owner")}


def test_a_change_that_cannot_be_written_down_does_not_take_place(owner, member, monkeypatch):
    def broken(**_):
        raise IntegrityError

    second = MemberFactory(app=owner.app)
    before = roles()
    monkeypatch.setattr(actions, "record", broken)
    monkeypatch.setattr(invitations, "record", broken)

    for act in (
        lambda: actions.change_role(member=member, role="owner", by=owner.user),
        lambda: actions.change_role(member=second, role="member", by=owner.user),
        lambda: actions.remove_member(member=member, by=owner.user),
        lambda: actions.transfer_ownership(to=member, by=owner.user),
        lambda: actions.transfer_ownership(to=second, by=owner.user),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            act()
    assert roles() == before
    assert not AppInvitation.objects.exists()


def test_an_app_always_keeps_an_owner(owner, member):
    assert refused(lambda: actions.remove_member(member=owner, by=owner.user)) == "last_owner"
    assert refused(lambda: actions.change_role(member=owner, role="member", by=owner.user)) == "last_owner"

    actions.transfer_ownership(to=member, by=owner.user)
    assert refused(lambda: actions.remove_member(member=owner, by=owner.user)) == "last_owner"
    accept(member.user)
    assert roles() == {(owner.user_id, "member"), (member.user_id, "owner")}
    actions.remove_member(member=AppMember.objects.get(pk=owner.pk), by=owner.user)

    assert roles() == {(member.user_id, "owner")}
    assert refused(lambda: actions.remove_member(member=owner, by=member.user)) == "not_found"


def test_an_owner_whose_account_is_closed_is_none_that_stays(owner):
    gone = MemberFactory(app=owner.app, user__is_active=False)
    assert refused(lambda: actions.remove_member(member=owner, by=owner.user)) == "last_owner"
    assert refused(lambda: actions.change_role(member=owner, role="member", by=owner.user)) == "last_owner"
    assert refused(lambda: actions.transfer_ownership(to=gone, by=owner.user)) == "last_owner"
    assert any("only owner" in str(words) for words in erasure.outcomes(owner.user))
    actions.remove_member(member=gone, by=owner.user)

    assert roles() == {(owner.user_id, "owner")}


def test_between_two_owners_an_app_is_handed_over_at_once(owner):
    second = MemberFactory(app=owner.app)
    actions.transfer_ownership(to=second, by=owner.user)

    assert roles() == {(owner.user_id, "member"), (second.user_id, "owner")}
    assert not AppInvitation.objects.exists()


def test_who_owns_an_app_no_more_or_is_removed_is_told_by_mail(owner, member):
    hand_over(owner, member)
    accept(member.user)
    assert (
        SecurityChange.objects.filter(user=owner.user, kind="app_team_changed").count() == 2
    )  # the offer, and its end
    SecurityChange.objects.all().delete()
    actions.remove_member(member=AppMember.objects.get(pk=owner.pk), by=member.user)

    assert set(SecurityChange.objects.values_list("user", "detail")) == {
        (owner.user_id, owner.app.name),
        (member.user_id, owner.app.name),
    }


def test_who_resends_what_another_owner_hands_over_stays_an_owner(owner, member):
    second = MemberFactory(app=owner.app)
    actions.transfer_ownership(to=member, by=owner.user)
    invitations.resend_invitation(invitation=AppInvitation.objects.get(), by=second.user)
    accept(member.user)

    assert roles() == {(owner.user_id, "member"), (second.user_id, "owner"), (member.user_id, "owner")}


def ask_to_own(owner, member):
    actions.change_role(member=member, role="owner", by=owner.user)


def hand_over(owner, member):
    actions.transfer_ownership(to=member, by=owner.user)


def ask_by_mail(owner, member):
    EmailAddress.objects.create(user=member.user, email="Second@example.org", verified=True)
    invite(owner, "second@example.org", role="owner")


@pytest.mark.parametrize("offer", [ask_to_own, hand_over, ask_by_mail])
@pytest.mark.parametrize("by_themselves", [False, True])
def test_nobody_comes_back_by_what_was_offered_before_they_went(owner, member, offer, by_themselves):
    other = invite(owner, "other@example.org")
    offer(owner, member)
    send_mails()
    actions.remove_member(member=member, by=member.user if by_themselves else owner.user)

    assert refused(lambda: accept(member.user)) == "invitation_ended"
    assert roles() == {(owner.user_id, "owner")}
    assert AppInvitation.objects.get(withdrawn_at=None) == other


def test_nobody_owns_an_app_again_by_what_was_offered_before_they_were_made_a_member(owner, member):
    ask_to_own(owner, member)
    AppMember.objects.filter(pk=member.pk).update(role="owner")  # by another invitation
    send_mails()
    actions.change_role(member=member, role="member", by=owner.user)

    assert refused(lambda: accept(member.user)) == "invitation_ended"
    assert roles() == {(owner.user_id, "owner"), (member.user_id, "member")}


def test_an_app_is_handed_over_to_a_member_alone(owner, member):
    hand_over(owner, member)
    member.delete()

    assert refused(lambda: accept(member.user)) == "invitation_ended"
    assert roles() == {(owner.user_id, "owner")}
    assert AppInvitation.objects.get().accepted_at is None


def test_of_a_closed_app_everybody_goes_the_last_owner_too(owner, member):
    close_app(app=owner.app, by=owner.user)

    assert refused(lambda: actions.remove_member(member=member, by=owner.user)) == "invalid_request"
    for one in (owner, member):
        actions.remove_member(member=one, by=one.user)
    assert roles() == set()


def test_who_owns_nothing_changes_nothing_but_may_leave(owner, member):
    for by in (member.user, PersonFactory()):
        for act in (
            lambda by=by: actions.change_role(member=owner, role="member", by=by),
            lambda by=by: actions.remove_member(member=owner, by=by),
            lambda by=by: actions.transfer_ownership(to=member, by=by),
            lambda by=by: invitations.invite(app=owner.app, email="a@b.example", by=by),
        ):
            assert refused(act) == "owner_required"

    actions.remove_member(member=member, by=member.user)

    assert [action for action, _ in audit_entries(owner.app)] == ["member.left"]
    assert AppMember.objects.get() == owner


def test_an_invitation_opens_the_app_to_its_address_alone(owner):
    invite(owner, " New@Example.org ")
    assert (send_mails(), send_mails()) == (1, 0)
    [letter] = mail.outbox
    secret = secret_in(letter)
    person = confirmed(email="new@example.org")

    assert letter.to == ["new@example.org"]
    assert AppInvitation.objects.get().digest == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(AppInvitation.objects.values().get())
    assert refused(lambda: invitations.accept_invitation(secret=secret, by=confirmed())) == "invitation_for_another"
    EmailAddress.objects.filter(user=person).update(verified=False)
    assert refused(lambda: invitations.accept_invitation(secret=secret, by=person)) == "invitation_for_another"
    EmailAddress.objects.filter(user=person).update(verified=True)
    joined = invitations.accept_invitation(secret=secret, by=person)
    assert (joined.app, joined.role, joined.shows_email) == (owner.app, "member", True)
    assert refused(lambda: invitations.accept_invitation(secret=secret, by=person)) == "invitation_ended"
    assert audit_entries(owner.app) == [
        ("invitation.made", {"address": "n…@example.org", "role": "member"}),
        ("invitation.accepted", {"member_id": AppMember.objects.get(user=person).member_id, "role": "member"}),
    ]


def test_one_invitation_is_open_for_an_address_and_another_mail_ends_the_first_link(owner):
    made = invite(owner, "new@example.org")
    assert refused(lambda: invite(owner, "NEW@example.org")) == "already_invited"
    send_mails()
    first = secret_in(mail.outbox[0])

    invitations.resend_invitation(invitation=made, by=owner.user)
    assert invitations.open_invitation(first) is None
    send_mails()
    second = secret_in(mail.outbox[1])
    assert first != second
    assert invitations.open_invitation(second) == made
    assert invitations.withdraw_invitation(invitation=made, by=owner.user) is True
    assert invitations.withdraw_invitation(invitation=made, by=owner.user) is False
    assert invitations.open_invitation(second) is None
    assert refused(lambda: invitations.resend_invitation(invitation=made, by=owner.user)) == "invitation_ended"


def test_an_invitation_ends_after_seven_days_and_with_the_ownership_of_who_invited(owner, member):
    invite(owner, "late@example.org")
    send_mails()
    late = secret_in(mail.outbox[-1])
    assert invitations.open_invitation(late) is not None
    AppInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert invitations.open_invitation(late) is None
    again = invite(owner, "late@example.org")

    actions.transfer_ownership(to=member, by=owner.user)
    accept(member.user)

    again.refresh_from_db()
    assert again.withdrawn_at is not None
    assert abs(timedelta(days=7) - (again.expires_at - again.created_at)) < timedelta(minutes=1)


def test_a_guess_tells_no_address_that_a_member_does_not_show(owner):
    person = confirmed(email="hidden@example.org")
    theirs = MemberFactory(app=owner.app, user=person, role="member", shows_email=False)

    assert invite(owner, "hidden@example.org").email == "hidden@example.org"
    assert audit_entries(owner.app) == [("invitation.made", {"address": "h…@example.org", "role": "member"})]
    assert accept(person).pk == theirs.pk  # they show it by that
    assert refused(lambda: invite(owner, "hidden@example.org")) == "already_member"


def test_accepting_as_a_member_changes_nothing_but_to_own(owner):
    person = confirmed(email="both@example.org")
    invite(owner, "both@example.org", role="owner")
    MemberFactory(app=owner.app, user=person, role="member")
    assert refused(lambda: invite(owner, "both@example.org")) == "already_member"
    send_mails()

    invitations.accept_invitation(secret=secret_in(mail.outbox[0]), by=person)

    assert AppMember.objects.get(user=person).role == "owner"


@pytest.mark.parametrize("email", ["", "nobody", "a@b", "a@b.example\nBcc: c@d.example", "a" * 250 + "@b.example"])
def test_what_is_no_address_is_not_invited(owner, email):
    assert refused(lambda: invite(owner, email)) == "invalid_request"


def test_invitations_of_a_day_are_limited(owner, settings):
    settings.INVITATIONS_PER_DAY = 3
    for number in range(3):
        invite(owner, f"a{number}@example.org")

    assert refused(lambda: invite(owner, "a9@example.org")) == "too_many_invitations"
    assert AppInvitation.objects.count() == 3


def test_members_of_a_test_app_say_themselves_that_it_may_ask_them(owner, member):
    actions.agree_to_tests(member=member, agreed=True, by=member.user)
    first = AppMember.objects.get(pk=member.pk).agreed_to_tests_at
    actions.agree_to_tests(member=member, agreed=True, by=member.user)
    assert first == AppMember.objects.get(pk=member.pk).agreed_to_tests_at is not None
    assert refused(lambda: actions.agree_to_tests(member=member, agreed=False, by=owner.user)) == "invalid_request"
    actions.agree_to_tests(member=member, agreed=False, by=member.user)
    assert AppMember.objects.get(pk=member.pk).agreed_to_tests_at is None
    assert [action for action, _ in audit_entries(owner.app)] == ["member.agreed_to_tests", "member.ended_tests"]
    live = MemberFactory()
    assert refused(lambda: actions.agree_to_tests(member=live, agreed=True, by=live.user)) == "invalid_request"


def test_a_mail_that_nobody_took_is_tried_again(owner, monkeypatch):
    def away(*_, **__):
        raise ConnectionRefusedError

    invite(owner, "new@example.org")
    with monkeypatch.context() as mail_server:
        mail_server.setattr("accounts.outbox.mail.send", away)
        assert send_mails() == 0
    assert send_mails() == 1


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("/developers/invitations/inv_{}/", "a" * 43),
        ("/accounts/password/reset/key/{}/", "3-d0abcd-0123456789abcdef"),
        ("/accounts/confirm-email/{}/", "MQ:1u2X3y:S-x_y"),
    ],
)
def test_the_logs_leave_out_what_a_link_opens(path: str, secret: str):
    assert redacted(f"GET {path.format(secret)}") == f"GET {path.format('[redacted]')}"
