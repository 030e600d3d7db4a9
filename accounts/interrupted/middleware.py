"""The middleware that keeps forms whose session or token had ended, and lets them be confirmed or discarded."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode

from accounts.interrupted import page_forms, unconfirmed_forms
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
            response["Location"] = page_forms.page_at(response["Location"])
        _forget_completed(request, response)
        unconfirmed_forms.write_cookie(request, response)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        form = page_forms.form_of(request.resolver_match)
        if request.method != "POST" or form is None or form.open_to_all:
            return None
        if request.user.is_authenticated:
            if not form.fresh or signed_in_recently(request):
                return None
            back = urlencode({"next": page_forms.page_of(request)})
            return wait_for_sign_in(request, f"{where_to_confirm(request.user)}?{back}")
        if page_forms.comes_from_our_page(request) is False:
            return unconfirmed_forms.sign_in_and_return(page_forms.page_of(request))
        return wait_for_sign_in(request)


def wait_for_sign_in(request: HttpRequest, to: str | None = None) -> HttpResponse:
    """Store this POST and redirect to the sign-in, or to `to`; one that is too large is shown on a page instead."""
    form = page_forms.form_of(request.resolver_match)
    if form and form.labels and not form.is_sign_in and not unconfirmed_forms.store(request, form):
        return _too_large(request, form)
    return redirect(to) if to else unconfirmed_forms.sign_in_and_return(page_forms.page_of(request))


def _too_large(request: HttpRequest, form: page_forms.PageForm) -> HttpResponse:
    again = unconfirmed_forms.form_to_confirm(request, unconfirmed_forms.sent_form(request, form))
    if again is None:
        return unconfirmed_forms.sign_in_and_return(page_forms.page_of(request))
    context = {"act": again, "sign_in_beside": True, "page_field": request.POST.get(page_forms.PAGE_FIELD, "")}
    return render(request, "accounts/asked_again.html", context, status=403)


def _forget_completed(request: HttpRequest, response: HttpResponse) -> None:
    """Drop a form that reached its view, whatever the answer: its own page shows the rest and holds the text."""
    refused = response.status_code >= 500 or response.status_code in (403, _TRY_LATER)
    if request.method != "POST" or refused or page_forms.form_of(request.resolver_match) is None:
        return
    if not request.user.is_authenticated or hasattr(request, "unconfirmed_forms_changed"):
        return
    for row in unconfirmed_forms.stored_forms(request):
        if row.address == request.get_full_path():
            unconfirmed_forms.forget(request, row.key)


def confirmation_page(request: HttpRequest) -> HttpResponse | None:
    """A page to confirm a form whose token was missing or too old; None where it may not be confirmed."""
    form, owner = page_forms.form_of(request.resolver_match), page_forms.origin_of(request).owner
    is_our_page = page_forms.comes_from_our_page(request)
    if form is None or is_our_page is False or not (is_our_page or owner):
        return None
    if not (request.user.is_authenticated or form.open_to_all):
        return wait_for_sign_in(request)
    if owner and owner != getattr(request.user, "public_id", owner):
        return None  # the page of somebody who used this browser before
    if form.on_its_page:
        return wait_for_sign_in(request, request.get_full_path())
    again = unconfirmed_forms.form_to_confirm(request, unconfirmed_forms.sent_form(request, form))
    return render(request, "accounts/asked_again.html", {"act": again}, status=403) if again else None


@page_forms.page_button(open_to_all=True)
def leave(request: HttpRequest) -> HttpResponse:
    """Discard a waiting form; the person stays where they are."""
    unconfirmed_forms.forget(request, request.POST.get("leave", "")[:64])
    page = page_forms.origin_of(request).page
    return redirect(page_forms.page_at(page) if page else "/consent/")
