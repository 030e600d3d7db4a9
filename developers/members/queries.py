"""What is asked about members more than once."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from developers.apps.models import App
from developers.members.models import AppMember, MemberRole

if TYPE_CHECKING:
    from accounts.models import User


def first_owner(app: App) -> "User":
    """Who has owned the app the longest; it always has an owner."""
    member = AppMember.objects.select_related("user").filter(app=app, role=MemberRole.OWNER).earliest("pk")
    owner: User = member.user
    return owner


def memberships_of(user: "User") -> QuerySet[AppMember]:
    """The apps that this person may manage, with their role, the newest first."""
    return AppMember.objects.select_related("app__application").filter(user=user).order_by("-app__created_at", "-pk")
