"""The sandbox of a test app: the people whom its developers play, and what each of them decides."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from accounts.interrupted.page_forms import page_button
from accounts.models import User
from common.problems import Problem
from consent.decisions import expiry
from consent.errors import UnknownUser
from consent.portal.forms import ClockForm, SandboxPersonForm
from consent.portal.played import played_by
from consent.sandbox import actions as sandbox_actions
from consent.sandbox import queries as sandbox_queries
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page


@require_safe
@app_page()
def people(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Everybody whom this app may try itself against."""
    return _people(request, member, SandboxPersonForm())


@page_button(_("Make the person"), SandboxPersonForm)
@require_POST
@app_page()
def make_person(request: HttpRequest, member: AppMember) -> HttpResponse:
    _need_test_app(member)
    form = SandboxPersonForm(request.POST)
    if form.is_valid():
        try:
            made = sandbox_actions.make_person(app_pk=member.app_id, label=form.cleaned_data["label"])
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            return redirect("portal:sandbox-person", member.app.app_id, made.user.public_id)
    return _people(request, member, form, status=400)


@require_safe
@app_page()
def person(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    """One of them: what they hold, what waits for them, what they share, and what the app was told."""
    of = _played(member, user_id)
    context = {"of": of, "played": played_by(of, app=member.app), "clock": ClockForm()}
    return portal_page(request, "developers/sandbox/person.html", context, member=member)


@page_button(_("Let it expire"), ClockForm)
@require_POST
@app_page()
def move_clock(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    of, form = _played(member, user_id), ClockForm(request.POST)
    if form.is_valid():
        expiry.expire_ahead(of=of, seconds=form.cleaned_data["seconds"])
        messages.success(request, gettext("Whatever would have ended by then has ended."))
    else:
        messages.error(request, gettext("Choose one of the durations."))
    return redirect("portal:sandbox-person", member.app.app_id, user_id)


@page_button(_("Delete this person"), danger=True)
@require_POST
@app_page()
def delete_person(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    sandbox_actions.delete_person(of=_played(member, user_id))
    messages.success(request, gettext("The sandbox person is gone; what was shared with the app has ended."))
    return redirect("portal:sandbox", member.app.app_id)


def _people(request: HttpRequest, member: AppMember, form: SandboxPersonForm, status: int = 200) -> HttpResponse:
    _need_test_app(member)
    shown = sandbox_queries.people_of_app(app_pk=member.app_id)
    context = {"people": shown, "most": sandbox_actions.MOST_PEOPLE, "form": form}
    return portal_page(request, "developers/sandbox/people.html", context, member=member, status=status)


def _played(member: AppMember, user_id: str) -> User:
    try:
        return sandbox_queries.played_by_app(app_pk=member.app_id, user_id=user_id)
    except UnknownUser:
        raise Http404 from None


def _need_test_app(member: AppMember) -> None:
    if not member.app.is_test:
        raise Http404
