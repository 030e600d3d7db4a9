"""Tokens that somebody found where they do not belong: revoked at once, and their owners are told by mail."""

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.outbox import send_mail_or_log
from common.identifiers import secret_digest
from developers.apps.audit import record
from developers.signals import tokens_ended
from developers.tokens.models import DeveloperToken, ManagementToken
from developers.tokens.queries import lives
from developers.tokens.reminders import members_of


def report_leak(*, token: str) -> None:
    """Revoke `token` where it is a live one of anybody's, in its overlap too; who has to know is written to.

    Says nothing to whoever reports, and does the same for every text: two updates by a digest.
    """
    hashed = secret_digest(token)
    with transaction.atomic():
        known = DeveloperToken.objects.filter(Q(digest=hashed) | Q(secrets__digest=hashed))  # a host's lead to its row
        ended = _end(known)
        if _end(ManagementToken.objects.filter(digest=hashed)):
            own = ManagementToken.objects.select_related("user").get(digest=hashed)
            send_mail_or_log("developers/mail/management_token_leaked", to=own.user, context={"token": own})
        if ended:
            found = known.select_related("app").get()
            record(app=found.app, by=None, action="token.leaked", prefix=found.prefix, label=found.label)
            tokens_ended.send(sender=DeveloperToken, app_pk=found.app_id)
            for person in members_of(found):
                send_mail_or_log("developers/mail/token_leaked", to=person, context={"token": found})


def _end(tokens: QuerySet[DeveloperToken] | QuerySet[ManagementToken]) -> bool:
    now = timezone.now()
    return bool(tokens.filter(lives()).update(revoked_at=now, leaked_at=now))
