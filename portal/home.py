"""The first page of the developers' area: the apps of a person, and a test app for the asking."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button
from developers.applications.queries import applications_of
from developers.apps import actions as app_actions
from developers.members.queries import memberships_of
from portal.settings import TestAppForm
from portal.shell import Refusals, portal_page


@signed_in_page
def home(request: HttpRequest) -> HttpResponse:
    return _home_page(request, TestAppForm())


@page_button(_("Make the test app"), TestAppForm)
def make_test_app(request: HttpRequest) -> HttpResponse:
    form = TestAppForm(request.POST)
    if form.is_valid():
        with Refusals(form):
            app = app_actions.make_test_app(name=form.cleaned_data["name"], by=person_of(request))
            messages.success(request, gettext("Your test app is ready. Its first token lets your program in."))
            return redirect("portal:tokens", app.app_id)
    return _home_page(request, form)


def _home_page(request: HttpRequest, form: TestAppForm) -> HttpResponse:
    by = person_of(request)
    applications = applications_of(by).filter(app__isnull=True)[:10]
    context = {"memberships": memberships_of(by), "applications": applications, "form": form}
    return portal_page(request, "portal/home.html", context)
