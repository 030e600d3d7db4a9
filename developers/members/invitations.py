"""Asking somebody by mail to join an app. Keyword-only, the one who acts as `by=`."""

from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from accounts.models import User, WayChange
from accounts.outbox import drop_mails, send_mail
from accounts.security_changes import note_change
from common.clock import database_now
from common.identifiers import secret_digest
from common.limits import Limit, count
from common.mail import mailbox
from common.problems import InvalidRequest, NotFound
from developers.apps.audit import record
from developers.apps.models import App, AppStatus
from developers.members import errors
from developers.members.invitation_links import has_form, mail_key, new_secret
from developers.members.models import AppInvitation, AppMember, MemberRole
from developers.members.policies import lock_as_owner, require_owner

_DAY = 86400  # seconds
_TO_ONE_PERSON = 5  # mails a day, whoever has them written
LIFETIME = timedelta(days=7)


def count_invitation(*, app: App, by: User, to: str) -> None:
    """Count one invitation of an app and of its member, to an address or a person. Raises `TooManyInvitations`.

    Before the transaction: a refusal must not undo its own count.
    """
    most = settings.INVITATIONS_PER_DAY
    for name, allowed, key in (
        ("invitations-by", most, by.public_id),
        ("invitations-app", most, app.app_id),
        ("invitations-to", _TO_ONE_PERSON if most else 0, to),
    ):
        count(Limit(name, allowed, _DAY), key).require(errors.TooManyInvitations, "Invite them tomorrow.")


def invite(*, app: App, email: str, by: User, role: str = MemberRole.MEMBER) -> AppInvitation:
    """Ask whoever reads this address to join, by mail.

    Raises `OwnerRequired`, `AlreadyMember`, `AlreadyInvited`, `InvalidRequest`, `TooManyInvitations`.
    """
    require_owner(app, by)
    address = _address(email)
    count_invitation(app=app, by=by, to=address)
    with transaction.atomic():
        lock_as_owner(app, by)
        # that of a member who shows none is answered as a stranger's: a guess would tell whose it is
        if AppMember.objects.filter(app=app, user__email=address, shows_email=True).exists():
            raise errors.AlreadyMember("Whoever has this address is a member already.")
        return _make(app, by, role, email=address)


def offer_ownership(*, to: AppMember, by: User, hands_over: bool = False) -> AppInvitation:
    """Ask a member to own the app, which nobody does unasked. Raises as `invite`, and `NotFound`.

    With `hands_over`, `by` becomes a member once they accept.
    """
    require_owner(to.app, by)
    count_invitation(app=to.app, by=by, to=to.user.public_id)
    with transaction.atomic():
        lock_as_owner(to.app, by)
        if not AppMember.objects.filter(pk=to.pk).exists():
            raise NotFound("They are not a member of this app.")
        return _make(to.app, by, MemberRole.OWNER, person=to.user, hands_over=hands_over)


def _make(app: App, by: User, role: str, **whom: Any) -> AppInvitation:
    """The row of an invitation; `whom` names an `email` or a `person`. The app is locked."""
    now = database_now()
    invitee = {name: value for name, value in whom.items() if name != "hands_over"}
    pending = AppInvitation.objects.filter(app=app, accepted_at=None, withdrawn_at=None, **invitee)
    pending.filter(expires_at__lte=now).update(withdrawn_at=now)
    if pending.exists():
        raise errors.AlreadyInvited("Send it again, or withdraw it first.")
    secret = new_secret()
    made: AppInvitation = AppInvitation.objects.create(
        app=app, role=role, digest=secret_digest(secret), invited_by=by, expires_at=now + LIFETIME, **whom
    )
    _write(made, secret)
    record(app=app, by=by, action="invitation.made", address=_recorded_address(made), role=role)
    return made


def resend_invitation(*, invitation: AppInvitation, by: User) -> None:
    """Write the mail once more, with a new link; the old one ends. Raises as `invite`, and `InvitationEnded`."""
    require_owner(invitation.app, by)
    to = invitation.email or invitation.person.public_id  # type: ignore[union-attr]  # one of the two is there
    count_invitation(app=invitation.app, by=by, to=to)
    with transaction.atomic():
        lock_as_owner(invitation.app, by)
        secret = new_secret()
        fresh = {"digest": secret_digest(secret), "expires_at": database_now() + LIFETIME}
        if not invitation.hands_over:  # who hands the app over stays who began it
            fresh["invited_by"] = by
        if not _pending(invitation.pk).update(**fresh):
            raise errors.InvitationEnded()
        _write(AppInvitation.objects.select_related("app", "invited_by", "person").get(pk=invitation.pk), secret)
        record(app=invitation.app, by=by, action="invitation.sent_again", address=_recorded_address(invitation))


@transaction.atomic
def withdraw_invitation(*, invitation: AppInvitation, by: User) -> bool:
    """End an invitation; False where it had ended already. Raises `OwnerRequired`."""
    lock_as_owner(invitation.app, by)
    if not _withdraw(_pending(invitation.pk)):
        return False
    record(app=invitation.app, by=by, action="invitation.withdrawn", address=_recorded_address(invitation))
    return True


@transaction.atomic
def accept_invitation(*, secret: str, by: User) -> AppMember:
    """`by` joins the app. Who is a member already stays what they are, or becomes the owner they were asked to be.

    Where the app was handed over to them, whoever did that owns it no more; it goes to a member alone.

    Raises `InvitationEnded`, `InvitationForAnother`.
    """
    found = open_invitation(secret)
    if found is None:
        raise errors.InvitationEnded()
    if not is_for(found, by):
        raise errors.InvitationForAnother("Sign in with the account of the address that the invitation went to.")
    App.objects.select_for_update(no_key=True).get(pk=found.app_id)
    now = database_now()
    claimed = _pending(found.pk).filter(digest=found.digest, expires_at__gt=now)
    is_member = AppMember.objects.filter(app=found.app, user=by).exists()
    if (found.hands_over and not is_member) or not claimed.update(accepted_at=now, accepted_by=by):
        raise errors.InvitationEnded()
    joins = {"role": found.role, "shows_email": found.person is None}
    member, is_new = AppMember.objects.get_or_create(app=found.app, user=by, defaults=joins)
    if not is_new:
        member.shows_email = member.shows_email or found.person is None
        member.role = found.role if found.role == MemberRole.OWNER else member.role
        member.save(update_fields=["shows_email", "role"])
    record(app=found.app, by=by, action="invitation.accepted", member_id=member.member_id, role=found.role)
    if found.hands_over:
        make_member(app=found.app, user=found.invited_by, by=by)
    return member


def make_member(*, app: App, user: User, by: User) -> None:
    """`user` owns the app no more, nor by what was offered before. The app is locked, and somebody else owns it."""
    membership = AppMember.objects.get(app=app, user=user)
    membership.role = MemberRole.MEMBER
    membership.save(update_fields=["role"])
    record(app=app, by=by, action="member.role_changed", member_id=membership.member_id, role=membership.role)
    notify_of_lost_domain(app=app, user=user, by=by)
    withdraw_invitations_around(app=app, user=user)


def notify_of_lost_domain(*, app: App, user: User, by: User) -> None:
    """Whoever does it is told already (developers/apps/audit.py)."""
    if user != by:
        note_change(of=user, kind=WayChange.APP_TEAM_CHANGED, detail=app.name)


def withdraw_invitations_around(*, app: App, user: User) -> None:
    """What somebody invited as an owner, or was asked to be, must not let them in again once that was taken away."""
    theirs = EmailAddress.objects.filter(user=user, verified=True, email__iexact=OuterRef("email"))
    pending = AppInvitation.objects.filter(app=app, accepted_at=None, withdrawn_at=None)
    _withdraw(pending.filter(Q(invited_by=user) | Q(person=user) | Exists(theirs)))


@transaction.atomic
def withdraw_all_of(*, user: User, **_: object) -> None:
    """End what they invited everywhere: whoever used their account meanwhile may have asked somebody of their own."""
    pending = AppInvitation.objects.filter(invited_by=user, accepted_at=None, withdrawn_at=None)
    for invitation in pending.select_related("app", "person"):
        if _withdraw(_pending(invitation.pk)):
            record(app=invitation.app, by=None, action="invitation.withdrawn", address=_recorded_address(invitation))


def open_invitation(secret: str) -> AppInvitation | None:
    """The invitation with this secret, where it can still be accepted."""
    if not has_form(secret):
        return None
    pending = AppInvitation.objects.select_related("app__application", "invited_by", "person").exclude(
        app__status=AppStatus.CLOSED
    )
    return pending.filter(
        digest=secret_digest(secret), accepted_at=None, withdrawn_at=None, expires_at__gt=database_now()
    ).first()


def is_for(invitation: AppInvitation, user: User) -> bool:
    """Whether the invitation is for this account, or went to an address that it has confirmed."""
    if invitation.person_id is not None:
        return invitation.person_id == user.pk
    return bool(EmailAddress.objects.filter(user=user, verified=True, email__iexact=invitation.email).exists())


def masked(address: str) -> str:
    """What the audit, which nothing is deleted from, keeps of an address: `a…@example.org`."""
    local, _, domain = address.partition("@")
    return f"{local[:1]}…@{domain}"


def _recorded_address(invitation: AppInvitation) -> str:
    if invitation.person is None:
        return masked(invitation.email)
    known = AppMember.objects.filter(app=invitation.app, user=invitation.person)
    return known.values_list("member_id", flat=True).first() or ""


def _address(email: str) -> str:
    address = mailbox(email)
    try:
        validate_email(address)
    except ValidationError:
        address = ""
    if not address or len(address) > 254:
        raise InvalidRequest("That is no e-mail address.")
    return address


def _pending(pk: int) -> QuerySet[AppInvitation]:
    return AppInvitation.objects.filter(pk=pk, accepted_at=None, withdrawn_at=None)


def _withdraw(pending: QuerySet[AppInvitation]) -> int:
    pks = list(pending.values_list("pk", flat=True))
    still = AppInvitation.objects.filter(pk__in=pks, accepted_at=None, withdrawn_at=None)
    withdrawn = still.update(withdrawn_at=database_now())
    drop_mails(*map(mail_key, pks))  # afterwards: one that is sent again meanwhile has left its mail by then
    return withdrawn


def _write(invitation: AppInvitation, secret: str) -> None:
    """In the language of the account that the address belongs to, or of whoever invites a stranger."""
    known = User.objects.filter(email=invitation.email, is_active=True)
    reader = invitation.person or known.first() or invitation.invited_by
    link = f"{settings.ISSUER}{reverse('portal:invitation', args=[secret])}"
    send_mail(
        "developers/mail/invitation",
        to=reader,
        address=invitation.email,
        context={"invitation": invitation, "app": invitation.app, "link": link},
        key=mail_key(invitation.pk),
    )
