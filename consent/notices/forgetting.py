"""Notices that were kept long enough go, the oldest of each app first, but for the newest of a request (decision 0020).

A status names the newest notice of its request, and what was never told is found by the newest that told of a state.
How far an app's notices were looked through stands with its counter: a stream goes on from there without a gap.
"""

from datetime import datetime, timedelta
from itertools import takewhile

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery

from common.batches import until_done
from common.clock import database_now
from common.sql.statements import lock_for_transaction
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery

_LOOKED_AT = 2000  # notices in a transaction
_OF_STATE = "consent."  # how the kinds begin that tell where a request stands


def forget_notices(*, most_seconds: float) -> int:
    """Delete notices older than NOTICES_KEPT_DAYS, in batches; returns how many went.

    What is left after `most_seconds` stays for the next run. An app's notices stay from the first on that still has a
    delivery.
    """
    limit = database_now() - timedelta(days=settings.NOTICES_KEPT_DAYS)
    following = Notice.objects.filter(app=OuterRef("app"), sequence__gt=OuterRef("forgotten")).order_by("sequence")
    counters = NoticeCounter.objects.annotate(oldest=Subquery(following.values("at")[:1]))
    app_pks = list(counters.filter(oldest__lt=limit).order_by("pk").values_list("pk", flat=True))

    def batch() -> int | None:
        while app_pks:
            went = _forget_some(app_pks[0], limit)
            if went is not None:
                return went
            app_pks.pop(0)
        return None

    return until_done(batch, most_seconds=most_seconds)


@transaction.atomic
def _forget_some(app_pk: int, limit: datetime) -> int | None:
    """How many of this app went; None where all that are old enough were looked at."""
    lock_for_transaction("forget-notices")
    after = forgotten_up_to(app_pk)
    later = Notice.objects.filter(request=OuterRef("request"), sequence__gt=OuterRef("sequence"))
    newest = ~Exists(later) | Q(kind__startswith=_OF_STATE) & ~Exists(later.filter(kind__startswith=_OF_STATE))
    is_newest = Q(request__isnull=False) & newest
    following = (
        Notice.objects.filter(app=app_pk, sequence__gt=after)
        .annotate(is_newest=is_newest, is_delivered=Exists(WebhookDelivery.objects.filter(notice=OuterRef("pk"))))
        .order_by("sequence")
        .only("sequence", "at")
    )
    passed = list(takewhile(lambda notice: notice.at < limit and not notice.is_delivered, following[:_LOOKED_AT]))
    if not passed:
        return None
    went, _ = Notice.objects.filter(pk__in=[notice.pk for notice in passed if not notice.is_newest]).delete()
    NoticeCounter.objects.filter(app=app_pk).update(forgotten=passed[-1].sequence)
    return went


def forgotten_up_to(app_pk: int) -> int:
    """The number up to which this app's notices may be gone; 0 where none is."""
    return NoticeCounter.objects.filter(app=app_pk).values_list("forgotten", flat=True).first() or 0
