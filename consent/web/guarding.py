"""What a person can do about an app: block it, let it ask again, report it, and renew what it can read, or not."""

from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.page_actions import can_wait
from consent import actions
from consent.errors import MoveNotAllowed, UnknownApp, UnknownGrant
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
    try:
        cancelled = actions.block_app(app_id=app_id, by=_person(request))
    except UnknownApp:
        raise Http404 from None
    done = gettext("Blocked. It cannot ask you for anything any more, and is not told why.")
    if cancelled:
        ended = ngettext("%(n)d waiting request ended.", "%(n)d waiting requests ended.", cancelled) % {"n": cancelled}
        done = f"{done} {ended}"
    messages.success(request, done)
    return redirect("consent:app", app_id)


@require_POST
@login_required
@can_wait(interrupted.UNBLOCK)
def unblock(request: HttpRequest, app_id: str) -> HttpResponse:
    try:
        actions.unblock_app(app_id=app_id, by=_person(request))
    except UnknownApp:
        raise Http404 from None
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
    else:
        renewed = gettext("Newer values will be sealed for the app when you change them.")
        left = gettext("The app keeps the last copy. What you change from now on is not shared with it.")
        messages.success(request, renewed if kept else left)
    return redirect("consent:grants")
