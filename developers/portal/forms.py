"""What is typed into the portal's pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.text import is_plain
from developers.apps.models import App
from developers.members.models import MemberRole


class TestAppForm(forms.Form):
    """What a test app is called."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What your sandbox people see. You can change it later.")
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_plain(name):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return name


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


class InvitationForm(forms.Form):
    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    role = forms.ChoiceField(
        label=_("Role"), choices=MemberRole.choices, initial=MemberRole.MEMBER, widget=forms.RadioSelect
    )
