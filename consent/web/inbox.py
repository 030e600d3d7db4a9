"""What waits for a person's decision: grouped by app, searched, denied several at once, and how to hear of more."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_form
from accounts.models import User
from common.clock import database_now
from common.durations import duration
from consent.decisions import actions as decision_actions
from consent.errors import AlreadyDecided, RequestExpired, UnknownRequest
from consent.requests.models import ConsentRequest, ConsentRequestQuerySet
from consent.requests.queries import count_pending
from consent.states import Actor, RequestStatus
from consent.web import paging
from consent.web.forms import DenySeveralForm, InboxFilter
from developers.apps.models import App
from pkm.registry import labels
from pkm.registry.models import ScopeEntry
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus

PAGE = 20
RECENT = 8


@dataclass
class OfApp:
    """What one app asks for, the newest first."""

    app: App
    name: str
    requests: list[ConsentRequest] = field(default_factory=list)


@signed_in_page
def inbox(request: HttpRequest) -> HttpResponse:
    """The list, and beside it, where there is room, what the chosen request is about."""
    user, form = person_of(request), InboxFilter(request.GET)
    shown = pending_of(user, **form.chosen())
    chosen = _chosen(shown["pending"], request.GET.get("request", ""))
    seen = {
        **shown,
        "groups": grouped(shown["pending"]),
        "chosen": chosen,
        "requested": _names(chosen) if chosen else [],
        "longest": duration(chosen.access_duration) if chosen else "",
        "news": news_of(user),
        "has_vault": vault_queries.status_of(user) != VaultStatus.ABSENT,
    }
    return render(request, "consent/inbox.html", seen)


@page_form(_("Deny all of these"), DenySeveralForm)
def deny_several(request: HttpRequest) -> HttpResponse:
    """Ask once whether all of these are to be denied; then deny what of them still waits."""
    user = person_of(request)
    if request.method == "POST":
        form = DenySeveralForm(request.POST)
        if form.is_valid():
            _report_denied(request, deny_all(user, form.cleaned_data["requests"].split()))
        return redirect("consent:inbox")
    wanted = request.GET.getlist("request")[:PAGE]
    chosen = list(_related(user).pending(database_now()).filter(request_id__in=wanted).order_by("-created_at", "-id"))
    if not chosen:
        messages.info(request, gettext("Choose at least one request that still waits."))
        return redirect("consent:inbox")
    ids = " ".join(consent_request.request_id for consent_request in chosen)
    return render(request, "consent/deny_several.html", {"groups": grouped(chosen), "ids": ids, "count": len(chosen)})


def deny_all(user: User, request_ids: Iterable[str]) -> int:
    """Deny each by itself, as one alone is; returns how many waited still."""
    denied = 0
    for request_id in dict.fromkeys(request_ids):
        try:
            decision_actions.deny(request_id=request_id, by=user)
        except (UnknownRequest, AlreadyDecided, RequestExpired):
            continue
        denied += 1
    return denied


def _report_denied(request: HttpRequest, denied: int) -> None:
    if denied:
        words = ngettext(
            "%(n)d request denied. Nothing was shared.", "%(n)d requests denied. Nothing was shared.", denied
        )
        messages.success(request, words % {"n": denied})
    else:
        messages.info(request, gettext("None of them waits any more. Nothing was changed now."))


def pending_of(user: User, *, older: str = "", text: str = "") -> dict[str, Any]:
    """What waits, newest first, a page that goes on at `older`, and what was decided lately."""
    now, place = database_now(), paging.read(older)
    some = _pending(user, now, place, text)
    if not some and place is not None:  # what was there has been decided meanwhile
        place, some = None, _pending(user, now, None, text)
    last = some[PAGE - 1] if len(some) > PAGE else None
    return {
        "pending": some[:PAGE],
        "text": text,
        "decided": _decided(user) if place is None and not text else [],
        **paging.pages(paging.place_of(last.created_at, last.pk) if last else None, is_newest=place is None, q=text),
    }


def news_of(user: User) -> dict[str, Any]:
    """{"waiting": how many wait, "newest": the request ID of the newest or ""}: another one, and the list changed."""
    newest = ConsentRequest.objects.pending(database_now()).filter(user=user).order_by("-created_at", "-id")
    return {"waiting": count_pending(user=user), "newest": newest.values_list("request_id", flat=True).first() or ""}


def grouped(pending: Iterable[ConsentRequest]) -> list[OfApp]:
    """By app, in the order in which each asked last."""
    groups: dict[int, OfApp] = {}
    for consent_request in pending:
        groups.setdefault(consent_request.app_id, OfApp(consent_request.app, consent_request.app_name)).requests.append(
            consent_request
        )
    return list(groups.values())


def replaced_at(consent_request: ConsentRequest) -> datetime | None:
    """When the app asked before for the same and took that back, which this request replaces."""
    same = ConsentRequest.objects.filter(
        app_id=consent_request.app_id, user_id=consent_request.user_id, scope=consent_request.scope
    )
    before = same.filter(pk__lt=consent_request.pk).order_by("-pk").first()
    return before.created_at if before is not None and _was_taken_back(before) else None


def replaced_by(consent_request: ConsentRequest) -> ConsentRequest | None:
    """The request that the app made in place of this one, which it took back; None where there is none."""
    if not _was_taken_back(consent_request):
        return None
    same = ConsentRequest.objects.filter(
        app_id=consent_request.app_id, user_id=consent_request.user_id, scope=consent_request.scope
    )
    return same.filter(pk__gt=consent_request.pk).order_by("pk").first()


def _was_taken_back(consent_request: ConsentRequest) -> bool:
    return consent_request.status == RequestStatus.CANCELLED and consent_request.decided_by == Actor.APP


def _related(user: User) -> ConsentRequestQuerySet:
    return ConsentRequest.objects.filter(user=user).select_related("app__application", "scope_entry__domain")


def _pending(user: User, now: datetime, place: paging.Place | None, text: str) -> list[ConsentRequest]:
    same = ConsentRequest.objects.filter(app=OuterRef("app"), user=OuterRef("user"), scope=OuterRef("scope"))
    before = same.filter(pk__lt=OuterRef("pk")).order_by("-pk")
    pending: Any = paging.older(_related(user).pending(now), "created_at", place)
    for word in text.casefold().split()[:4]:
        named = [
            pk
            for pk, label in ScopeEntry.objects.values_list("pk", "scope_label")
            if word in labels.translated(label).casefold()
        ]
        pending = pending.filter(Q(app_name__icontains=word) | Q(purpose__icontains=word) | Q(scope_entry__in=named))
    taken_back = before.filter(status=RequestStatus.CANCELLED, decided_by=Actor.APP)
    pending = pending.annotate(
        before=Subquery(before.values("pk")[:1]), taken_back=Subquery(taken_back.values("pk")[:1])
    )
    some: list[Any] = list(pending.order_by("-created_at", "-id")[: PAGE + 1])
    for consent_request in some:
        consent_request.verb = labels.verb_phrase(consent_request.scope_entry)
    return some


def _decided(user: User) -> list[ConsentRequest]:
    decided = _related(user).exclude(status=RequestStatus.PENDING).order_by("-decided_at", "-id")
    # what apps took back themselves would push out what this person decided; the history tells of it
    return list(decided.exclude(status=RequestStatus.CANCELLED, decided_by=Actor.APP)[:RECENT])


def _chosen(pending: list[ConsentRequest], request_id: str) -> ConsentRequest | None:
    return next(
        (consent_request for consent_request in pending if consent_request.request_id == request_id),
        pending[0] if pending else None,
    )


def _names(consent_request: ConsentRequest) -> list[labels.Attribute]:
    """What is asked for, by name."""
    paths = consent_request.attributes if consent_request.named_attributes is None else consent_request.named_attributes
    return [attribute for group in labels.described(paths) for attribute in group.attributes]
