"""Mail about access that ends because nobody uses it: one about all that a person has not been written to about."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, Min, OuterRef
from django.utils.translation import gettext

from accounts.models import OutgoingMail
from accounts.outbox import Gathering, send_mail
from common.clock import database_now, in_mail
from common.sql.statements import lock_for_transaction
from consent.grants.models import UNUSED_NOTICE, Grant, GrantQuerySet
from pkm.registry import labels

_TEMPLATE = "consent/mail/unused"
_MOST_LINES = 20
_BATCH = 100  # people


def _pending(now: datetime) -> GrantQuerySet:
    """What nobody was written to about; a sandbox person has nobody who reads mail."""
    announced = Grant.objects.live(now).active().filter(unused_ends_at__gt=now, unused_mailed_at__isnull=True)
    return announced.filter(user__sandbox_person=None)


def _people() -> Sequence[int]:
    now = database_now()
    pending = _pending(now)
    if not pending.exists():
        return ()
    pause = timedelta(seconds=settings.MAIL_PAUSE_SECONDS)
    lately = Grant.objects.filter(user=OuterRef("user"), unused_mailed_at__gt=now - pause)
    on_its_way = OutgoingMail.objects.filter(template=_TEMPLATE, user=OuterRef("user"))
    people = pending.filter(~(Exists(lately) | Exists(on_its_way))).order_by().values("user")
    return list(people.annotate(first=Min("pk")).order_by("first").values_list("user", flat=True)[:_BATCH])


def _write_to(user_pk: int) -> None:
    lock_for_transaction(f"mail:unused:{user_pk}")
    now = database_now()
    rows = _pending(now).filter(user=user_pk).select_related("user", "app__application", "request__scope_entry")
    due = list(rows.order_by("unused_ends_at", "pk"))
    if not due:
        return
    Grant.objects.filter(pk__in=[grant.pk for grant in due]).update(unused_mailed_at=now)

    def context() -> dict[str, object]:
        lines = [_line(grant) for grant in due]
        return {"lines": lines[:_MOST_LINES], "more": len(lines) - _MOST_LINES}

    send_mail(_TEMPLATE, to=due[0].user, context=context, tried_for=UNUSED_NOTICE, wake=False)


def _line(grant: Grant) -> str:
    line = gettext("%(name)s (%(legal)s), %(label)s: until %(until)s")
    until = grant.unused_ends_at
    return line % {
        "name": grant.request.app_name,
        "legal": grant.app.legal_name,
        "label": labels.translated(grant.request.scope_entry.scope_label),
        "until": in_mail(until) if until else "",
    }


GATHERING = Gathering(_people, _write_to)
