"""Every change in the admin needs a second factor of the last ten minutes, so that a stolen session is not enough.

The rule holds for all changes, so that none can be forgotten. An "add" form asks for the second factor before it is
filled in. Any other form that is sent too late is stored in the session, encrypted, and shown again after the
confirmation, for one more click: it is neither lost nor carried out by itself.
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
from django.utils.http import urlencode
from django.utils.translation import gettext

from accounts.sign_in.confirming import where_to_confirm
from accounts.sign_in.second_factors import has_second_factor, showed_second_factor_recently

_STORED_FORM = "admin_waits_for_confirmation"
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FORM_CONTROLS = ("csrfmiddlewaretoken", "action", "index", "select_across", "_selected_action")


def require_second_factor(site: AdminSite, view: Callable[..., Any]) -> Callable[..., Any]:
    """`view`, which changes something only where a second factor was shown recently."""

    @wraps(view)
    def confirmed(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        changes = request.method not in _SAFE_METHODS
        if (changes or _is_add_form(request)) and not showed_second_factor_recently(request):
            if changes:
                _store_form(request)
            return redirect_to_second_factor(request, request.get_full_path())
        kept = None if changes else _pop_stored_form(request)
        return view(request, *args, **kwargs) if kept is None else _confirmation_page(site, request, kept)

    return confirmed


def redirect_to_second_factor(request: HttpRequest, wanted: str) -> HttpResponse:
    """Redirect to the page that asks for a second factor and leads back, or to the one that sets it up."""
    user: Any = request.user
    if not has_second_factor(user):
        text = gettext("The staff's pages open after a two-step sign-in alone. Set it up here, then open them again.")
        messages.warning(request, text)
        return redirect("mfa_index")
    text = gettext("The staff's pages ask for your authenticator app, passkey or sign-in recovery code.")
    messages.info(request, text)
    return redirect(f"{where_to_confirm(user)}?{urlencode({REDIRECT_FIELD_NAME: wanted})}")


def _is_add_form(request: HttpRequest) -> bool:
    """Whether this is an "add" form, which nobody should have to fill in twice."""
    match = request.resolver_match
    return match is not None and (match.url_name or "").endswith("_add")


def _store_form(request: HttpRequest) -> None:
    request.session[_STORED_FORM] = {
        "path": request.get_full_path(),
        "fields": request.POST.urlencode(),
        "at": time.time(),
    }


def _pop_stored_form(request: HttpRequest) -> QueryDict | None:
    """The form that was sent to this page and stored, once; one that is older than a confirmation lasts is dropped."""
    kept = request.session.get(_STORED_FORM)
    if kept is None or kept["path"] != request.get_full_path():
        return None
    if not showed_second_factor_recently(request):
        return None
    del request.session[_STORED_FORM]
    fresh = time.time() - kept["at"] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    return QueryDict(kept["fields"]) if fresh else None


def _confirmation_page(site: AdminSite, request: HttpRequest, kept: QueryDict) -> HttpResponse:
    context = {
        **site.each_context(request),
        "title": gettext("Do this now?"),
        "action_label": _action_label(site, request, kept),
        "chosen": len(kept.getlist("_selected_action")),
        "shown": [(name, values) for name, values in kept.lists() if name not in _FORM_CONTROLS],
        "hidden": [(name, value) for name, values in kept.lists() for value in values if name != "csrfmiddlewaretoken"],
        "address": request.get_full_path(),
    }
    return TemplateResponse(request, "admin/do_this_now.html", context)


def _action_label(site: AdminSite, request: HttpRequest, kept: QueryDict) -> str:
    """The label of the list action that was chosen; empty for a form."""
    match = request.resolver_match
    for model, page in site._registry.items():
        if match is not None and match.url_name == f"{model._meta.app_label}_{model._meta.model_name}_changelist":
            found = page.get_actions(request).get(kept.get("action", ""))
            return str(found[2]) if found else ""
    return ""
