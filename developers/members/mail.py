"""Mail about teams: to whom an app invites. The rows say what is due."""

import logging
import smtplib
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from accounts.language import language_for
from common import mail
from common.clock import database_now
from common.shutdown import shutdown
from developers.members.invitation_links import digest, new_secret
from developers.members.models import AppInvitation

if TYPE_CHECKING:
    from accounts.models import User

_log = logging.getLogger(__name__)


def is_due() -> bool:
    """Whether anybody is to be written to."""
    return _invitations().exists()


def send_due_mails(*, limit: int = 100) -> int:
    """Write what is due; returns how many mails went out. What is not taken is tried again at the next run."""
    written = 0
    for pk in list(_invitations().values_list("pk", flat=True)[:limit]):
        if shutdown.has_begun():
            break
        try:
            written += _write_invitation(pk)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError):
            _log.warning("One mail about a team was not taken; it is tried again", exc_info=True)
        except OSError:  # smtplib's exceptions are of this kind too: nobody's mail goes out now
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


def _invitations() -> QuerySet[AppInvitation]:
    return AppInvitation.objects.filter(
        mailed_at=None, accepted_at=None, withdrawn_at=None, expires_at__gt=database_now()
    ).order_by("pk")


@transaction.atomic
def _write_invitation(pk: int) -> bool:
    """The row first, the mail inside its transaction: one that fails takes the row back, and none goes out twice.

    The secret is made here, and is nowhere but in the mail.
    """
    secret = new_secret()
    if not _invitations().filter(pk=pk).update(digest=digest(secret), mailed_at=database_now()):
        return False
    invitation = AppInvitation.objects.select_related("app__application", "invited_by", "person").get(pk=pk)
    known = get_user_model().objects.filter(email=invitation.email, is_active=True)
    reader = invitation.person or known.first() or invitation.invited_by
    address = invitation.email or reader.email
    link = f"{settings.ISSUER}{reverse('developers:invitation', args=[secret])}"
    context = {"invitation": invitation, "app": invitation.app, "link": link}
    return _send(address, reader, context)


def _send(address: str, reader: "User", context: dict[str, Any]) -> bool:
    """Write the mail in the language of `reader`, who may be whoever invites a stranger.

    False where the address is refused for good; raises what smtplib raises where it may be taken later.
    """
    with translation.override(language_for(reader)):
        subject = render_to_string("developers/mail/invitation_subject.txt", context).strip()
        body = render_to_string("developers/mail/invitation.txt", context)
    try:
        mail.send(subject, body, address)
    except smtplib.SMTPRecipientsRefused as refused:
        if any(code < 500 for code, _ in refused.recipients.values()):
            raise
        _log.warning("An address is refused for good; an invitation is given up")
        return False
    return True
