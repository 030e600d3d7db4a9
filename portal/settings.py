"""The settings of an app: its name, where it may be called from, and its end."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_forms import page_form
from common.forms import PlainLine
from developers.applications.facts import tried_origin_of
from developers.apps import actions
from developers.apps.models import App, AppStatus
from developers.members.models import AppMember, MemberRole
from portal.fields import limited, lines_of, refuse
from portal.shell import Refusals, Tab, app_page, portal_page, posted


class TestAppForm(forms.Form):
    name = PlainLine(
        label=_("Name"), max_length=80, help_text=_("What your sandbox people see. You can change it later.")
    )


class SettingsForm(TestAppForm):
    """The same, and where people go back to from it."""

    origins = forms.CharField(
        label=_("Origins"),
        required=False,
        max_length=2000,
        help_text=_(
            "Where people may go back to, one a line: https://app.example, or http://localhost:8090 while you try."
        ),
        widget=forms.Textarea({"rows": 2, "class": "textarea"}),
    )

    def clean_origins(self) -> list[str]:
        lines = lines_of(self.cleaned_data["origins"])
        found = {line: tried_origin_of(line) for line in lines}
        refuse(gettext("Not an origin without a path: %(line)s"), (line for line in lines if not found[line]))
        return limited([origin for origin in found.values() if origin])


class CloseForm(forms.Form):
    """The name of the app, typed to confirm that it is the one that is meant."""

    name = forms.CharField(label=_("Name of the app"), max_length=80, widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, *args: Any, app: App, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._app = app

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self._app.name:
            raise forms.ValidationError(gettext("That is not the name of this app. Nothing was closed."))
        return name


@page_form(_("Save"), SettingsForm)
@app_page(Tab(_("Settings"), "settings"))
def settings(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What an app is called and may do in a browser; a test app can be renamed."""
    initial = {"name": member.app.name, "origins": "\n".join(member.app.origins)}
    form = SettingsForm(posted(request), initial=initial)
    if form.is_valid():
        with Refusals(form):
            if actions.rename_app(app=member.app, name=form.cleaned_data["name"], by=member.user):
                messages.success(request, gettext("The app has its new name."))
            if "origins" in request.POST and actions.set_origins(
                app=member.app, origins=form.cleaned_data["origins"], by=member.user
            ):
                messages.success(request, gettext("The app has its new origins."))
            return redirect("portal:settings", member.app.app_id)
    is_open, is_owner = member.app.status != AppStatus.CLOSED, member.role == MemberRole.OWNER
    context = {"form": form, "is_open": is_open, "is_owner": is_owner}
    return portal_page(request, "portal/settings.html", context, member=member)


@page_form(_("Close the app"), CloseForm, danger=True, fresh=True)
@app_page(owners_only=True)
def close(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The end of an app, once its name was typed."""
    form = CloseForm(posted(request), app=member.app)
    if form.is_valid():
        if actions.close_app(app=member.app, by=member.user):
            messages.success(request, gettext("The app is closed, and none of its tokens works any more."))
        return redirect("portal:settings", member.app.app_id)
    context = {"form": form, "is_open": member.app.status != AppStatus.CLOSED}
    return portal_page(request, "portal/close.html", context, member=member)
