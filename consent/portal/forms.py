"""What is typed into the pages of the sandbox and of connector keys."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.json_bodies import strict_json
from common.problems import InvalidRequest
from common.text import is_plain

_HOUR, _DAY = 3600, 86400


class ConnectorKeyForm(forms.Form):
    """A public JWK, pasted."""

    key_id = forms.RegexField(
        r"^[A-Za-z0-9._~-]{1,128}\Z",
        label=_("Your name for it"),
        max_length=128,
        help_text=_("What you send as connector_key_id: letters, digits and . _ ~ -"),
    )
    jwk = forms.CharField(
        label=_("Public key"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "off"}),
        help_text=_("The public half as a JWK, on X25519 or P-256. Never paste the private half."),
    )

    def clean_jwk(self) -> Any:
        try:
            return strict_json(self.cleaned_data["jwk"].encode())
        except InvalidRequest:
            raise forms.ValidationError(gettext("This is no JWK: it is not valid JSON.")) from None


class SandboxPersonForm(forms.Form):
    label = forms.CharField(
        label=_("Name"), max_length=80, required=False, help_text=_("For your team, such as “says yes to everything”.")
    )

    def clean_label(self) -> str:
        label: str = self.cleaned_data["label"]
        if label and not is_plain(label):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return label


class ClockForm(forms.Form):
    seconds = forms.TypedChoiceField(
        label=_("Let expire what ends within"),
        coerce=int,
        choices=(
            (_HOUR, _("1 hour")), (_DAY, _("1 day")), (30 * _DAY, _("30 days")), (366 * _DAY, _("1 year")),
        ),
    )  # fmt: skip
