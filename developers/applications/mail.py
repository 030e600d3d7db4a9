"""The mail to staff about all applications that came in, at most one in MAIL_PAUSE_SECONDS, to each who may decide."""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings

from accounts.models import User
from accounts.outbox import Gathering, send_mail
from common.clock import database_now
from common.sql.statements import lock_for_transaction
from developers.applications.models import DeveloperApplication
from developers.applications.queries import undecided_applications

STAFF_MAIL = "developers/mail/applications_wait"
_MOST_LINES = 20


def _due() -> Sequence[str]:
    """One mail or none; what came in less than a pause ago waits for the next."""
    if not undecided_applications().filter(staff_told_at=None).exists():
        return ()
    pause = timedelta(seconds=settings.MAIL_PAUSE_SECONDS)
    lately = DeveloperApplication.objects.filter(staff_told_at__gt=database_now() - pause)
    return () if lately.exists() else ("new",)


def _queue(_: str) -> None:
    lock_for_transaction("mail:applications")
    if not _due():
        return
    new = list(undecided_applications().filter(staff_told_at=None))
    DeveloperApplication.objects.filter(pk__in=[one.pk for one in new]).update(staff_told_at=database_now())
    context = {"new": new[:_MOST_LINES], "more": len(new) - _MOST_LINES, "count": undecided_applications().count()}
    for member in User.objects.filter(is_active=True, is_staff=True).order_by("pk"):
        if member.has_perm("developers.change_developerapplication"):
            send_mail(STAFF_MAIL, to=member, context=context, wake=False)


GATHERING = Gathering(_due, _queue)
