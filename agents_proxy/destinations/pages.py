"""The portal's page of an app's destinations: where people can send their brand affinity."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.interrupted.page_forms import page_button, page_form
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.forms import DestinationForm
from agents_proxy.destinations.models import Destination
from common.problems import Problem
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page
from developers.webhooks.words import address_refused

P = ParamSpec("P")
DestinationView = Callable[Concatenate[HttpRequest, AppMember, Destination, P], HttpResponse]
MemberView = Callable[Concatenate[HttpRequest, AppMember, str, P], HttpResponse]


def _of_destination(view: DestinationView[P]) -> MemberView[P]:
    """For a view of one destination; 404 where the app has none of this ID."""

    @wraps(view)
    def found(
        request: HttpRequest, member: AppMember, destination_id: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        try:
            destination = destination_queries.destination_of(member.app, destination_id)
        except UnknownDestination:
            raise Http404 from None
        return view(request, member, destination, *args, **kwargs)

    return cast("MemberView[P]", found)


@require_http_methods(["GET", "HEAD", "POST"])
@page_form(_("Add the destination"), DestinationForm, fresh=True)
@app_page()
def destinations(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The app's destinations, and a form that adds one; its secret is on the page that answers, and never again."""
    form = DestinationForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            added, secret = destination_actions.add_destination(app=member.app, by=member.user, **form.cleaned_data)
        except Problem as refused:
            form.add_error("url", address_refused(refused))
        else:
            return _secret_once(request, member, added, secret)
    shown = {
        "rows": destination_queries.destinations_of(member.app),
        "form": form,
        "most": destination_actions.MOST_DESTINATIONS,
    }
    status = 400 if form.is_bound else 200
    return portal_page(request, "developers/destinations/list.html", shown, member=member, status=status)


@require_POST
@page_button({"enabled=yes": _("Enable"), "enabled=no": _("Disable")})
@app_page()
@_of_destination
def switch(request: HttpRequest, member: AppMember, destination: Destination) -> HttpResponse:
    """Enable or disable."""
    if request.POST.get("enabled") == "yes":
        destination_actions.enable_destination(destination=destination, by=member.user)
        messages.success(request, gettext("Enabled. People can send there again."))
    elif request.POST.get("enabled") == "no":
        destination_actions.disable_destination(destination=destination, by=member.user)
        messages.success(request, gettext("Disabled. Nothing is sent there, what waited neither."))
    return redirect("destinations:destinations", member.app.app_id)


@require_POST
@page_button(_("Renew the secret"), danger=True, fresh=True)
@app_page()
@_of_destination
def renew(request: HttpRequest, member: AppMember, destination: Destination) -> HttpResponse:
    """A new secret, on the page that answers and never again."""
    secret = destination_actions.renew_secret(destination=destination, by=member.user)
    return _secret_once(request, member, destination, secret)


@require_http_methods(["GET", "HEAD", "POST"])
@page_form(_("Remove the destination"), danger=True)
@app_page()
@_of_destination
def remove(request: HttpRequest, member: AppMember, destination: Destination) -> HttpResponse:
    """What removing means, and then the deed."""
    if request.method != "POST":
        shown = {"destination": destination}
        return portal_page(request, "developers/destinations/remove.html", shown, member=member)
    destination_actions.remove_destination(destination=destination, by=member.user)
    messages.success(request, gettext("The destination is removed. Nothing is sent there any more."))
    return redirect("destinations:destinations", member.app.app_id)


def _secret_once(request: HttpRequest, member: AppMember, destination: Destination, secret: str) -> HttpResponse:
    shown = {"destination": destination, "secret": secret}
    return portal_page(request, "developers/destinations/secret.html", shown, member=member)
