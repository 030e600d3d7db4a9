"""The middleware that keeps forms whose session or token had ended, and lets them be confirmed or discarded."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from accounts.interrupted import waiting_forms
from accounts.interrupted.page_actions import (
    PAGE_FIELD,
    PageAction,
    Words,
    action_of,
    address_for_get,
    can_wait,
    comes_from_our_page,
    held_by,
    page_of,
)
from accounts.interrupted.waiting_forms import FormToConfirm, WaitingForm
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm

_TRY_LATER = 429
_REDIRECTS = (301, 302, 303, 307, 308)


class InterruptedActions:
    """Behind the protection against forged forms: what comes here without a session had a valid token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code in _REDIRECTS and response["Location"].startswith("/"):
            # whatever `next` said: a browser follows by GET, and some addresses take nothing but a POST
            response["Location"] = address_for_get(response["Location"])
        _forget_completed(request, response)
        waiting_forms.write_cookie(request, response)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        action = action_of(request.resolver_match)
        if request.method != "POST" or action is None or action.open_to_all:
            return None
        if request.user.is_authenticated:
            if not action.fresh or signed_in_recently(request):
                return None
            back = page_of(request, action, waiting_forms.values_of(request, action))
            return wait_for_sign_in(request, action, f"{where_to_confirm(request.user)}?{urlencode({'next': back})}")
        if comes_from_our_page(request) is False:
            return waiting_forms.sign_in_and_return(page_of(request, action, {}))
        return wait_for_sign_in(request, action)


def wait_for_sign_in(request: HttpRequest, action: PageAction, to: str | None = None) -> HttpResponse:
    """Store this POST and redirect to the sign-in, or to `to`; one that is too large is shown on a page instead."""
    if not waiting_forms.store(request, action):
        return _too_large(request, action)
    values = waiting_forms.values_of(request, action)
    return redirect(to) if to else waiting_forms.sign_in_and_return(page_of(request, action, values))


def _too_large(request: HttpRequest, action: PageAction) -> HttpResponse:
    values = waiting_forms.values_of(request, action)
    words = Words(gettext("What you sent is too long to be kept while you sign in."), gettext("Send it now"))
    again = FormToConfirm(
        "", request.get_full_path(), page_of(request, action, values), words,
        waiting_forms.filled_fields(action, values), request.POST.get(PAGE_FIELD, ""),
    )  # fmt: skip
    return render(request, "accounts/asked_again.html", {"act": again, "sign_in_beside": True}, status=403)


def _forget_completed(request: HttpRequest, response: HttpResponse) -> None:
    """Drop a form that reached its view, whatever the answer: its own page shows the rest and holds the text."""
    refused = response.status_code >= 500 or response.status_code in (403, _TRY_LATER)
    if request.method != "POST" or refused or action_of(request.resolver_match) is None:
        return
    if not request.user.is_authenticated or hasattr(request, "waiting_forms_changed"):
        return
    for row in waiting_forms.stored_forms(request):
        if row.address == request.get_full_path():
            waiting_forms.forget(request, row.key)


def ask_again(request: HttpRequest) -> HttpResponse | None:
    """A page to confirm a form whose token was missing or too old; None where it may not be confirmed."""
    action = action_of(request.resolver_match)
    owner, _page = held_by(request)
    is_our_page = comes_from_our_page(request)
    if action is None or is_our_page is False or not (is_our_page or owner):
        return None
    if not (request.user.is_authenticated or action.open_to_all):
        return wait_for_sign_in(request, action)
    if owner and owner != getattr(request.user, "public_id", owner):
        return None  # the page of somebody who used this browser before
    if action.on_its_page:
        return wait_for_sign_in(request, action, request.get_full_path())
    row = WaitingForm(owner, request.get_full_path(), waiting_forms.values_of(request, action))
    again = waiting_forms.form_to_confirm(request, row)
    return render(request, "accounts/asked_again.html", {"act": again}, status=403) if again else None


def _leave_words(request: HttpRequest, kwargs: dict[str, Any], values: dict[str, str]) -> Words | None:
    return None  # what waits is shown with a button that has a fresh token


LEAVE = PageAction(page=lambda kwargs, values: "/consent/", words=_leave_words, open_to_all=True)


@require_POST
@can_wait(LEAVE)
def leave(request: HttpRequest) -> HttpResponse:
    """Discard a waiting form; the person stays where they are."""
    waiting_forms.forget(request, request.POST.get("leave", "")[:64])
    _owner, page = held_by(request)
    return redirect(address_for_get(page) if page else "/consent/")
