"""What a person can do about an app: block it, let it ask again, report it, and refresh what it can read, or not."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from accounts.authentication import person_of
from accounts.interrupted.page_forms import Field, page_button
from consent.decisions import blocked_apps
from consent.errors import AuditUnavailable, MoveNotAllowed, UnknownApp, UnknownGrant
from consent.grants import actions as grant_actions
from consent.ledger import queries as ledger_queries
from consent.web import queries as web_queries
from consent.web.forms import ReportForm


def _page(request: HttpRequest, app_id: str, form: ReportForm, status: int = 200) -> HttpResponse:
    try:
        shown = web_queries.app_and_person(person_of(request), app_id)
    except UnknownApp:
        raise Http404 from None
    return render(request, "consent/app.html", {**shown, "form": form}, status=status)


@login_required
@require_safe
def app(request: HttpRequest, app_id: str) -> HttpResponse:
    """What blocking and reporting this app would do, before either is done."""
    return _page(request, app_id, ReportForm())


@require_POST
@login_required
@page_button(_("Block"), Field("stop", _("Also stop what it can read now"), "check"), danger=True)
def block(request: HttpRequest, app_id: str) -> HttpResponse:
    """End what waits, and where the box stayed ticked, everything that the app can read."""
    try:
        ended = blocked_apps.block_app(app_id=app_id, by=person_of(request), stop="stop" in request.POST)
    except UnknownApp:
        raise Http404 from None
    said = [gettext("Blocked. It cannot ask you for anything any more, and is not told why.")]
    if ended.requests:
        words = ngettext("%(n)d waiting request ended.", "%(n)d waiting requests ended.", ended.requests)
        said.append(words % {"n": ended.requests})
    if ended.grants:
        said.append(_stopped(ended.grants))
    messages.success(request, " ".join([*said, *_entry_follows(request)]))
    return redirect("consent:app", app_id)


@require_POST
@login_required
@page_button(_("Stop everything"), danger=True)
def stop_everything(request: HttpRequest, app_id: str) -> HttpResponse:
    """Stop all that this app can read, in one step."""
    try:
        stopped = blocked_apps.stop_app(app_id=app_id, by=person_of(request))
    except UnknownApp:
        raise Http404 from None
    if stopped:
        recalled = gettext("What the app already took cannot be recalled.")
        messages.success(request, " ".join([_stopped(stopped), recalled, *_entry_follows(request)]))
    else:
        messages.info(request, gettext("You share nothing with this app. Nothing was changed now."))
    return redirect("consent:app", app_id)


def _stopped(count: int) -> str:
    words = ngettext(
        "Sharing has stopped: %(n)d approval ended, and nothing more can be read.",
        "Sharing has stopped: %(n)d approvals ended, and nothing more can be read.",
        count,
    )
    return words % {"n": count}


def _entry_follows(request: HttpRequest) -> list[str]:
    waiting = ledger_queries.count_entries_that_follow(person_of(request))
    return [gettext("The entries in your history will follow.")] if waiting else []


@require_POST
@login_required
@page_button(_("Let it ask again"))
def unblock(request: HttpRequest, app_id: str) -> HttpResponse:
    try:
        blocked_apps.unblock_app(app_id=app_id, by=person_of(request))
    except UnknownApp:
        raise Http404 from None
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
        return redirect("consent:app", app_id)
    messages.success(request, gettext("It can ask you again. You decide on every request, as before."))
    return redirect("consent:app", app_id)


@require_POST
@login_required
@page_button(_("Send the report"), ReportForm)
def report(request: HttpRequest, app_id: str) -> HttpResponse:
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _page(request, app_id, form, status=400)
    try:
        blocked_apps.report_app(app_id=app_id, by=person_of(request), text=form.cleaned_data["text"])
    except UnknownApp:
        raise Http404 from None
    messages.success(request, gettext("Thank you. Our staff will look at it. The app is not told."))
    return redirect("consent:app", app_id)


@require_POST
@login_required
@page_button({"kept=yes": _("Renew again"), "kept=no": _("Stop renewing")})
def switch_refresh(request: HttpRequest, grant_id: str) -> HttpResponse:
    """Refresh what an app can read when it changes, or leave it as it is."""
    on = {"yes": True, "no": False}.get(request.POST.get("kept", ""))
    if on is None:
        messages.error(request, gettext("Nothing was changed. Try again."))
        return redirect("consent:grants")
    try:
        grant_actions.switch_refresh(grant_id=grant_id, by=person_of(request), on=on)
    except UnknownGrant:
        raise Http404 from None
    except MoveNotAllowed:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
    else:
        refreshed = gettext("Newer values will be sealed for the app when you change them.")
        left = gettext("The app keeps the last copy. What you change from now on is not shared with it.")
        messages.success(request, refreshed if on else left)
    return redirect("consent:grants")
