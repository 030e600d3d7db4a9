"""What is asked about applications more than once."""

from django.db.models import QuerySet

from developers.applications.models import DeveloperApplication


def waiting_applications() -> QuerySet[DeveloperApplication]:
    """The applications that nobody has decided, the oldest first."""
    return DeveloperApplication.objects.filter(status="submitted").order_by("created_at")
