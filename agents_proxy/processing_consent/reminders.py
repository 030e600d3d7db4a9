"""One mail before consents to processing end, which leads to their renewal; one a day to a person."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet

from accounts.outbox import Gathering, send_mail
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.overview import titles_of
from agents_proxy.states import Duration, Reach
from common.clock import database_now, in_mail

_NEAR = timedelta(days=3)
_GATHERED = timedelta(days=1)  # what ends within this after one that is near goes into the same mail
_LONG = int(Duration.MONTH.length.total_seconds())  # who agreed for less knows that it ends
_BATCH = 100
_TEMPLATE = "agents/mail/ending"


def _due(now: datetime, within: timedelta) -> QuerySet[ProcessingConsent]:
    near = ProcessingConsent.objects.live(now).filter(expires_at__lte=now + within, lasts__gte=_LONG, reminded_at=None)
    return near.exclude(reach=Reach.RUN).order_by("expires_at")


def _people_to_remind() -> Sequence[int]:
    return list(dict.fromkeys(_due(database_now(), _NEAR).values_list("user", flat=True)[:_BATCH]))


def _remind(person_pk: int) -> None:
    now = database_now()
    due = _due(now, _NEAR + _GATHERED).filter(user=person_pk).select_related("user", "app")
    locked = due.order_by("pk").select_for_update(of=("self",), no_key=True)  # in the order in which they are ended
    ending = sorted(locked, key=lambda consent: consent.expires_at)
    if not ending:
        return  # another worker did
    ProcessingConsent.objects.filter(pk__in=[consent.pk for consent in ending]).update(reminded_at=now)
    send_mail(_TEMPLATE, to=ending[0].user, context=partial(_context, ending), tried_for=_NEAR, wake=False)


def _context(ending: Sequence[ProcessingConsent]) -> dict[str, Any]:
    """What the mail says, in the language that is on; `app` where all are of one."""
    apps = {consent.app.name if consent.app else "" for consent in ending}
    return {
        "app": apps.pop() if len(apps) == 1 else "",
        "ending": [
            {
                "titles": ", ".join(titles_of(consent)),
                "until": in_mail(consent.expires_at),
                "consent_id": consent.consent_id,
            }
            for consent in ending
        ],
    }


GATHERING = Gathering(_people_to_remind, _remind)
