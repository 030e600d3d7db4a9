"""What is done to the team of an app. Keyword-only, the one who acts as `by=`.

Every change holds the app's row first, so that of two at once the second sees what the first did: two owners who remove
each other leave one.
"""

from django.db import transaction

from accounts.models import User
from common.clock import database_now
from common.problems import InvalidRequest, NotFound
from developers.apps.audit import record
from developers.apps.models import App, AppStatus
from developers.apps.policies import lock_open_app
from developers.members import invitations
from developers.members.errors import LastOwner
from developers.members.models import AppMember, MemberRole
from developers.members.policies import lock_as_owner, require_owner


def change_role(*, member: AppMember, role: str, by: User) -> None:
    """Make an owner a member; a member is asked whether they will own the app, and does once they accept.

    Raises `OwnerRequired`, `LastOwner`, `NotFound` where they are a member no more, and as `invite`.
    """
    if role == MemberRole.OWNER:
        if member.role != role:
            invitations.offer_ownership(to=member, by=by)
        return
    with transaction.atomic():
        lock_as_owner(member.app, by)
        current = _current_member(member)
        if current.role != role:
            _step_down(current, by)


def transfer_ownership(*, to: AppMember, by: User) -> None:
    """`by` becomes a member: at once where `to` is an owner, else when `to` has accepted to be one.

    Raises `OwnerRequired`, `NotFound`, `InvalidRequest`, and as `invite`.
    """
    require_owner(to.app, by)
    if to.user_id == by.pk:
        raise InvalidRequest("You own this app already.")
    if to.role != MemberRole.OWNER:
        invitations.offer_ownership(to=to, by=by, hands_over=True)
        return
    with transaction.atomic():
        lock_as_owner(to.app, by)
        _step_down(AppMember.objects.select_related("app", "user").get(app=to.app, user=by), by)


@transaction.atomic
def remove_member(*, member: AppMember, by: User) -> None:
    """Take somebody out of the team; of a closed one everybody may go themselves, its last owner too.

    Raises `OwnerRequired`, `LastOwner`, `NotFound`, `InvalidRequest`.
    """
    is_closed = App.objects.select_for_update(no_key=True).get(pk=member.app_id).status == AppStatus.CLOSED
    if member.user_id != by.pk:
        if is_closed:
            raise InvalidRequest("The app is closed.")
        require_owner(member.app, by)
    current = _current_member(member)
    if not is_closed:
        _keep_an_owner(current)
    action = "member.left" if current.user_id == by.pk else "member.removed"
    record(app=current.app, by=by, action=action, member_id=current.member_id, role=current.role)
    invitations.notify_of_lost_domain(app=current.app, user=current.user, by=by)
    invitations.withdraw_invitations_around(app=current.app, user=current.user)
    current.delete()


@transaction.atomic
def agree_to_tests(*, member: AppMember, agreed: bool, by: User) -> None:
    """Let a test app ask this member, or no longer; theirs alone to say. Raises `InvalidRequest`, `NotFound`."""
    if not member.app.is_test or member.user_id != by.pk:
        raise InvalidRequest("Members say for themselves whether a test app may ask them.")
    lock_open_app(member.app)
    current = _current_member(member)
    if (current.agreed_to_tests_at is not None) == agreed:
        return
    current.agreed_to_tests_at = database_now() if agreed else None
    current.save(update_fields=["agreed_to_tests_at"])
    action = "member.agreed_to_tests" if agreed else "member.ended_tests"
    record(app=current.app, by=by, action=action, member_id=current.member_id)


def _current_member(member: AppMember) -> AppMember:
    """The membership as it stands now that the app is locked."""
    current = AppMember.objects.select_related("app", "user").filter(pk=member.pk).first()
    if current is None:
        raise NotFound("They are not a member of this app.")
    return current


def _step_down(current: AppMember, by: User) -> None:
    _keep_an_owner(current)
    invitations.make_member(app=current.app, user=current.user, by=by)


def _keep_an_owner(current: AppMember) -> None:
    """One who can sign in; staff may have closed the account of another."""
    owners = AppMember.objects.filter(app=current.app, role=MemberRole.OWNER, user__is_active=True)
    if current.role == MemberRole.OWNER and not owners.exclude(pk=current.pk).exists():
        raise LastOwner("Make somebody else an owner first.")
