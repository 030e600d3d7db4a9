"""What is typed to make a destination."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.problems import InvalidRequest
from common.text import is_plain
from developers.webhooks.policies import LONGEST_ADDRESS, check_address
from developers.webhooks.words import address_refused


class DestinationForm(forms.Form):
    """What people read, and where it is."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What people read before they agree, such as “Trips CRM”.")
    )
    url = forms.URLField(label=_("Address"), max_length=LONGEST_ADDRESS, assume_scheme="https")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_plain(name):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return name

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_address(url)
        except InvalidRequest as refused:
            raise forms.ValidationError(address_refused(refused)) from None
        return url
