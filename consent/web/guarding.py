"""What a person can do about an app: block it, let it ask again, report it, and renew what it can read, or not."""

from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.page_actions import can_wait
from consent import actions, queries
from consent.errors import AuditUnavailable, MoveNotAllowed, UnknownApp, UnknownGrant
from consent.web import interrupted, reads
from consent.web.forms import ReportForm

if TYPE_CHECKING:
    from accounts.models import User


def _person(request: HttpRequest) -> "User":
    return cast("User", request.user)


def _page(request: HttpRequest, app_id: str, form: ReportForm, status: int = 200) -> HttpResponse:
    try:
        shown = reads.app_and_person(_person(request), app_id)
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
@can_wait(interrupted.BLOCK)
def block(request: HttpRequest, app_id: str) -> HttpResponse:
    """End what waits, and where the box stayed ticked, everything that the app can read."""
    try:
        ended = actions.block_app(app_id=app_id, by=_person(request), stop="stop" in request.POST)
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
@can_wait(interrupted.STOP_EVERYTHING)
def stop_everything(request: HttpRequest, app_id: str) -> HttpResponse:
    """Stop all that this app can read, in one step."""
    try:
        stopped = actions.stop_app(app_id=app_id, by=_person(request))
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
    waiting = queries.count_entries_that_follow(_person(request))
    return [gettext("The entries in your history will follow.")] if waiting else []


@require_POST
@login_required
@can_wait(interrupted.UNBLOCK)
def unblock(request: HttpRequest, app_id: str) -> HttpResponse:
    try:
        actions.unblock_app(app_id=app_id, by=_person(request))
    except UnknownApp:
        raise Http404 from None
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
        return redirect("consent:app", app_id)
    messages.success(request, gettext("It can ask you again. You decide on every request, as before."))
    return redirect("consent:app", app_id)


@require_POST
@login_required
@can_wait(interrupted.REPORT)
def report(request: HttpRequest, app_id: str) -> HttpResponse:
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _page(request, app_id, form, status=400)
    try:
        actions.report_app(app_id=app_id, by=_person(request), text=form.cleaned_data["text"])
    except UnknownApp:
        raise Http404 from None
    messages.success(request, gettext("Thank you. Our staff will look at it. The app is not told."))
    return redirect("consent:app", app_id)


@require_POST
@login_required
@can_wait(interrupted.KEEP)
def keep(request: HttpRequest, grant_id: str) -> HttpResponse:
    """Renew what an app can read when it changes, or leave it as it is."""
    kept = {"yes": True, "no": False}.get(request.POST.get("kept", ""))
    if kept is None:
        messages.error(request, gettext("Nothing was changed. Try again."))
        return redirect("consent:grants")
    try:
        actions.keep_current(grant_id=grant_id, by=_person(request), kept=kept)
    except UnknownGrant:
        raise Http404 from None
    except MoveNotAllowed:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
    else:
        renewed = gettext("Newer values will be sealed for the app when you change them.")
        left = gettext("The app keeps the last copy. What you change from now on is not shared with it.")
        messages.success(request, renewed if kept else left)
    return redirect("consent:grants")
