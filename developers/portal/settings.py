"""The settings of an app: its name, where it may be called from, and its end."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from developers.apps import actions
from developers.apps.models import AppStatus
from developers.members.models import AppMember, MemberRole
from developers.portal.forms import CloseForm, TestAppForm
from developers.portal.shell import app_page, portal_page

_METHODS = ["GET", "HEAD", "POST"]


@page_form(_("Rename it"), TestAppForm)
@require_http_methods(_METHODS)
@app_page()
def settings(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What an app is called and may do in a browser; a test app can be renamed."""
    if request.method != "POST":
        return _settings(request, member, TestAppForm({"name": member.app.name}))
    form = TestAppForm(request.POST)
    if form.is_valid():
        try:
            renamed = actions.rename_app(app=member.app, name=form.cleaned_data["name"], by=member.user)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            if renamed:
                messages.success(request, gettext("The app has its new name."))
            return redirect("developers:settings", member.app.app_id)
    return _settings(request, member, form, status=400)


@page_form(_("Close the app"), CloseForm, danger=True, fresh=True)
@require_http_methods(_METHODS)
@app_page(owners_only=True)
def close(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The end of an app, once its name was typed."""
    form = CloseForm(request.POST if request.method == "POST" else None, app=member.app)
    if request.method == "POST" and form.is_valid():
        if actions.close_app(app=member.app, by=member.user):
            messages.success(request, gettext("The app is closed, and none of its tokens works any more."))
        return redirect("developers:settings", member.app.app_id)
    status = 400 if request.method == "POST" else 200
    context = {"form": form, "is_open": member.app.status != AppStatus.CLOSED}
    return portal_page(request, "developers/close.html", context, member=member, status=status)


def _settings(request: HttpRequest, member: AppMember, form: TestAppForm, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "is_open": member.app.status != AppStatus.CLOSED,
        "is_owner": member.role == MemberRole.OWNER,
    }
    return portal_page(request, "developers/settings.html", context, member=member, status=status)
