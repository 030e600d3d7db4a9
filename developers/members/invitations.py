"""Asking somebody by mail to join an app. Keyword-only, the one who acts as `by=`."""

from datetime import timedelta
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet

from common.clock import database_now
from common.mailboxes import mailbox
from common.problems import InvalidRequest
from developers.apps.audit import record
from developers.apps.models import App, AppStatus
from developers.members.errors import AlreadyInvited, AlreadyMember, InvitationEnded, InvitationForAnother
from developers.members.invitation_links import digest, has_form, new_secret
from developers.members.limits import count_invitation
from developers.members.models import AppInvitation, AppMember, MemberRole
from developers.members.policies import require_owner

if TYPE_CHECKING:
    from accounts.models import User

LIFETIME = timedelta(days=7)


def invite(*, app: App, email: str, by: "User", role: str = MemberRole.MEMBER) -> AppInvitation:
    """Ask whoever reads this address to join; the mail goes out at the next run of the worker.

    Raises `OwnerRequired`, `AlreadyMember`, `AlreadyInvited`, `InvalidRequest`, `TooManyInvitations`.
    """
    require_owner(app, by)
    address = _address(email)
    count_invitation(app=app, by=by, to=address)
    with transaction.atomic():
        _lock_as_owner(app, by)
        if AppMember.objects.filter(app=app, user__email=address).exists():
            raise AlreadyMember("Whoever has this address is a member already.")
        now = database_now()
        waiting = AppInvitation.objects.filter(app=app, email=address, accepted_at=None, withdrawn_at=None)
        waiting.filter(expires_at__lte=now).update(withdrawn_at=now)
        if waiting.exists():
            raise AlreadyInvited("Send it again, or withdraw it first.")
        made = AppInvitation.objects.create(
            app=app, email=address, role=role, digest=digest(new_secret()), invited_by=by, expires_at=now + LIFETIME
        )
        record(app=app, by=by, action="invitation.made", address=masked(address), role=role)
    return made


def resend_invitation(*, invitation: AppInvitation, by: "User") -> None:
    """Write the mail once more, with a new link; the old one ends. Raises as `invite`, and `InvitationEnded`."""
    require_owner(invitation.app, by)
    count_invitation(app=invitation.app, by=by, to=invitation.email)
    with transaction.atomic():
        _lock_as_owner(invitation.app, by)
        fresh = {"digest": digest(new_secret()), "expires_at": database_now() + LIFETIME, "mailed_at": None}
        if not _waiting(invitation.pk).update(**fresh, invited_by=by):
            raise InvitationEnded
        record(app=invitation.app, by=by, action="invitation.sent_again", address=masked(invitation.email))


@transaction.atomic
def withdraw_invitation(*, invitation: AppInvitation, by: "User") -> bool:
    """End an invitation; False where it had ended already. Raises `OwnerRequired`."""
    _lock_as_owner(invitation.app, by)
    if not _waiting(invitation.pk).update(withdrawn_at=database_now()):
        return False
    record(app=invitation.app, by=by, action="invitation.withdrawn", address=masked(invitation.email))
    return True


@transaction.atomic
def accept_invitation(*, secret: str, by: "User") -> AppMember:
    """`by` joins the app. Who is a member already stays what they are, or becomes the owner they were asked to be.

    Raises `InvitationEnded`, `InvitationForAnother`.
    """
    found = open_invitation(secret)
    if found is None:
        raise InvitationEnded
    if not is_for(found, by):
        raise InvitationForAnother("Sign in with the account of the address that the invitation went to.")
    App.objects.select_for_update().get(pk=found.app_id)
    now = database_now()
    claimed = _waiting(found.pk).filter(digest=found.digest, expires_at__gt=now)
    if not claimed.update(accepted_at=now, accepted_by=by):
        raise InvitationEnded
    member, is_new = AppMember.objects.get_or_create(app=found.app, user=by, defaults={"role": found.role})
    if not is_new:
        member.shows_email = True
        member.role = found.role if found.role == MemberRole.OWNER else member.role
        member.save(update_fields=["shows_email", "role"])
    record(app=found.app, by=by, action="invitation.accepted", user_id=by.public_id, role=found.role)
    return member


def open_invitation(secret: str) -> AppInvitation | None:
    """The invitation with this secret, where it can still be accepted."""
    if not has_form(secret):
        return None
    waiting = AppInvitation.objects.select_related("app__application", "invited_by").exclude(
        app__status=AppStatus.CLOSED
    )
    return waiting.filter(
        digest=digest(secret), accepted_at=None, withdrawn_at=None, expires_at__gt=database_now()
    ).first()


def is_for(invitation: AppInvitation, user: "User") -> bool:
    """Whether the invitation went to an address that this account has confirmed."""
    return bool(EmailAddress.objects.filter(user=user, verified=True, email__iexact=invitation.email).exists())


def masked(address: str) -> str:
    """What the audit, which nothing is deleted from, keeps of an address: `a…@example.org`."""
    local, _, domain = address.partition("@")
    return f"{local[:1]}…@{domain}"


def _address(email: str) -> str:
    address = mailbox(email)
    try:
        validate_email(address)
    except ValidationError:
        address = ""
    if not address or len(address) > 254:
        raise InvalidRequest("That is no e-mail address.")
    return address


def _waiting(pk: int) -> QuerySet[AppInvitation]:
    return AppInvitation.objects.filter(pk=pk, accepted_at=None, withdrawn_at=None)


def _lock_as_owner(app: App, by: "User") -> None:
    held = App.objects.select_for_update().get(pk=app.pk)
    require_owner(app, by)
    if held.status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")
