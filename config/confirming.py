"""What staff change takes a second factor of the last ten minutes: a session that was taken over is not enough.

One rule for every change, so that none can be forgotten: making tokens, suspending apps, exposing scopes, granting
powers, approving, ending. A form that makes something asks before it is filled in. Whatever else is sent too late is
kept in the session, sealed, and shown again after the confirmation, for one more click: it is neither lost nor done
by itself.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

from accounts.second_factors import has_second_factor, showed_second_factor_recently

_KEPT = "admin_waits_for_confirmation"
_READING = ("GET", "HEAD", "OPTIONS")
_OF_THE_FORM_ITSELF = ("csrfmiddlewaretoken", "action", "index", "select_across", "_selected_action")


def confirmed_first(site: AdminSite, view: Callable[..., Any]) -> Callable[..., Any]:
    """`view`, which changes something only for somebody who just showed their second factor."""

    @wraps(view)
    def confirmed(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        changes = request.method not in _READING
        if (changes or _begins_something(request)) and not showed_second_factor_recently(request):
            if changes:
                _keep(request)
            return lead_to_second_factor(request, request.get_full_path())
        kept = None if changes else _take_kept(request)
        return view(request, *args, **kwargs) if kept is None else _ask_again(site, request, kept)

    return confirmed


def lead_to_second_factor(request: HttpRequest, wanted: str) -> HttpResponse:
    """To where the second factor is shown and then back, or to where one is set up."""
    user: Any = request.user
    if not has_second_factor(user):
        text = gettext("The staff's pages open after a two-step sign-in alone. Set it up here, then open them again.")
        messages.warning(request, text)
        return redirect("mfa_index")
    text = gettext("The staff's pages ask for your authenticator app, passkey or sign-in recovery code.")
    messages.info(request, text)
    app = user.authenticator_set.filter(type="totp").exists()
    way = "mfa_reauthenticate" if app else "mfa_reauthenticate_webauthn"
    return redirect(f"{reverse(way)}?{urlencode({REDIRECT_FIELD_NAME: wanted})}")


def _begins_something(request: HttpRequest) -> bool:
    """Whether this page is a form for something new, which nobody should fill in twice."""
    match = request.resolver_match
    return match is not None and (match.url_name or "").endswith("_add")


def _keep(request: HttpRequest) -> None:
    request.session[_KEPT] = {"path": request.get_full_path(), "fields": request.POST.urlencode(), "at": time.time()}


def _take_kept(request: HttpRequest) -> QueryDict | None:
    """What was sent to this page and waits, once; what waited for longer than a confirmation lasts is dropped."""
    kept = request.session.get(_KEPT)
    if kept is None or kept["path"] != request.get_full_path():
        return None
    if not showed_second_factor_recently(request):
        return None
    del request.session[_KEPT]
    fresh = time.time() - kept["at"] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    return QueryDict(kept["fields"]) if fresh else None


def _ask_again(site: AdminSite, request: HttpRequest, kept: QueryDict) -> HttpResponse:
    context = {
        **site.each_context(request),
        "title": gettext("Do this now?"),
        "deed": _deed(site, request, kept),
        "chosen": len(kept.getlist("_selected_action")),
        "shown": [(name, values) for name, values in kept.lists() if not name.startswith(_OF_THE_FORM_ITSELF)],
        "hidden": [(name, value) for name, values in kept.lists() for value in values if name != "csrfmiddlewaretoken"],
        "address": request.get_full_path(),
    }
    return TemplateResponse(request, "admin/do_this_now.html", context)


def _deed(site: AdminSite, request: HttpRequest, kept: QueryDict) -> str:
    """What an action of a list calls itself; empty for a form."""
    match = request.resolver_match
    for model, page in site._registry.items():
        if match is not None and match.url_name == f"{model._meta.app_label}_{model._meta.model_name}_changelist":
            found = page.get_actions(request).get(kept.get("action", ""))
            return str(found[2]) if found else ""
    return ""
