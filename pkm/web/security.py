"""The security page: the lock of the account (allauth's pages) and the lock of the data, side by side."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from accounts.authentication import person_of, signed_in_recently
from accounts.interrupted.middleware import wait_for_sign_in
from accounts.interrupted.page_actions import PageAction, can_wait
from pkm.errors import LastWrapper, TooManyWrappers, UnknownWrapper
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.web import page_actions as web_page_actions

_ICONS = {"passphrase": "key", "recovery": "file", "passkey": "fingerprint"}


@login_required
@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Every way to sign in and every way to unlock."""
    user = person_of(request)
    keys = vault_queries.vault_keys(user)
    shown = ("wrapper_id", "kind", "label", "created_at", "last_used_at")
    wrappers = [
        {name: wrapper[name] for name in shown} | {"icon": _ICONS[wrapper["kind"]]} for wrapper in keys["wrappers"]
    ]
    return render(
        request,
        "account_security/security.html",
        {
            "has_vault": keys["vault_status"] != "absent",
            "wrappers": wrappers,
            "removed": [
                wrapper | {"icon": _ICONS[wrapper["kind"]]} for wrapper in vault_queries.removed_wrappers(user)
            ],
            "fresh": signed_in_recently(request),
            "reauthenticate_url": _reauthenticate_url(),
            "person": {"name": user.email, "displayName": user.get_short_name()},
            "known": [part for part in {user.email, user.email.split("@")[0], user.display_name} if part],
        },
    )


def _reauthenticate_url() -> str:
    return "/accounts/reauthenticate/?" + urlencode({"next": "/account/security/"})


def _change(
    request: HttpRequest, wrapper_id: str, change: Callable[..., Any], action: PageAction, done: str
) -> HttpResponse:
    """A change of the ways to unlock needs a fresh sign-in, so that a stolen session cannot lock anyone out."""
    if not signed_in_recently(request):
        return wait_for_sign_in(request, action, _reauthenticate_url())
    try:
        change(by=person_of(request), wrapper_id=wrapper_id)
    except UnknownWrapper:
        raise Http404 from None
    except LastWrapper:
        messages.error(request, gettext("This is the last way to unlock your data, so it cannot be removed."))
    except TooManyWrappers:
        messages.error(request, gettext("There are as many ways to unlock as there can be. Remove one first."))
    else:
        messages.success(request, done)
    return redirect("security")


@require_POST
@login_required
@can_wait(web_page_actions.REMOVE_WRAPPER)
def remove(request: HttpRequest, wrapper_id: str) -> HttpResponse:
    done = gettext("Removed. It no longer unlocks your data. You can put it back for 7 days.")
    return _change(request, wrapper_id, vault_actions.remove_wrapper, web_page_actions.REMOVE_WRAPPER, done)


@require_POST
@login_required
@can_wait(web_page_actions.RESTORE_WRAPPER)
def restore(request: HttpRequest, wrapper_id: str) -> HttpResponse:
    done = gettext("Put back. It unlocks your data again.")
    return _change(request, wrapper_id, vault_actions.restore_wrapper, web_page_actions.RESTORE_WRAPPER, done)
