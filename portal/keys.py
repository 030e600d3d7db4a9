"""The pages of an app's connector keys: those that it registered, and what its requests were sealed to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Max, Min, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_forms import page_form
from common.clock import database_now
from common.json_bodies import strict_json
from common.problems import InvalidRequest, Problem
from consent.connector_keys import actions
from consent.connector_keys import queries as key_queries
from consent.connector_keys.models import ConnectorKey
from consent.errors import InvalidConnectorKey
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.requests.published_keys import WELL_KNOWN_PATH
from developers.apps.models import App, AppStatus
from developers.members.models import AppMember
from portal.shell import Tab, app_page, portal_page, posted

MOST_SHOWN = 200
_KEY = ("connector_thumbprint", "connector_key_id")


class ConnectorKeyForm(forms.Form):
    """A public JWK, pasted."""

    key_id = forms.RegexField(
        r"^[A-Za-z0-9._~-]{1,128}\Z",
        label=_("Your name for it"),
        max_length=128,
        help_text=_("What you send as connector_key_id: letters, digits and . _ ~ -"),
    )
    jwk = forms.CharField(
        label=_("Public key"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "off"}),
        help_text=_("The public half as a JWK, on X25519 or P-256. Never paste the private half."),
    )

    def clean_jwk(self) -> Any:
        try:
            return strict_json(self.cleaned_data["jwk"].encode())
        except InvalidRequest:
            raise forms.ValidationError(gettext("This is no JWK: it is not valid JSON.")) from None


@dataclass(frozen=True)
class UsedKey:
    """A connector key under one of the app's names for it; the fingerprint is its RFC 7638 thumbprint."""

    connector_key_id: str
    fingerprint: str
    first_used: datetime
    last_used: datetime
    requests: int
    live_grants: int


def keys_of(app: App, now: datetime) -> list[UsedKey]:
    """The keys of the requests that this app knows of, the last used first, at most MOST_SHOWN."""
    live = Grant.objects.live(now).known().filter(app=app).values_list(*(f"request__{name}" for name in _KEY))
    grants: dict[Any, int] = {tuple(key): count for *key, count in live.annotate(count=Count("pk"))}
    return [
        UsedKey(key_id, thumbprint, first, last, requests, grants.get((thumbprint, key_id), 0))
        for thumbprint, key_id, first, last, requests in used_keys(app)[:MOST_SHOWN]
    ]


def used_keys(app: App) -> "QuerySet[ConsentRequest, tuple[Any, ...]]":
    """Each key's thumbprint, name, first and last use and requests, out of one index (consent_known_request_keys)."""
    grouped = ConsentRequest.objects.filter(app=app, withheld=False).order_by().values_list(*_KEY)
    return grouped.annotate(first=Min("created_at"), last=Max("created_at"), requests=Count("*")).order_by("-last")


@page_form(_("Register it"), ConnectorKeyForm, fresh=True)
@app_page(Tab(_("Keys"), "fingerprint"))
def keys(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Which keys are registered and which were used, so that a leaked or forgotten one is noticed."""
    form = ConnectorKeyForm(posted(request))
    if form.is_valid():
        try:
            actions.register_key(app=member.app, by=member.user, **form.cleaned_data)
        except Problem as refused:
            form.add_error("jwk" if isinstance(refused, InvalidConnectorKey) else None, refused.detail)
        else:
            message = gettext("The key is registered, and people are told so in 24 hours. The owners were written to.")
            messages.success(request, message)
            return redirect("portal:keys", member.app.app_id)
    return portal_page(request, "portal/keys.html", {"form": form, **_shown(member.app)}, member=member)


def _shown(app: App) -> dict[str, Any]:
    now = database_now()
    registered = key_queries.registered_keys(app)
    return {
        "keys": keys_of(app, now),
        "most": MOST_SHOWN,
        "registered": [(key, key.usable_from is not None and key.usable_from <= now) for key in registered],
        "is_open": app.status != AppStatus.CLOSED,
        "publish_at": f"https://{app.proved_domain}{WELL_KNOWN_PATH}" if app.proved_domain else "",
    }


@page_form(_("Remove it"), danger=True)
@app_page()
def remove(request: HttpRequest, member: AppMember, thumbprint: str) -> HttpResponse:
    """Vouch for this key no more, after a confirmation."""
    key = ConnectorKey.objects.select_related("app").filter(app=member.app, thumbprint=thumbprint[:43]).first()
    if key is None or key.thumbprint != thumbprint or key.registered_at is None:
        raise Http404
    if request.method != "POST":
        return portal_page(request, "portal/key_remove.html", {"key": key}, member=member)
    if actions.remove_key(key=key, by=member.user):
        messages.success(request, gettext("The key is removed: nobody vouches for it from now on."))
    else:
        messages.info(request, gettext("The key was removed already."))
    return redirect("portal:keys", member.app.app_id)
