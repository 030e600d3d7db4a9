"""The pages of an app's team, and the page that an invitation leads to."""

from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from developers.apps.audit import record
from developers.members import actions
from developers.members.models import AppMember
from developers.models import AppInvitation
from tests.developers.test_team import accept, browser, confirmed, invite, member, owner, roles, secret_in
from tests.factories import MemberFactory, StaffFactory
from tests.outbox import send_mails

__all__ = ["member", "owner"]  # fixtures


def test_an_owner_does_everything_on_the_page_and_leaves(owner, member):
    page, here = browser(owner.user), f"/developers/apps/{owner.app.app_id}"
    assert page.post(f"{here}/members/invite/", {"email": "new@example.org", "role": "member"}).status_code == 302
    again = page.post(f"{here}/members/invite/", {"email": "new@example.org", "role": "member"})
    assert (again.status_code, "An invitation to this address is open" in again.content.decode()) == (409, True)
    assert page.post(f"{here}/members/invite/", {"email": "nobody", "role": "member"}).status_code == 400
    assert page.post(f"{here}/members/invite/", {"email": "a@b.example", "role": "king"}).status_code == 400
    invited = AppInvitation.objects.get()
    assert page.post(f"{here}/invitations/{invited.pk}/send/").status_code == 302
    assert page.post(f"{here}/invitations/{invited.pk}/withdraw/").status_code == 302
    assert page.post(f"{here}/invitations/{invited.pk + 1}/withdraw/").status_code == 404
    them = f"{here}/members/{member.member_id}"
    assert page.post(f"{them}/role/", {"role": "king"}).status_code == 400
    assert page.post(f"{them}/role/", {"role": "owner"}).status_code == 302
    assert page.post(f"{them}/transfer/").status_code == 409  # an invitation to own it is open
    assert member.user.email in page.get(f"{here}/members/").content.decode().replace("<wbr>", "")
    offered = AppInvitation.objects.get(person=member.user)
    assert page.post(f"{here}/invitations/{offered.pk}/withdraw/").status_code == 302
    assert page.post(f"{here}/members/usr_unknown/remove/").status_code == 404
    assert page.post(f"{here}/members/tests/", {"agreed": "yes"}).status_code == 302
    assert page.post(f"{them}/transfer/").status_code == 302
    accept(member.user)
    assert page.post(f"{them}/remove/").status_code == 403
    assert page.get(f"{here}/members/").status_code == 200
    assert page.get(f"{here}/members/invite/").status_code == 405
    assert page.post(f"{here}/members/leave/")["Location"] == "/developers/"
    assert page.get(f"{here}/members/").status_code == 404


def test_a_member_owns_the_app_when_they_say_so_on_its_page(owner, member):
    actions.transfer_ownership(to=member, by=owner.user)
    send_mails()
    path = f"/developers/invitations/{secret_in(mail.outbox[0])}/"

    assert f"{owner.user.email} wants to hand the app" in mail.outbox[0].body
    assert "whoever invites you owns it no more" in browser(member.user).get(path).content.decode()
    assert browser(owner.user).post(path).status_code == 403
    assert browser(member.user).post(path).status_code == 302
    assert roles() == {(owner.user_id, "member"), (member.user_id, "owner")}


def test_an_invitation_is_accepted_on_its_page_after_signing_in(owner):
    invite(owner, "new@example.org")
    send_mails()
    path = f"/developers/invitations/{secret_in(mail.outbox[0])}/"
    stranger = Client()

    shown = stranger.get(path)
    assert shown.status_code == 200
    assert f"?next={path}".replace("/", "%2F") in shown.content.decode()
    assert shown["Referrer-Policy"] == "no-referrer"
    assert stranger.post(path)["Location"].startswith("/accounts/login/")
    assert browser(confirmed()).post(path).status_code == 403
    answer = browser(confirmed(email="new@example.org")).post(path)
    assert answer["Location"] == f"/developers/apps/{owner.app.app_id}/"
    assert stranger.get(path).status_code == 404
    assert stranger.get("/developers/invitations/%00/").status_code == 404
    assert stranger.put(path).status_code == 405


def test_whoever_has_yet_to_confirm_the_invited_address_is_told_so(owner):
    invite(owner, "new@example.org")
    send_mails()
    path, user = f"/developers/invitations/{secret_in(mail.outbox[0])}/", confirmed()

    assert f"You are signed in as {user.email}." in browser(user).get(path).content.decode()
    EmailAddress.objects.create(user=user, email="New@example.org")
    assert "Confirm new@example.org first." in browser(user).get(path).content.decode()


def test_the_audit_shows_no_address_that_was_not_given_to_the_team(owner, member):
    record(app=owner.app, by=member.user, action="member.agreed_to_tests")
    AppMember.objects.filter(pk=member.pk).update(shows_email=False)
    AppInvitation.objects.create(
        app=owner.app, person=member.user, role="member", digest="0" * 64, invited_by=owner.user,
        expires_at=owner.created_at, accepted_at=owner.created_at, accepted_by=member.user,
    )  # fmt: skip

    def audit():
        text = browser(owner.user).get(f"/developers/apps/{owner.app.app_id}/audit/").content.decode()
        return [
            words in text.replace("<wbr>", "") for words in (member.user.email, member.member_id, "A former member")
        ]

    assert audit() == [False, True, False]
    member.delete()
    assert audit() == [False, False, True]


def test_the_audit_names_nobody_whom_the_team_never_knew(owner):
    def audit():
        text = browser(owner.user).get(f"/developers/apps/{owner.app.app_id}/audit/").content.decode()
        return text.replace("<wbr>", "")

    staff, gone = StaffFactory(), MemberFactory(app=owner.app)
    record(app=owner.app, by=staff, action="app.suspended", note="Look")
    record(app=owner.app, by=gone.user, action="member.left")
    gone.delete()
    staff.is_staff = staff.is_superuser = False  # as somebody who works here no longer, or was erased since
    staff.save()
    shown = audit()
    assert [words in shown for words in (staff.email, gone.user.email, "Staff", "A former member")] == [
        False, False, True, True,
    ]  # fmt: skip

    invite(owner, "new@example.org")
    joined = accept(confirmed(email="new@example.org"))
    joined.delete()
    type(joined.user).objects.filter(pk=joined.user.pk).update(email="other@example.org")
    shown = audit()
    assert ("new@example.org" in shown, "other@example.org" in shown) == (True, False)


def test_the_only_owner_is_not_offered_to_leave(owner, member):
    page = f"/developers/apps/{owner.app.app_id}/members/"
    found = ["Leave the team" in browser(one.user).get(page).content.decode() for one in (owner, member)]
    assert found == [False, True]


def test_the_last_owner_of_a_closed_app_may_leave_and_of_an_open_one_only_if_another_can_sign_in(owner, member):
    page = f"/developers/apps/{owner.app.app_id}/members/"
    other = MemberFactory(app=owner.app, role="owner", user__is_active=False)
    offered = lambda: "Leave the team" in browser(owner.user).get(page).content.decode()  # noqa: E731

    before = offered()
    other.user.is_active = True
    other.user.save()
    with_another = offered()
    other.delete()
    owner.app.status = "closed"
    owner.app.save()

    assert (before, with_another, offered()) == (False, True, True)
