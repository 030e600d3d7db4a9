"""The pages of an app's destinations: where people can send their brand affinity."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_forms import page_button, page_form
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.models import Destination
from common.forms import PlainLine
from developers.members.models import AppMember
from developers.webhooks.words import address_refused
from portal.fields import ReceiverAddress
from portal.shell import Refusals, Tab, app_page, portal_page, posted


class DestinationForm(forms.Form):
    name = PlainLine(
        label=_("Name"), max_length=80, help_text=_("What people read before they agree, such as “Trips CRM”.")
    )
    url = ReceiverAddress()


@page_form(_("Add the destination"), DestinationForm, fresh=True)
@app_page(Tab(_("Destinations"), "share"))
def destinations(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The app's destinations, and a form that adds one; its secret is on the page that answers, and never again."""
    form = DestinationForm(posted(request))
    if form.is_valid():
        with Refusals(form, "url", address_refused):
            added, secret = destination_actions.add_destination(app=member.app, by=member.user, **form.cleaned_data)
            return _secret_once(request, member, added, secret)
    shown = {
        "rows": destination_queries.destinations_of(member.app),
        "form": form,
        "most": destination_actions.MOST_DESTINATIONS,
    }
    return portal_page(request, "portal/destinations/list.html", shown, member=member)


@page_button({"enabled=yes": _("Enable"), "enabled=no": _("Disable")})
@app_page()
def switch(request: HttpRequest, member: AppMember, destination_id: str) -> HttpResponse:
    destination = destination_queries.destination_of(member.app, destination_id)
    if request.POST.get("enabled") == "yes":
        destination_actions.enable_destination(destination=destination, by=member.user)
        messages.success(request, gettext("Enabled. People can send there again."))
    elif request.POST.get("enabled") == "no":
        destination_actions.disable_destination(destination=destination, by=member.user)
        messages.success(request, gettext("Disabled. Nothing is sent there, what waited neither."))
    return redirect("portal:destinations", member.app.app_id)


@page_button(_("Renew the secret"), danger=True, fresh=True)
@app_page()
def renew(request: HttpRequest, member: AppMember, destination_id: str) -> HttpResponse:
    """A new secret, on the page that answers and never again."""
    destination = destination_queries.destination_of(member.app, destination_id)
    secret = destination_actions.renew_secret(destination=destination, by=member.user)
    return _secret_once(request, member, destination, secret)


@page_form(_("Remove the destination"), danger=True)
@app_page()
def remove(request: HttpRequest, member: AppMember, destination_id: str) -> HttpResponse:
    """What removing means, and then the deed."""
    destination = destination_queries.destination_of(member.app, destination_id)
    if request.method != "POST":
        shown = {"destination": destination}
        return portal_page(request, "portal/destinations/remove.html", shown, member=member)
    destination_actions.remove_destination(destination=destination, by=member.user)
    messages.success(request, gettext("The destination is removed. Nothing is sent there any more."))
    return redirect("portal:destinations", member.app.app_id)


def _secret_once(request: HttpRequest, member: AppMember, destination: Destination, secret: str) -> HttpResponse:
    shown = {"destination": destination, "secret": secret}
    return portal_page(request, "portal/destinations/secret.html", shown, member=member)
