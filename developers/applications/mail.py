"""Mail about applications: to staff when some wait, to the applicant at each decision. The rows say what is due."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from common.clock import database_now
from common.shutdown import shutdown
from common.sql.statements import lock_for_transaction
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.applications.queries import waiting_applications
from developers.apps import mail
from developers.apps.models import App

_MOST_LINES = 20
_ANSWERED = (ApplicationStatus.APPROVED, ApplicationStatus.SENT_BACK, ApplicationStatus.REJECTED)
_log = logging.getLogger(__name__)


def is_due() -> bool:
    """Whether there is anything that somebody was not told, be it too early or not."""
    lost = App.objects.exclude(lost_domain="")
    return _answered().exists() or lost.exists() or waiting_applications().filter(staff_told_at=None).exists()


def send_due_mails(*, limit: int = 100) -> int:
    """Write what is due; returns about how many rows somebody was written to. What is not taken is tried again."""
    written = 0
    try:
        for application_pk in _answered().values_list("pk", flat=True)[:limit]:
            if shutdown.has_begun():
                return written
            written += _tell_applicant(application_pk)
        for app_pk in App.objects.exclude(lost_domain="").values_list("pk", flat=True)[:limit]:
            written += _tell_owners(app_pk)
        written += _tell_staff()
    except OSError:  # smtplib's exceptions are of this kind too
        _log.exception("The mail server takes nothing; what is left waits for the next run")
    return written


def _answered() -> QuerySet[DeveloperApplication]:
    return DeveloperApplication.objects.filter(status__in=_ANSWERED, applicant_told_at=None).order_by("reviewed_at")


@transaction.atomic
def _tell_applicant(application_pk: int) -> int:
    """The row first, the mail inside its transaction: a mail that fails takes the row back, none goes out twice."""
    if not _answered().filter(pk=application_pk).update(applicant_told_at=database_now()):
        return 0
    application = DeveloperApplication.objects.select_related("applicant", "app").get(pk=application_pk)
    mail.send(
        to=application.applicant,
        about=f"application_{application.status}",
        context={"application": application, "app": getattr(application, "app", None)},
    )
    return 1


@transaction.atomic
def _tell_owners(app_pk: int) -> int:
    app = App.objects.select_for_update().get(pk=app_pk)
    lost, told = app.lost_domain, 0
    App.objects.filter(pk=app_pk).update(lost_domain="")
    for member in app.members.filter(role="owner").select_related("user") if lost else ():
        mail.send(to=member.user, about="domain_lost", context={"app": app, "domain": lost})
        told = 1
    return told


@transaction.atomic
def _tell_staff() -> int:
    """One mail about all that came in, at most once in MAIL_PAUSE_SECONDS, to each who may decide."""
    lock_for_transaction("mail:applications")
    now = database_now()
    new = list(waiting_applications().filter(staff_told_at=None))
    if not new or _told_lately(now):
        return 0
    DeveloperApplication.objects.filter(pk__in=[one.pk for one in new]).update(staff_told_at=now)
    context = {"new": new[:_MOST_LINES], "more": len(new) - _MOST_LINES, "count": waiting_applications().count()}
    for member in _who_decide():
        mail.send(to=member, about="applications_wait", context=context)
    return len(new)


def _told_lately(now: datetime) -> bool:
    pause = timedelta(seconds=settings.MAIL_PAUSE_SECONDS)
    return DeveloperApplication.objects.filter(staff_told_at__gt=now - pause).exists()


def _who_decide() -> list[User]:
    staff = get_user_model().objects.filter(is_active=True, is_staff=True).order_by("pk")
    return [one for one in staff if one.has_perm("developers.change_developerapplication")]
