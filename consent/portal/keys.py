"""The pages of an app's connector keys: those that it registered, and what its requests were sealed to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Count, Max, Min, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.interrupted.page_forms import page_form
from common.clock import database_now
from common.problems import Problem
from consent.connector_keys import actions
from consent.connector_keys import queries as key_queries
from consent.connector_keys.models import ConnectorKey
from consent.errors import InvalidConnectorKey
from consent.grants.models import Grant
from consent.portal.forms import ConnectorKeyForm
from consent.requests.models import ConsentRequest
from consent.requests.published import FILE
from developers.models import App, AppMember, AppStatus
from developers.portal.shell import app_page, portal_page

MOST_SHOWN = 200
_METHODS = ["GET", "HEAD", "POST"]
_KEY = ("connector_thumbprint", "connector_key_id")


@dataclass(frozen=True)
class KeySeen:
    """A connector key under one of the app's names for it; the fingerprint is its RFC 7638 thumbprint."""

    connector_key_id: str
    fingerprint: str
    first_used: datetime
    last_used: datetime
    requests: int
    live_grants: int


def keys_of(app: App, now: datetime) -> list[KeySeen]:
    """The keys that this app asked with, the last used first, at most MOST_SHOWN."""
    live = Grant.objects.live(now).filter(app=app).values_list(*(f"request__{name}" for name in _KEY))
    grants: dict[Any, int] = {tuple(key): count for *key, count in live.annotate(count=Count("pk"))}
    return [
        KeySeen(key_id, thumbprint, first, last, requests, grants.get((thumbprint, key_id), 0))
        for thumbprint, key_id, first, last, requests in used_keys(app)[:MOST_SHOWN]
    ]


def used_keys(app: App) -> "QuerySet[ConsentRequest, tuple[Any, ...]]":
    """Each key's thumbprint, name, first and last use and requests, out of one index (consent_request_keys)."""
    grouped = ConsentRequest.objects.filter(app=app).order_by().values_list(*_KEY)
    return grouped.annotate(first=Min("created_at"), last=Max("created_at"), requests=Count("*")).order_by("-last")


@page_form(_("Register it"), ConnectorKeyForm, fresh=True)
@require_http_methods(_METHODS)
@app_page()
def keys(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Which keys are registered and which were used, so that a leaked or forgotten one is noticed."""
    if request.method != "POST":
        return _list(request, member, ConnectorKeyForm())
    form = ConnectorKeyForm(request.POST)
    if form.is_valid():
        try:
            actions.register_key(app=member.app, by=member.user, **form.cleaned_data)
        except InvalidConnectorKey as problem:
            form.add_error("jwk", problem.detail)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            said = gettext("The key is registered, and people are told so in 24 hours. The owners were written to.")
            messages.success(request, said)
            return redirect("portal:keys", member.app.app_id)
    return _list(request, member, form, status=400)


@page_form(_("Remove it"), danger=True)
@require_http_methods(_METHODS)
@app_page()
def remove(request: HttpRequest, member: AppMember, thumbprint: str) -> HttpResponse:
    """Vouch for this key no more, after a confirmation."""
    key = ConnectorKey.objects.select_related("app").filter(app=member.app, thumbprint=thumbprint[:43]).first()
    if key is None or key.thumbprint != thumbprint or key.registered_at is None:
        raise Http404
    if request.method != "POST":
        return portal_page(request, "developers/key_remove.html", {"key": key}, member=member)
    if actions.remove_key(key=key, by=member.user):
        messages.success(request, gettext("The key is removed: nobody vouches for it from now on."))
    else:
        messages.info(request, gettext("The key was removed already."))
    return redirect("portal:keys", member.app.app_id)


def _list(request: HttpRequest, member: AppMember, form: ConnectorKeyForm, status: int = 200) -> HttpResponse:
    app, now = member.app, database_now()
    shown = {
        "keys": keys_of(app, now),
        "most": MOST_SHOWN,
        "registered": [
            (key, key.usable_from is not None and key.usable_from <= now) for key in key_queries.registered_keys(app)
        ],
        "form": form,
        "is_open": app.status != AppStatus.CLOSED,
        "publish_at": f"https://{app.proved_domain}{FILE}" if app.proved_domain else "",
    }
    return portal_page(request, "developers/keys.html", shown, member=member, status=status)
