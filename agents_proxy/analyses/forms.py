"""What a person types to start an analysis; the same rules as the address (contract 4.3)."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from common.text import is_plain


class AnalysisForm(forms.Form):
    """The names are those of the address."""

    fullName = forms.CharField(  # noqa: N815  # the contract's spelling
        label=_("Full name"), min_length=2, max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    countryCode = forms.CharField(  # noqa: N815
        label=_("Country code"),
        max_length=5,
        validators=[RegexValidator(r"^\+[0-9]{1,4}\Z", _("Write a plus and 1 to 4 digits, for example +49."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-country-code", "inputmode": "tel"}),
    )
    phoneNumber = forms.CharField(  # noqa: N815
        label=_("Phone number"),
        help_text=_("10 to 15 digits, without the country code."),
        max_length=15,
        validators=[RegexValidator(r"^[0-9]{10,15}\Z", _("Write 10 to 15 digits and nothing else."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-national", "inputmode": "numeric"}),
    )
    agreed = forms.BooleanField(
        label=_("I agree to this for my own details"),
        error_messages={"required": _("Nothing is sent to any agent unless you agree.")},
    )

    def clean_fullName(self) -> str:  # noqa: N802  # Django looks for this name
        name = str(self.cleaned_data["fullName"])
        if not is_plain(name):
            raise forms.ValidationError(_("Write the name on one line, without invisible characters."))
        return name

    def submitted(self) -> dict[str, Any]:
        """What the run works on."""
        return {name: self.cleaned_data[name] for name in ("email", "fullName", "countryCode", "phoneNumber")}
