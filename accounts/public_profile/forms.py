"""What is typed for the public profile."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.public_profile.handles import LONGEST, SHORTEST
from common.text import is_plain

_HANDLE_RULES = _("3 to 32 lower-case letters, digits and hyphens. It ends the address of your page.")


class PublicProfileForm(forms.Form):
    """All of it is for others to see, and nothing is filled in from what is kept elsewhere."""

    handle = forms.CharField(
        label=_("Handle"), min_length=SHORTEST, max_length=LONGEST, help_text=_HANDLE_RULES,
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )  # fmt: skip
    display_name = forms.CharField(label=_("Name to show"), max_length=100, required=False)
    headline = forms.CharField(
        label=_("Headline"), max_length=160, required=False, help_text=_("One line about you, such as what you do.")
    )
    location_hint = forms.CharField(
        label=_("Where you are"), max_length=100, required=False, help_text=_("As rough as you like, such as a region.")
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("display_name", "headline", "location_hint"):
            text = cleaned.get(name, "")
            if text and not is_plain(text):
                self.add_error(name, gettext("Use one line of plain text without invisible characters."))
        return cleaned
