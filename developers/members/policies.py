"""Who may change the team of an app."""

from typing import TYPE_CHECKING

from developers.apps.models import App
from developers.members.errors import OwnerRequired
from developers.members.models import AppMember, MemberRole

if TYPE_CHECKING:
    from accounts.models import User


def require_owner(app: App, user: "User") -> None:
    """Raise `OwnerRequired` where this person does not own the app now."""
    if not AppMember.objects.filter(app=app, user=user, role=MemberRole.OWNER).exists():
        raise OwnerRequired
