"""Mail to the members of an app when staff suspend or restore it, and when it ends with its last owner's account.

The entries of the app's audit are the queue.
"""

import logging
import smtplib

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import translation

from accounts.language import language_for
from common import mail
from common.clock import database_now
from common.shutdown import shutdown
from developers.apps.models import TOLD_TO_MEMBERS, AppAuditEntry
from developers.members.models import AppMember

_log = logging.getLogger(__name__)


def is_due() -> bool:
    """Whether there is anything that members were not told."""
    return _untold().exists()


def write_to_members(*, limit: int = 100) -> int:
    """Write about what nobody was told yet, the oldest first; returns how many entries that were.

    Where the mail server takes nothing, what is left waits for the next run.
    """
    told = 0
    for entry_pk in list(_untold().order_by("pk").values_list("pk", flat=True)[:limit]):
        if shutdown.has_begun():
            break
        try:
            told += _write_about(entry_pk)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return told


def _untold() -> QuerySet[AppAuditEntry]:
    return AppAuditEntry.objects.filter(action__in=TOLD_TO_MEMBERS, told_at=None)


def _write_about(entry_pk: int) -> bool:
    """One mail to each member, in their language. The row first: a mail that fails takes it back."""
    with transaction.atomic():
        held = AppAuditEntry.objects.select_for_update(skip_locked=True, of=("self",)).select_related("app")
        entry = held.filter(pk=entry_pk, told_at=None).first()
        if entry is None:
            return False  # another worker has it
        AppAuditEntry.objects.filter(pk=entry_pk).update(told_at=database_now())
        left = AppMember.objects.filter(app=entry.app_id, user__is_active=True)
        for member in left.select_related("user").order_by("pk"):
            _write(entry, member)
    return True


def _write(entry: AppAuditEntry, member: AppMember) -> None:
    name = entry.action.removeprefix("app.")
    context = {"app": entry.app, "note": entry.facts.get("note", ""), "issuer": settings.ISSUER}
    with translation.override(language_for(member.user)):
        subject = render_to_string(f"developers/mail/{name}_subject.txt", context).strip()
        body = render_to_string(f"developers/mail/{name}.txt", context)
    try:
        mail.send(subject, body, member.user.email)
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
        _log.warning("A member's address is refused; they are not told about #%s", entry.pk)
