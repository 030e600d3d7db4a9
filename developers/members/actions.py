"""What is done to the team of an app. Keyword-only, the one who acts as `by=`.

Every change holds the app's row first, so that of two at once the second sees what the first did: two owners who remove
each other leave one.
"""

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from common.clock import database_now
from common.identifiers import is_identifier
from common.problems import InvalidRequest, NotFound
from developers.apps.audit import record
from developers.apps.models import App, AppStatus
from developers.members.errors import AlreadyMember, LastOwner
from developers.members.limits import count_invitation
from developers.members.models import AppInvitation, AppMember, MemberRole
from developers.members.policies import require_owner

if TYPE_CHECKING:
    from accounts.models import User


def add_member(*, app: App, user_id: str, by: "User", role: str = MemberRole.MEMBER) -> AppMember:
    """Make the person with this sharing ID a member at once; they are told by mail.

    Raises `OwnerRequired`, `NotFound`, `AlreadyMember`, `InvalidRequest`, `TooManyInvitations`.
    """
    require_owner(app, by)
    person = _person(user_id)
    count_invitation(app=app, by=by, to=person.public_id)
    with transaction.atomic():
        _lock_as_owner(app, by)
        added = {"role": role, "shows_email": False, "mail_due": True}
        member, is_new = AppMember.objects.get_or_create(app=app, user=person, defaults=added)
        if not is_new:
            raise AlreadyMember("This person is a member already.")
        record(app=app, by=by, action="member.added", user_id=person.public_id, role=role)
    return member


@transaction.atomic
def change_role(*, member: AppMember, role: str, by: "User") -> AppMember:
    """Raises `OwnerRequired`, `LastOwner`, `NotFound` where they are a member no more."""
    _lock_as_owner(member.app, by)
    held = _held(member)
    if held.role == role:
        return held
    _set_role(held, role, by)
    return held


@transaction.atomic
def transfer_ownership(*, to: AppMember, by: "User") -> None:
    """`to` becomes an owner and `by` a member. Raises `OwnerRequired`, `NotFound`, `InvalidRequest`."""
    _lock_as_owner(to.app, by)
    held = _held(to)
    if held.user_id == by.pk:
        raise InvalidRequest("You own this app already.")
    if held.role != MemberRole.OWNER:
        _set_role(held, MemberRole.OWNER, by)
    _set_role(AppMember.objects.get(app=to.app, user=by), MemberRole.MEMBER, by)


@transaction.atomic
def remove_member(*, member: AppMember, by: "User") -> None:
    """Take somebody out of the team, oneself too. Raises `OwnerRequired`, `LastOwner`, `NotFound`."""
    _lock(member.app)
    if member.user_id != by.pk:
        require_owner(member.app, by)
    held = _held(member)
    _keep_an_owner(held)
    action = "member.left" if held.user_id == by.pk else "member.removed"
    record(app=held.app, by=by, action=action, user_id=held.user.public_id, role=held.role)
    _withdraw_invitations_by(held)
    held.delete()


@transaction.atomic
def agree_to_tests(*, member: AppMember, agreed: bool, by: "User") -> None:
    """Let a test app ask this member, or no longer; theirs alone to say. Raises `InvalidRequest`, `NotFound`."""
    if not member.app.is_test or member.user_id != by.pk:
        raise InvalidRequest("Members say for themselves whether a test app may ask them.")
    _lock(member.app)
    held = _held(member)
    if (held.agreed_to_tests_at is not None) == agreed:
        return
    held.agreed_to_tests_at = database_now() if agreed else None
    held.save(update_fields=["agreed_to_tests_at"])
    action = "member.agreed_to_tests" if agreed else "member.ended_tests"
    record(app=held.app, by=by, action=action, user_id=by.public_id)


def _person(user_id: str) -> "User":
    known_form = user_id if is_identifier(user_id) else ""
    found = get_user_model().objects.filter(is_active=True, public_id=known_form).first()
    if found is None or not found.has_verified_email:
        raise NotFound("Nobody with a confirmed address has this sharing ID.")
    return found


def _lock(app: App) -> None:
    held = App.objects.select_for_update().get(pk=app.pk)
    if held.status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")


def _lock_as_owner(app: App, by: "User") -> None:
    _lock(app)
    require_owner(app, by)


def _held(member: AppMember) -> AppMember:
    """The membership as it stands now that the app is locked."""
    held = AppMember.objects.select_related("app", "user").filter(pk=member.pk).first()
    if held is None:
        raise NotFound("They are not a member of this app.")
    return held


def _set_role(held: AppMember, role: str, by: "User") -> None:
    if role != MemberRole.OWNER:
        _keep_an_owner(held)
        _withdraw_invitations_by(held)
    held.role = role
    held.save(update_fields=["role"])
    record(app=held.app, by=by, action="member.role_changed", user_id=held.user.public_id, role=role)


def _keep_an_owner(held: AppMember) -> None:
    owners = AppMember.objects.filter(app=held.app, role=MemberRole.OWNER)
    if held.role == MemberRole.OWNER and not owners.exclude(pk=held.pk).exists():
        raise LastOwner("Make somebody else an owner first.")


def _withdraw_invitations_by(held: AppMember) -> None:
    """What somebody invited as an owner must not let them in again when they are none."""
    waiting = AppInvitation.objects.filter(app=held.app, invited_by=held.user, accepted_at=None, withdrawn_at=None)
    waiting.update(withdrawn_at=database_now())
