"""What people are told of: what was asked of them, ends that come near, what apps do. Each once, without a click.

A person is told of requests at most once in MAIL_PAUSE_SECONDS, whoever asks: the first is told at once, and what comes
meanwhile waits until the time is over and then goes together. Ends likewise, and what apps do. It goes by mail, to
their browsers, or not at all, and not in their quiet hours, as they choose (accounts/alerts/settings.py).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from accounts.alerts import settings as alerts
from accounts.alerts.push import send_push, subscriptions_of
from accounts.models import AlertSettings, AlertWay, OutgoingMail, User
from accounts.outbox import Gathering, send_mail
from common.clock import database_now, in_mail
from common.sql.statements import lock_for_transaction
from consent.exports.models import Export, Read
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.mail.models import Mail, MailKind
from consent.requests.models import ConsentRequest
from developers.apps.models import AppStatus
from pkm.registry import labels

_NEAR = timedelta(days=2)
_FRESH = timedelta(hours=48)  # longer than quiet hours and a day's gathering together
_SETTLES = timedelta(minutes=1)  # a read of then is committed by now
_MOST_LINES = 20  # of a mail about several
_BATCH = 100  # people
_KINDS = {MailKind.REQUEST: "requests", MailKind.ENDING: "endings"}  # as the settings name them


def _pending(now: datetime) -> QuerySet[ConsentRequest]:
    """What people could decide."""
    return ConsentRequest.objects.pending(now).filter(app__status=AppStatus.ACTIVE)


def _fresh(now: datetime) -> QuerySet[ConsentRequest]:
    """The requests that a mail may be due about, found by `consent_request_to_mail`."""
    return ConsentRequest.objects.pending(now).filter(created_at__gt=now - _FRESH, mail_waits=True)


def _near_their_end(now: datetime) -> QuerySet[Grant]:
    """The grants that a mail may be due about, found by `consent_grant_to_remind`."""
    near = Grant.objects.live(now).filter(expires_at__lte=now + _NEAR, reminder_waits=True)
    return near.filter(starts_at__lte=F("expires_at") - FORGOTTEN_AFTER)


def _due(kind: MailKind, now: datetime) -> QuerySet[ConsentRequest]:
    """What nobody was written to about and may be now; a sandbox person has nobody who reads mail."""
    if kind == MailKind.REQUEST:
        found = _fresh(now).filter(app__status=AppStatus.ACTIVE)
    else:
        found = ConsentRequest.objects.filter(grant__in=_near_their_end(now))
    pause = timedelta(seconds=settings.MAIL_PAUSE_SECONDS)
    lately = Mail.objects.filter(kind=kind, sent_at__gt=now - pause, request__user=OuterRef("user"))
    on_its_way = OutgoingMail.objects.filter(template__in=_templates(kind), user=OuterRef("user"))
    already_mailed = Exists(lately) | Exists(on_its_way)
    return found.filter(alerts.reachable_now(now), ~already_mailed, user__sandbox_person=None).exclude(mails__kind=kind)


def _people_to_write_to(kind: MailKind) -> Sequence[int]:
    """The keys of some of them, whoever has waited longest first."""
    now = database_now()
    if not (_fresh(now) if kind == MailKind.REQUEST else _near_their_end(now)).exists():
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
    user = due[0].user
    wanted = alerts.settings_of(user)
    if alerts.postpone(wanted, now=now, oldest=min(_due_at(kind, request) for request in due)):
        return
    by_mail, by_push = (alerts.is_sent_by(wanted, _KINDS[kind], way) for way in (AlertWay.MAIL, AlertWay.PUSH))
    _note(due, kind, now, notified=by_mail or (by_push and subscriptions_of(user).exists()))
    if kind == MailKind.REQUEST:
        alerts.count_kept_back(wanted, [request.created_at for request in due])
    if by_mail:
        template = _templates(kind)[len(due) > 1]
        context = partial(_about_one, due[0]) if len(due) == 1 else partial(_about_several, due, kind, now)
        tried_for = _FRESH if kind == MailKind.REQUEST else _NEAR
        send_mail(template, to=user, context=context, tried_for=tried_for, wake=False)
    if by_push:
        send_push(to=user, words=partial(_on_screen, due, kind), path=_path(due, kind), tag=_KINDS[kind])


def _due_at(kind: MailKind, request: ConsentRequest) -> datetime:
    return request.created_at if kind == MailKind.REQUEST else request.grant.expires_at - _NEAR


def _give_up(kind: MailKind, mail: OutgoingMail) -> None:
    """The mail that a person was written to last did not arrive: their export must not tell that it was sent."""
    if mail.template in _templates(kind):
        theirs = Mail.objects.filter(kind=kind, request__user=mail.user_id)
        last = theirs.aggregate(at=Max("sent_at"))["at"]
        Mail.objects.filter(pk__in=theirs.filter(sent_at=last).values("pk")).delete()


def _templates(kind: MailKind) -> tuple[str, str]:
    """Of a mail about one, and about several."""
    return f"consent/mail/{kind.value}", f"consent/mail/{kind.value}s"


def _note(due: Sequence[ConsentRequest], kind: MailKind, now: datetime, *, notified: bool) -> None:
    """That this person was told of these, or wanted to hear nothing of them."""
    if notified:
        Mail.objects.bulk_create(Mail(request=request, kind=kind, sent_at=now) for request in due)
    if kind == MailKind.REQUEST:
        ConsentRequest.objects.filter(pk__in=[request.pk for request in due]).update(mail_waits=False)
    else:
        Grant.objects.filter(request__in=due).update(reminder_waits=False)


def _about_one(request: ConsentRequest) -> dict[str, Any]:
    label = labels.translated(request.scope_entry.scope_label)
    return {"request": request, "label": label, "until": _until(request), "renewal": _renewal_of(request)}


def _renewal_of(request: ConsentRequest) -> ConsentRequest | None:
    """What the app asked again of the same, which waits: who approves that extends what ends."""
    pending = ConsentRequest.objects.pending(database_now())
    same = pending.filter(user=request.user, app=request.app_id, scope=request.scope).exclude(pk=request.pk)
    return same.order_by("-pk").first()


def _about_several(due: Sequence[ConsentRequest], kind: MailKind, now: datetime) -> dict[str, Any]:
    """The same of one mail about all of `due`, which are one person's."""
    lines = _by_app(due) if kind == MailKind.REQUEST else [_ending_line(request) for request in due]
    context: dict[str, Any] = {"lines": lines[:_MOST_LINES], "more": len(lines) - _MOST_LINES}
    if kind == MailKind.REQUEST:
        pending = list(_pending(now).filter(user=due[0].user).values_list("app", flat=True))
        apps = len(set(pending))
        context["requests"] = _requests(len(pending))
        context["apps"] = ngettext("%(count)d app", "%(count)d apps", apps) % {"count": apps}
    return context


def _by_app(due: Sequence[ConsentRequest]) -> list[str]:
    by_app: dict[tuple[str, str], int] = {}
    for request in due:
        named = (request.app_name, request.app.legal_name)
        by_app[named] = by_app.get(named, 0) + 1
    return [f"{name} ({legal}): {_requests(count)}" for (name, legal), count in by_app.items()]


def _ending_line(request: ConsentRequest) -> str:
    line = gettext("%(name)s (%(legal)s), %(label)s: until %(until)s") % {
        "name": request.app_name,
        "legal": request.app.legal_name,
        "label": labels.translated(request.scope_entry.scope_label),
        "until": _until(request),
    }
    if (renewal := _renewal_of(request)) is None:
        return line
    link = f"{settings.ISSUER}{reverse('consent:review', args=[renewal.request_id])}"
    extend = gettext("Extend it: %(link)s") % {"link": link}
    return f"{line}\n  {extend}"


def _requests(count: int) -> str:
    return ngettext("%(count)d request", "%(count)d requests", count) % {"count": count}


def _until(request: ConsentRequest) -> str:
    grant: Grant | None = getattr(request, "grant", None)
    return in_mail(grant.expires_at if grant else request.expires_at)


def _on_screen(due: Sequence[ConsentRequest], kind: MailKind) -> tuple[str, str]:
    """The title and the text of a browser's message: who, and what kind of thing."""
    [first, *others] = due
    if not others:
        words = (
            gettext("%(name)s asks to see some of your data")
            if kind == MailKind.REQUEST
            else gettext("Sharing with %(name)s ends soon")
        )
        return words % {"name": first.app_name}, labels.translated(first.scope_entry.scope_label)
    names = ", ".join(dict.fromkeys(request.app_name for request in due))
    if kind == MailKind.REQUEST:
        return gettext("%(requests)s wait for your decision") % {"requests": _requests(len(due))}, names
    return gettext("Some of what you share ends soon"), names


def _path(due: Sequence[ConsentRequest], kind: MailKind) -> str:
    one = due[0] if len(due) == 1 else None
    if kind == MailKind.ENDING:
        renewal = _renewal_of(one) if one else None
        return reverse("consent:review", args=[renewal.request_id]) if renewal else reverse("consent:grants")
    return reverse("consent:review", args=[one.request_id]) if one else reverse("consent:inbox")


# --- what apps do: the first read of an approval, and newer values ----------------------------------------------------


def _people_with_news() -> Sequence[int]:
    """The keys of some of those who may want to hear what apps did."""
    now = database_now()
    with_news = Grant.objects.filter(news_waits=True)
    if not with_news.exists():
        return ()
    recently_seen = Q(user__alert_settings__seen_until__gt=now - timedelta(seconds=settings.MAIL_PAUSE_SECONDS))
    people = with_news.filter(alerts.reachable_now(now)).exclude(recently_seen).order_by().values("user")
    return list(people.annotate(first=Min("pk")).order_by("first").values_list("user", flat=True)[:_BATCH])


def _send_news(user_pk: int) -> None:
    """One mail, and one message to each browser, about all that this person wants to hear of."""
    lock_for_transaction(f"mail:news:{user_pk}")
    now = database_now()
    user = User.objects.get(pk=user_pk)
    wanted, until = alerts.settings_of(user), now - _SETTLES
    with_news = Grant.objects.filter(user=user, news_waits=True).select_related("request__app__application")
    grants = {
        grant.pk: grant for grant in with_news.select_related("request__scope_entry").select_for_update(of=("self",))
    }
    if wanted._state.adding:  # they chose nothing
        _drop_news(grants)
        return
    reads, updates = _first_reads(grants, wanted.seen_until), _updates(grants, wanted.seen_until)
    moments = [*reads.values(), *updates.values()]
    if moments and max(moments) > until:
        return  # the next run tells it, with whatever else is being committed just now
    heard = {"reads": reads, "updates": updates}
    if any(heard[kind] and getattr(wanted, kind) != AlertWay.NONE for kind in heard) and alerts.postpone(
        wanted, now=now, oldest=min(moments)
    ):
        return
    _drop_news(grants)
    AlertSettings.objects.filter(pk=wanted.pk).update(seen_until=until)
    for way in (AlertWay.MAIL, AlertWay.PUSH):
        by_kind = {kind: [grants[pk] for pk in heard[kind]] for kind in heard if alerts.is_sent_by(wanted, kind, way)}
        if not any(by_kind.values()):
            continue
        lines = partial(_news, by_kind)
        if way == AlertWay.MAIL:
            send_mail("consent/mail/news", to=user, context=partial(_about_news, lines), tried_for=_NEAR, wake=False)
        else:
            send_push(to=user, words=partial(_news_on_screen, lines), path=reverse("consent:history"), tag="news")


def _drop_news(grants: Mapping[int, Grant]) -> None:
    Grant.objects.filter(pk__in=list(grants)).update(news_waits=False)


def _first_reads(grants: Mapping[int, Grant], since: datetime) -> dict[int, datetime]:
    """Of the grants that nobody had read before `since`, when they were read first."""
    read = Read.objects.filter(grant__in=list(grants), at__gt=since).order_by().values("grant_id")
    found = read.annotate(first=Min("at"), number=Count("pk"))
    return {row["grant_id"]: row["first"] for row in found if row["number"] == grants[row["grant_id"]].reads}


def _updates(grants: Mapping[int, Grant], since: datetime) -> dict[int, datetime]:
    """When these got newer values last."""
    sealed = Export.objects.filter(grant__in=list(grants), revision__gt=1, sealed_at__gt=since)
    return {row["grant_id"]: row["at"] for row in sealed.order_by().values("grant_id").annotate(at=Max("sealed_at"))}


def _news(by_kind: Mapping[str, Sequence[Grant]]) -> list[str]:
    words = {
        "reads": gettext("%(name)s read this for the first time: %(label)s"),
        "updates": gettext("%(name)s got newer values: %(label)s"),
    }
    return [
        words[kind]
        % {"name": grant.request.app_name, "label": labels.translated(grant.request.scope_entry.scope_label)}
        for kind, grants in by_kind.items()
        for grant in grants
    ]


def _about_news(lines: Callable[[], list[str]]) -> dict[str, Any]:
    found = lines()
    return {"lines": found[:_MOST_LINES], "more": len(found) - _MOST_LINES}


def _news_on_screen(lines: Callable[[], list[str]]) -> tuple[str, str]:
    found = lines()
    title = gettext("What apps did with your data")
    if len(found) == 1:
        return title, found[0]
    return title, ngettext("%(n)d thing", "%(n)d things", len(found)) % {"n": len(found)}


GATHERINGS = {
    **{
        f"mails of the kind {kind.value}": Gathering(
            partial(_people_to_write_to, kind), partial(_write_to, kind), partial(_give_up, kind)
        )
        for kind in MailKind
    },
    "what apps did": Gathering(_people_with_news, _send_news),
}
