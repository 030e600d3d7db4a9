"""What a person chooses where they agree: which one address and which one number it covers."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents_proxy.processing_consent.identifiers import Identifiers

NONE = "none"  # of this kind


class IdentifiersForm(forms.Form):
    """`own` are the person's, of the kinds that are used. Where there is one of a kind there is nothing to choose."""

    def __init__(self, *given: Any, own: Identifiers, **named: Any) -> None:
        super().__init__(*given, **named)
        self.own = own
        if len(own.emails) > 1:
            self.fields["email"] = _choice(_("E-mail address"), own.emails, _("No address"))
        if len(own.phone_numbers) > 1:
            self.fields["number"] = _choice(_("Phone number"), own.phone_numbers, _("No number"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and self.own.all and not self._named(cleaned).all:
            raise forms.ValidationError(_("Choose an address or a number: nobody can be asked about otherwise."))
        return cleaned

    def named(self) -> Identifiers:
        """What a valid form says."""
        return self._named(self.cleaned_data)

    def _named(self, cleaned: dict[str, Any]) -> Identifiers:
        email, number = cleaned.get("email"), cleaned.get("number")
        return Identifiers(
            self.own.emails if email is None else tuple(one for one in self.own.emails if one == email),
            self.own.phone_numbers if number is None else tuple(one for one in self.own.phone_numbers if one == number),
        )


def _choice(label: Any, own: tuple[str, ...], none: Any) -> forms.ChoiceField:
    choices = [*((one, one) for one in own), (NONE, none)]
    return forms.ChoiceField(label=label, choices=choices, initial=own[0], widget=forms.RadioSelect)
