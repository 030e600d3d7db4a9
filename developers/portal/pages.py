"""The portal's first page, and that of an app."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button
from common.clock import database_now
from common.problems import Problem
from developers.applications.queries import applications_of
from developers.apps import actions as app_actions
from developers.members import queries as member_queries
from developers.members.models import AppMember
from developers.portal import overview
from developers.portal.forms import TestAppForm
from developers.portal.shell import app_page, portal_page
from developers.request_log import figures


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The apps that this person may manage, and a test app for the asking."""
    return _home_page(request, TestAppForm())


@page_button(_("Make the test app"), TestAppForm)
@login_required
@require_POST
def make_test_app(request: HttpRequest) -> HttpResponse:
    form = TestAppForm(request.POST)
    if form.is_valid():
        try:
            app = app_actions.make_test_app(name=form.cleaned_data["name"], by=person_of(request))
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            messages.success(request, gettext("Your test app is ready. Its first token lets your program in."))
            return redirect("developers:tokens", app.app_id)
    return _home_page(request, form, status=400)


@require_safe
@app_page()
def app(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What there is to know of an app at a glance."""
    now = database_now()
    spans = [
        overview.Span(gettext("Last 24 hours"), "hours", figures.last_day(member.app, now)),
        overview.Span(gettext("Last 30 days"), "days", figures.last_month(member.app, now)),
    ]
    return portal_page(request, "developers/app.html", {"spans": spans}, member=member)


def _home_page(request: HttpRequest, form: TestAppForm, *, status: int = 200) -> HttpResponse:
    by = person_of(request)
    context = {
        "memberships": member_queries.memberships_of(by),
        "applications": applications_of(by).filter(app__isnull=True)[:10],
        "form": form,
    }
    return portal_page(request, "developers/home.html", context, status=status)
