"""Mail to people: what was asked of them, and ends that come near. Each is written about once, without a click needed.

A person is written to about requests at most once in MAIL_PAUSE_SECONDS, whoever asks: the first is written about at
once, and what comes meanwhile waits until the time is over and then goes into one mail together. Ends likewise.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, Max, Min, OuterRef, QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from accounts.models import OutgoingMail
from accounts.outbox import Gathering, send_mail
from common.clock import database_now
from common.sql.statements import lock_for_transaction
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.mail.models import Mail, MailKind
from consent.requests.models import ConsentRequest
from developers.models import AppStatus
from pkm.registry import labels

_NEAR = timedelta(days=2)
_FRESH = timedelta(hours=24)
_MOST_LINES = 20  # of a mail about several
_BATCH = 100  # people


def _waiting(now: datetime) -> QuerySet[ConsentRequest]:
    """What people could decide."""
    return ConsentRequest.objects.pending(now).filter(app__status=AppStatus.ACTIVE)


def _fresh(now: datetime) -> QuerySet[ConsentRequest]:
    """The requests that a mail may be due about, found by `consent_request_to_mail`."""
    return ConsentRequest.objects.pending(now).filter(created_at__gt=now - _FRESH, mail_waits=True)


def _near_their_end(now: datetime) -> QuerySet[Grant]:
    """The grants that a mail may be due about, found by `consent_grant_to_remind`."""
    near = Grant.objects.live(now).filter(expires_at__lte=now + _NEAR, reminder_waits=True)
    return near.filter(starts_at__lte=F("expires_at") - FORGOTTEN_AFTER)


def _candidates(kind: MailKind, now: datetime) -> QuerySet[Any]:
    return _fresh(now) if kind == MailKind.REQUEST else _near_their_end(now)


def _due(kind: MailKind, now: datetime) -> QuerySet[ConsentRequest]:
    """What nobody was written to about and may be now; a sandbox person has nobody who reads mail."""
    if kind == MailKind.REQUEST:
        found = _fresh(now).filter(app__status=AppStatus.ACTIVE)
    else:
        found = ConsentRequest.objects.filter(grant__in=_near_their_end(now))
    pause = timedelta(seconds=settings.MAIL_PAUSE_SECONDS)
    lately = Mail.objects.filter(kind=kind, sent_at__gt=now - pause, request__user=OuterRef("user"))
    on_its_way = OutgoingMail.objects.filter(template__in=_templates(kind), user=OuterRef("user"))
    left_alone = Exists(lately) | Exists(on_its_way)
    return found.filter(~left_alone, user__sandbox_person=None).exclude(mails__kind=kind)


def _people_to_write_to(kind: MailKind) -> Sequence[int]:
    """The keys of some of them, whoever has waited longest first."""
    now = database_now()
    if not _candidates(kind, now).exists():
        return ()  # as mostly; the whole question takes the planner alone longer than this look
    people = _due(kind, now).order_by().values("user").annotate(first=Min("pk")).order_by("first")
    return list(people.values_list("user", flat=True)[:_BATCH])


def _write_to(kind: MailKind, user_pk: int) -> None:
    """One mail about everything of this kind that is due. One worker at a time writes to a person, and looks again."""
    lock_for_transaction(f"mail:{kind.value}:{user_pk}")
    now = database_now()
    rows = _due(kind, now).filter(user=user_pk).select_related("app__application", "user", "scope_entry", "grant")
    due = list(rows.order_by("pk"))
    if not due:
        return
    _note(due, kind, now)
    template = _templates(kind)[len(due) > 1]
    context = partial(_about_one, due[0]) if len(due) == 1 else partial(_about_several, due, kind, now)
    tried_for = _FRESH if kind == MailKind.REQUEST else _NEAR
    send_mail(template, to=due[0].user, context=context, tried_for=tried_for, wake=False)


def _give_up(kind: MailKind, mail: OutgoingMail) -> None:
    """The mail that a person was written to last did not arrive: their export must not tell that it was sent."""
    if mail.template in _templates(kind):
        theirs = Mail.objects.filter(kind=kind, request__user=mail.user_id)
        last = theirs.aggregate(at=Max("sent_at"))["at"]
        Mail.objects.filter(pk__in=theirs.filter(sent_at=last).values("pk")).delete()


def _templates(kind: MailKind) -> tuple[str, str]:
    """Of a mail about one, and about several."""
    return f"consent/mail/{kind.value}", f"consent/mail/{kind.value}s"


GATHERINGS = {
    f"mails of the kind {kind.value}": Gathering(
        partial(_people_to_write_to, kind), partial(_write_to, kind), partial(_give_up, kind)
    )
    for kind in MailKind
}


def _note(due: Sequence[ConsentRequest], kind: MailKind, now: datetime) -> None:
    """That this person was written to about these."""
    Mail.objects.bulk_create(Mail(request=request, kind=kind, sent_at=now) for request in due)
    if kind == MailKind.REQUEST:
        ConsentRequest.objects.filter(pk__in=[request.pk for request in due]).update(mail_waits=False)
    else:
        Grant.objects.filter(request__in=due).update(reminder_waits=False)


def _about_one(request: ConsentRequest) -> dict[str, Any]:
    """What the mail says, in the language that is on."""
    label = labels.translated(request.scope_entry.scope_label)
    return {"request": request, "label": label, "until": _until(request)}


def _about_several(due: Sequence[ConsentRequest], kind: MailKind, now: datetime) -> dict[str, Any]:
    """The same of one mail about all of `due`, which are one person's."""
    lines = _by_app(due) if kind == MailKind.REQUEST else _by_end(due)
    context: dict[str, Any] = {"lines": lines[:_MOST_LINES], "more": len(lines) - _MOST_LINES}
    if kind == MailKind.REQUEST:
        waiting = list(_waiting(now).filter(user=due[0].user).values_list("app", flat=True))
        apps = len(set(waiting))
        context["requests"] = _requests(len(waiting))
        context["apps"] = ngettext("%(count)d app", "%(count)d apps", apps) % {"count": apps}
    return context


def _by_app(due: Sequence[ConsentRequest]) -> list[str]:
    by_app: dict[tuple[str, str], int] = {}
    for request in due:
        named = (request.app_name, request.app.legal_name)
        by_app[named] = by_app.get(named, 0) + 1
    return [f"{name} ({legal}): {_requests(count)}" for (name, legal), count in by_app.items()]


def _by_end(due: Sequence[ConsentRequest]) -> list[str]:
    line = gettext("%(name)s (%(legal)s), %(label)s: until %(until)s UTC")
    return [
        line
        % {
            "name": request.app_name,
            "legal": request.app.legal_name,
            "label": labels.translated(request.scope_entry.scope_label),
            "until": _until(request),
        }
        for request in due
    ]


def _requests(count: int) -> str:
    return ngettext("%(count)d request", "%(count)d requests", count) % {"count": count}


def _until(request: ConsentRequest) -> str:
    grant: Grant | None = getattr(request, "grant", None)
    return date_format(grant.expires_at if grant else request.expires_at, gettext("j F Y, H:i"))
