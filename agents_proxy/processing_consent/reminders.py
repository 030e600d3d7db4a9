"""One mail before a consent to processing ends, which leads to its renewal."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext

from accounts.outbox import Gathering, send_mail
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.overview import titles_of
from agents_proxy.states import Duration, Reach
from common.clock import database_now

_NEAR = timedelta(days=3)
_LONG = int(Duration.MONTH.length.total_seconds())  # who agreed for less knows that it ends
_BATCH = 100
_TEMPLATE = "agents/mail/ending"


def _due(now: datetime) -> QuerySet[ProcessingConsent]:
    near = ProcessingConsent.objects.live(now).filter(expires_at__lte=now + _NEAR, lasts__gte=_LONG, reminded_at=None)
    return near.exclude(reach=Reach.RUN)


def _consents_to_remind_of() -> Sequence[int]:
    return list(_due(database_now()).order_by("expires_at").values_list("pk", flat=True)[:_BATCH])


def _remind_of(consent_pk: int) -> None:
    now = database_now()
    if not _due(now).filter(pk=consent_pk).update(reminded_at=now):
        return  # another worker did
    consent = ProcessingConsent.objects.select_related("user", "app").get(pk=consent_pk)
    send_mail(_TEMPLATE, to=consent.user, context=partial(_context, consent), tried_for=_NEAR, wake=False)


def _context(consent: ProcessingConsent) -> dict[str, Any]:
    """What the mail says, in the language that is on."""
    return {
        "app": consent.app.name if consent.app else "",
        "titles": ", ".join(titles_of(consent)),
        "until": date_format(consent.expires_at, gettext("j F Y, H:i")),
        "consent_id": consent.consent_id,
    }


GATHERING = Gathering(_consents_to_remind_of, _remind_of)
