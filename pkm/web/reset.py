"""The page for whoever lost every way into their data: what giving it up means, and the way back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.middleware import wait_for_sign_in
from accounts.interrupted.page_forms import Field, page_button, page_form
from accounts.sign_in.confirming import signed_in_recently
from pkm.reset import actions as reset_actions
from pkm.reset.actions import pending_reset
from pkm.web.my_data import has_vault

_SIGN_IN = "/accounts/reauthenticate/?" + urlencode({"next": "/account/security/reset/"})


@page_form(
    _("Erase and start over"),
    Field("understood", _("I have no way left to unlock my data, and it may be destroyed."), "check"),
    danger=True,
)
def give_up(request: HttpRequest) -> HttpResponse:
    """Behind a fresh sign-in, and only where a box says that it is understood."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    if request.method != "POST":
        return _page(request)
    if not signed_in_recently(request):
        return wait_for_sign_in(request, _SIGN_IN)
    if "understood" not in request.POST:
        return _page(request, unconfirmed=True)
    reset_actions.request_reset(by=user)
    return redirect("vault-reset")


def _page(request: HttpRequest, *, unconfirmed: bool = False) -> HttpResponse:
    shown = {
        "reset": pending_reset(person_of(request)),
        "fresh": signed_in_recently(request),
        "reauthenticate_url": _SIGN_IN,
        "unconfirmed": unconfirmed,
        "days": reset_actions.RESET_DELAY.days,
    }
    return render(request, "account_security/reset.html", shown, status=400 if unconfirmed else 200)


@page_button(_("Keep my data"))
def keep(request: HttpRequest) -> HttpResponse:
    """Taking it back needs no fresh sign-in: it destroys nothing."""
    if reset_actions.take_back_reset(by=person_of(request)):
        messages.success(request, gettext("Your data stays as it is."))
    return redirect("security")
