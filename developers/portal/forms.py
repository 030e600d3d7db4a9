"""What is typed into the portal's pages."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.text import is_plain


class TestAppForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What your sandbox people see. You can change it later.")
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_plain(name):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return name
