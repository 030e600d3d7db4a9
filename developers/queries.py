"""What is asked about apps and tokens more than once."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from developers.models import App, DeveloperApplication, DeveloperToken


def app_by_id(app_id: str) -> App | None:
    """The app with this public id."""
    return App.objects.select_related("application").filter(app_id=app_id).first()


def live_tokens() -> QuerySet[DeveloperToken]:
    """The tokens that work now; a rotated one works until its overlap ends."""
    now = timezone.now()
    return DeveloperToken.objects.filter(Q(revoked_at=None) | Q(revoked_at__gt=now), expires_at__gt=now)


def waiting_applications() -> QuerySet[DeveloperApplication]:
    """The applications that nobody has decided, the oldest first."""
    return DeveloperApplication.objects.filter(status="submitted").order_by("created_at")
