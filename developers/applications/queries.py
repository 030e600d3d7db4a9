"""What is asked about applications more than once."""

from django.db.models import QuerySet

from accounts.models import User
from developers.applications.models import ApplicationStatus, DeveloperApplication

OPEN = (ApplicationStatus.SUBMITTED, ApplicationStatus.SENT_BACK)


def undecided_applications() -> QuerySet[DeveloperApplication]:
    """The applications that nobody has decided, the oldest first."""
    return DeveloperApplication.objects.filter(status=ApplicationStatus.SUBMITTED).order_by("created_at")


def applications_of(user: User) -> QuerySet[DeveloperApplication]:
    """What this person applied for, the newest first, with the app that came of it."""
    return DeveloperApplication.objects.select_related("app").filter(applicant=user).order_by("-pk")


def open_applications_of(user: User) -> QuerySet[DeveloperApplication]:
    """Those of them that are not decided for good."""
    return applications_of(user).filter(status__in=OPEN)
