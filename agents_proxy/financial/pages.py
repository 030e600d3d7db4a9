"""The page of linked institutions; there is none where no aggregator is configured."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.authentication import person_of
from accounts.interrupted.page_forms import Field, page_button, page_form
from agents_proxy.financial import client, errors, links
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.refreshes import start_refresh
from agents_proxy.financial.words import OTHERWISE, REFRESHES
from agents_proxy.processing_consent import actions as consents
from agents_proxy.statements import statement
from agents_proxy.states import History, ItemStatus, Purpose, RefreshStatus
from common.problems import Problem

LASTS = timedelta(days=90)
_AGREED = Field("agreed", _("I agree"), "check")
_UNDER_WAY = (RefreshStatus.QUEUED, RefreshStatus.RUNNING)
_STATUS = {"active": (_("Linked"), "active"), "login_required": (_("Sign in there again"), "changed")}
View = Callable[..., HttpResponse]


def _only_where_configured(view: View) -> View:
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not client.is_configured():
            raise Http404
        return login_required(view)(request, *args, **kwargs)

    return checked


@_only_where_configured
@require_safe
def institutions(request: HttpRequest) -> HttpResponse:
    """What is linked, and the words to agree to before anything is."""
    return render(request, "financial/institutions.html", _page(request))


def _page(request: HttpRequest) -> dict[str, Any]:
    person = person_of(request)
    agreed = consents.own(person, Purpose.FINANCIAL) is not None
    items = [_shown(body) for body in linked_items.items_of(person)] if agreed else []
    bought = linked_items.purchases_by_category(person)
    most = max((count for _name, count in bought), default=1)
    return {
        "items": items,
        "reading": any(item["reading"] for item in items),
        "signals": linked_items.financial_signals(person),
        "bought": [{"name": name, "count": count, "width": round(100 * count / most, 1)} for name, count in bought],
        "identity_agreed": consents.own(person, Purpose.IDENTITY) is not None,
        "identity_statement": statement([Purpose.IDENTITY], requester=gettext("This service"), lasts=LASTS),
        "agreed": agreed,
        "statement": statement([Purpose.FINANCIAL], requester=gettext("This service"), lasts=LASTS),
    }


@_only_where_configured
@page_button(_("Show who they say I am"), _AGREED)
def identity(request: HttpRequest, item_id: str) -> HttpResponse:
    """Who the institution says this person is: asked now, under its own consent, and shown on this answer alone."""
    person = person_of(request)
    try:
        linked_items.require_consent(person)
        linked_items.own_item(person, item_id)
        if consents.own(person, Purpose.IDENTITY) is None:
            if request.POST.get("agreed") != "yes":
                raise errors.FinancialConsentRequired
            consents.give(by=person, purposes=[Purpose.IDENTITY], lasts=LASTS)
        stored = linked_items.identity_of(by=person, item_id=item_id)
    except Problem as problem:
        return _show_refusal(request, problem)
    addresses = [", ".join(address.values()) for address in stored["addresses"]]
    found = {**stored, "addresses": addresses, "empty": not any(stored.values())}
    return render(request, "financial/institutions.html", {**_page(request), "identity": found, "identity_of": item_id})


@_only_where_configured
@page_button(_("Link an institution"), _AGREED)
def link(request: HttpRequest) -> HttpResponse:
    """Keep the agreement where there is none yet, and open a visit to the aggregator's page."""
    person = person_of(request)
    if consents.own(person, Purpose.FINANCIAL) is None:
        if request.POST.get("agreed") != "yes":
            messages.error(request, gettext("Agree first; nothing is read without that."))
            return redirect("financial:institutions")
        consents.give(by=person, purposes=[Purpose.FINANCIAL], lasts=LASTS)
    try:
        made = links.start_link(by=person)
    except Problem as problem:
        return _show_refusal(request, problem)
    return redirect("financial:go_on", made.link_id)


@_only_where_configured
@page_button(_("Sign in there again"))
def link_again(request: HttpRequest, item_id: str) -> HttpResponse:
    """Open a visit to the aggregator's page for an institution that is linked already."""
    try:
        made = links.start_link(by=person_of(request), item_id=item_id)
    except errors.ItemRevoked:
        messages.error(request, gettext("The institution ended the access. Link it anew."))
        return redirect("financial:institutions")
    except Problem as problem:
        return _show_refusal(request, problem)
    return redirect("financial:go_on", made.link_id)


@_only_where_configured
@require_safe
def go_on(request: HttpRequest, link_id: str) -> HttpResponse:
    """A plain link to the aggregator's page: our policy lets forms lead nowhere else."""
    made = links.open_link(by=person_of(request), link_id=link_id)
    return render(request, "financial/go_on.html", {"link": made})


@_only_where_configured
@require_safe
def linked(request: HttpRequest) -> HttpResponse:
    """Where the aggregator's page leads back to. The state in the query works once, for the person who left."""
    try:
        item = links.finish_link(by=person_of(request), state=request.GET.get("state", "")[:200])
    except Problem as problem:
        return _show_refusal(request, problem)
    if item is None:
        messages.info(request, gettext("Nothing was linked."))
    else:
        messages.success(request, gettext("Linked. What you bought is being read now."))
    return redirect("financial:institutions")


@_only_where_configured
@page_button(_("Read again"))
def refresh(request: HttpRequest, item_id: str) -> HttpResponse:
    return _run_action(request, item_id, lambda item: start_refresh(item), gettext("What changed is being read now."))


@_only_where_configured
@page_form(_("Remove it"), danger=True)
def remove(request: HttpRequest, item_id: str) -> HttpResponse:
    """Ask first: what was read is gone for good."""
    person = person_of(request)
    if request.method != "POST":
        body = linked_items.item_of(person, item_id)
        return render(request, "financial/remove.html", {"item": body})

    def end(item: Any) -> None:
        linked_items.remove_item(by=person, item_id=item.item_id)

    return _run_action(request, item_id, end, gettext("Removed there and here, with all that was read."))


def _run_action(request: HttpRequest, item_id: str, act: Callable[[Any], Any], words: str) -> HttpResponse:
    try:
        linked_items.require_consent(person_of(request))
        act(linked_items.own_item(person_of(request), item_id))
    except Problem as problem:
        return _show_refusal(request, problem)
    messages.success(request, words)
    return redirect("financial:institutions")


def _show_refusal(request: HttpRequest, problem: Problem) -> HttpResponse:
    if isinstance(problem, errors.FinancialConsentRequired):
        messages.error(request, gettext("Agree first; nothing is read without that."))
    elif isinstance(problem, errors.AggregatorProblem):
        messages.error(request, gettext("That did not work just now. Nothing has changed; try again."))
    else:
        raise problem
    return redirect("financial:institutions")


def _shown(body: dict[str, Any]) -> dict[str, Any]:
    (label, badge), refresh = _STATUS[body["status"]], body["refresh"] or {}
    failure = refresh.get("errorCode")
    return {
        **body,
        "label": label,
        "badge": badge,
        "reading": refresh.get("status") in _UNDER_WAY,
        "again": body["status"] == ItemStatus.LOGIN_REQUIRED or body["endsAt"] is not None,
        "ends_at": parse_datetime(body["endsAt"] or ""),
        "older": body["history"] == History.INITIAL,
        "failure": REFRESHES.get(failure, OTHERWISE) if failure else "",
    }
