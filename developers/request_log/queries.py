"""What is asked about an app's calls more than once."""

from django.db.models import Q, QuerySet

from developers.apps.models import App
from developers.request_log.models import LoggedRequest

FAILED = Q(status__gte=400) | ~Q(code="")  # a tool that refuses answers 200, with the code


def calls_of(app: App) -> QuerySet[LoggedRequest]:
    """The calls of this app, newest first."""
    return LoggedRequest.objects.filter(app=app).order_by("-id")
