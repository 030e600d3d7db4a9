"""What is asked about tokens more than once."""

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from developers.apps.models import App
from developers.tokens.models import DeveloperToken, ManagementToken


def lives() -> Q:
    """Which tokens work now; a rotated one works until its overlap ends."""
    now = timezone.now()
    return (Q(revoked_at=None) | Q(revoked_at__gt=now)) & Q(expires_at__gt=now)


def live_tokens() -> QuerySet[DeveloperToken]:
    """The tokens that work now; a rotated one works until its overlap ends."""
    return DeveloperToken.objects.filter(lives())


def tokens_of(app: App) -> QuerySet[DeveloperToken]:
    """All tokens that the app ever had, the newest first."""
    return DeveloperToken.objects.filter(app=app).select_related("app", "created_by").order_by("-created_at", "-pk")


def made_lately(user: User) -> QuerySet[DeveloperToken]:
    """The tokens that this person, or a program of theirs, made in the last 30 days and that still work, newest first.

    Of the apps that they manage: they can end those.
    """
    since = timezone.now() - timedelta(days=30)
    made = live_tokens().filter(created_by=user, created_at__gt=since, app__members__user=user)
    return made.select_related("app").order_by("-created_at", "-pk")


def live_management_tokens(user: User) -> QuerySet[ManagementToken]:
    """The management tokens of this person that work now."""
    return ManagementToken.objects.filter(lives(), user=user)


def management_tokens_of(user: User) -> QuerySet[ManagementToken]:
    """All management tokens that this person ever had, the newest first."""
    return ManagementToken.objects.filter(user=user).order_by("-created_at", "-pk")
