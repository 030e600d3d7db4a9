"""Who can read what, and what a person can do about it: pause, stop, keep, block, report, refresh or not."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import Field, page_button, page_form
from accounts.personas import own_actor_profile
from common.clock import database_now
from common.problems import Problem
from consent.decisions import blocked_apps, unused
from consent.errors import AuditUnavailable, MoveNotAllowed, UnknownApp, UnknownGrant
from consent.grants import actions as grant_actions
from consent.ledger import queries as ledger_queries
from consent.web.app_list import app_list, pausing
from consent.web.forms import ReportForm, UnusedForm
from consent.web.sharing import app_of_grant, app_page
from developers.oauth.queries import live_hosts_of
from pkm.web.schemas import NotesBody

Done = TypeVar("Done")


def _page(request: HttpRequest, app_id: str, form: ReportForm, status: int = 200) -> HttpResponse:
    given = {name: request.GET.get(name, "") for name in ("older", "grant")}
    now = database_now()
    shown = app_page(person_of(request), app_id, now, older=given["older"], including=given["grant"])
    return render(
        request, "consent/apps.html", {**_list(request, now), **shown, "form": form, "on_app": True}, status=status
    )


def _list(request: HttpRequest, now: datetime) -> dict[str, Any]:
    given = {name: request.GET.get(name, "") for name in ("show", "q", "order", "page")}
    unread_first = given["order"] == "unread"
    shown = app_list(
        person_of(request), now, show=given["show"], q=given["q"][:100], unread_first=unread_first, page=given["page"]
    )
    kept = {name: given[name] for name in ("show", "q", "order") if given[name]}
    return {**shown, "query": urlencode(kept), "list_url": reverse("consent:apps")}


@signed_in_page
def apps(request: HttpRequest) -> HttpResponse:
    """Who can read what: one row for each app. A wide screen has room for the first one beside it."""
    now = database_now()
    shown = _list(request, now)
    rows = list(shown["rows"])
    first = app_page(person_of(request), rows[0].app.app_id, now) if rows and rows[0].app else {}
    person_days = own_actor_profile(person_of(request)).unused_days
    settings_shown = {"unused_days": person_days, "unused_choices": unused.CHOICES}
    settings_shown["hosts"] = live_hosts_of(person_of(request))
    return render(request, "consent/apps.html", {**first, **shown, **settings_shown, "form": ReportForm()})


@signed_in_page
def app(request: HttpRequest, app_id: str) -> HttpResponse:
    """What an app can read and has read, and what can be done about it."""
    return _page(request, app_id, ReportForm())


@signed_in_page
def grants(request: HttpRequest) -> HttpResponse:
    """The address that these pages had before; receipts and mails name it."""
    grant_id = request.GET.get("grant", "")
    app_id = app_of_grant(person_of(request), grant_id) if grant_id else None
    if app_id is None:
        return redirect("consent:apps")
    query = urlencode({"grant": grant_id})
    return redirect(f"{reverse('consent:app', args=[app_id])}?{query}#{grant_id}")


@page_button(_("Pause"))
def pause_app(request: HttpRequest, app_id: str) -> HttpResponse:
    """Pause all that this app can read, in one step."""
    paused = blocked_apps.pause_app(app_id=app_id, by=person_of(request))
    if paused:
        sentence = gettext("Paused. Nothing can be read until you resume.")
        messages.success(request, " ".join([sentence, *_entry_follows(request)]))
    else:
        messages.info(request, gettext("Nothing was left to pause. Nothing was changed now."))
    return redirect("consent:app", app_id)


@page_form(_("Pause everything"))
def pause_everything(request: HttpRequest) -> HttpResponse:
    """What pausing everything would do, and the one button that does it; here everything is resumed, too."""
    person = person_of(request)
    if request.method != "POST":
        return render(request, "consent/pause.html", pausing(person))
    paused = grant_actions.pause_all(by=person)
    if paused:
        words = ngettext(
            "Everything is paused: %(n)d approval. Nothing can be read until you resume.",
            "Everything is paused: %(n)d approvals. Nothing can be read until you resume.",
            paused,
        )
        messages.success(request, " ".join([words % {"n": paused}, *_entry_follows(request)]))
    else:
        messages.info(request, gettext("Nothing was left to pause. Nothing was changed now."))
    return redirect("consent:overview")


@page_button(_("Keep"))
def keep_unused(request: HttpRequest, grant_id: str) -> HttpResponse:
    """Let go on what would end since nobody reads it."""
    try:
        unused.keep_unused(grant_id=grant_id, by=person_of(request))
    except UnknownGrant:
        raise Http404 from None
    except MoveNotAllowed:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    else:
        messages.success(
            request, gettext("Kept. It ends on the day that you agreed to, or when nobody reads it for as long again.")
        )
    return redirect("consent:overview")


@page_button(_("Save"), UnusedForm)
def choose_unused(request: HttpRequest) -> HttpResponse:
    """After how long access that nobody uses ends."""
    form = UnusedForm(request.POST)
    if form.is_valid():
        unused.choose_unused_days(by=person_of(request), days=int(form.cleaned_data["days"]))
        messages.success(request, gettext("Saved."))
    else:
        messages.error(request, gettext("Nothing was changed. Try again."))
    return redirect("consent:apps")


@page_button(_("Block"), Field("stop", _("Also stop what it can read now"), "check"), danger=True)
def block(request: HttpRequest, app_id: str) -> HttpResponse:
    """End what waits, and where the box stayed ticked, everything that the app can read."""
    block_app = partial(blocked_apps.block_app, app_id=app_id, by=person_of(request), stop="stop" in request.POST)
    ended = _with_notes(request, block_app)
    sentences = [gettext("Blocked. It cannot ask you for anything any more, and is not told why.")]
    if ended.requests:
        words = ngettext("%(n)d waiting request ended.", "%(n)d waiting requests ended.", ended.requests)
        sentences.append(words % {"n": ended.requests})
    if ended.grants:
        sentences.append(_stopped(ended.grants))
    messages.success(request, " ".join([*sentences, *_entry_follows(request)]))
    return redirect("consent:app", app_id)


@page_button(_("Stop everything"), danger=True)
def stop_everything(request: HttpRequest, app_id: str) -> HttpResponse:
    """Stop all that this app can read, in one step."""
    stopped = _with_notes(request, partial(blocked_apps.stop_app, app_id=app_id, by=person_of(request)))
    if stopped:
        recalled = gettext("What the app already took cannot be recalled.")
        messages.success(request, " ".join([_stopped(stopped), recalled, *_entry_follows(request)]))
    else:
        messages.info(request, gettext("You share nothing with this app. Nothing was changed now."))
    return redirect("consent:app", app_id)


@page_button(_("Disconnect"), danger=True)
def disconnect(request: HttpRequest, app_id: str) -> HttpResponse:
    """The app knows this person no longer: it can name them only once they connect with it or invite it again."""
    was_connected = _with_notes(request, partial(blocked_apps.disconnect_app, app_id=app_id, by=person_of(request)))
    if was_connected:
        sentence = gettext("Disconnected. It can neither read nor ask, until you connect with it or invite it again.")
        messages.success(request, " ".join([sentence, *_entry_follows(request)]))
    else:
        messages.info(request, gettext("You were not connected with this app. Nothing was changed now."))
    return redirect("consent:app", app_id)


def _with_notes(request: HttpRequest, stop: Callable[..., Done]) -> Done:
    """`stop` with the notes of a vault that was open. It waits for none: those that do not fit are left."""
    try:
        return stop(notes=NotesBody.model_validate_json(request.POST.get("notes", "")))
    except (ValidationError, Problem):
        return stop()


def _stopped(count: int) -> str:
    words = ngettext(
        "Sharing has stopped: %(n)d approval ended, and nothing more can be read.",
        "Sharing has stopped: %(n)d approvals ended, and nothing more can be read.",
        count,
    )
    return words % {"n": count}


def _entry_follows(request: HttpRequest) -> list[str]:
    count = ledger_queries.count_entries_that_follow(person_of(request))
    return [gettext("The entries in your history will follow.")] if count else []


@page_button(_("Unblock"))
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


@page_button(_("Send the report"), ReportForm)
def report(request: HttpRequest, app_id: str) -> HttpResponse:
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _page(request, app_id, form, status=400)
    blocked_apps.report_app(app_id=app_id, by=person_of(request), text=form.cleaned_data["text"])
    messages.success(request, gettext("Thank you. Our staff will look at it. The app is not told."))
    return redirect("consent:app", app_id)


@page_button({"kept=yes": _("Update again"), "kept=no": _("Stop updates")})
def switch_refresh(request: HttpRequest, grant_id: str) -> HttpResponse:
    """Refresh what an app can read when it changes, or leave it as it is."""
    on = {"yes": True, "no": False}.get(request.POST.get("kept", ""))
    app_id = app_of_grant(person_of(request), grant_id)
    if app_id is None:
        raise Http404
    if on is None:
        messages.error(request, gettext("Nothing was changed. Try again."))
        return redirect("consent:app", app_id)
    try:
        grant_actions.switch_refresh(grant_id=grant_id, by=person_of(request), on=on)
    except MoveNotAllowed:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
    else:
        refreshed = gettext("Newer values will be sealed for the app when you change them.")
        stopped = gettext("The app keeps the last copy. What you change from now on is not shared with it.")
        messages.success(request, refreshed if on else stopped)
    return redirect("consent:app", app_id)
