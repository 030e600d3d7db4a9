"""What a person types to start an analysis; the same rules as the address (contract 4.3)."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from common.text import is_plain

NO_ADDRESS = _("Verify your e-mail address first, under Your account: agents are asked about verified addresses alone.")


def own_choice(label: Any, choices: Iterable[str]) -> forms.ChoiceField:
    """One of what the person verified: there is no field for anybody else's."""
    chosen = forms.Select(attrs={"class": "input"})
    field = forms.ChoiceField(label=label, choices=[(one, one) for one in choices], widget=chosen)
    if not field.choices:
        field.help_text = field.error_messages["required"] = NO_ADDRESS
    return field


class AnalysisForm(forms.Form):
    """The names are those of the address; `emails` are the person's own, verified."""

    fullName = forms.CharField(  # noqa: N815  # the contract's spelling
        label=_("Full name"), min_length=2, max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    countryCode = forms.CharField(  # noqa: N815
        label=_("Country code"),
        max_length=5,
        validators=[RegexValidator(r"^\+[0-9]{1,4}\Z", _("Write a plus and 1 to 4 digits, for example +49."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-country-code", "inputmode": "tel"}),
    )
    phoneNumber = forms.CharField(  # noqa: N815
        label=_("Phone number"),
        help_text=_("10 to 15 digits, without the country code. Agents are told a number that you verified alone."),
        max_length=15,
        validators=[RegexValidator(r"^[0-9]{10,15}\Z", _("Write 10 to 15 digits and nothing else."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-national", "inputmode": "numeric"}),
    )
    agreed = forms.BooleanField(
        label=_("I agree to this for my own details"),
        error_messages={"required": _("Nothing is sent to any agent unless you agree.")},
    )

    def __init__(self, *given: Any, emails: Iterable[str], **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["email"] = own_choice(_("E-mail"), emails)
        self.order_fields(["fullName", "email"])

    def clean_fullName(self) -> str:  # noqa: N802  # Django looks for this name
        name = str(self.cleaned_data["fullName"])
        if not is_plain(name):
            raise forms.ValidationError(_("Write the name on one line, without invisible characters."))
        return name

    def submitted(self) -> dict[str, Any]:
        """What the run works on."""
        return {name: self.cleaned_data[name] for name in ("email", "fullName", "countryCode", "phoneNumber")}
