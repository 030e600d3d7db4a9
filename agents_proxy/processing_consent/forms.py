"""What a person chooses where they agree: to what, for how long, and which one address and one number it covers."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.statements import DURATIONS, Point
from agents_proxy.states import Duration, Purpose

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

    def named(self) -> Identifiers:
        """What a valid form says."""
        return self._named(self.cleaned_data)

    def _named(self, cleaned: dict[str, Any]) -> Identifiers:
        email, number = cleaned.get("email"), cleaned.get("number")
        return Identifiers(
            self.own.emails if email is None else tuple(one for one in self.own.emails if one == email),
            self.own.phone_numbers if number is None else tuple(one for one in self.own.phone_numbers if one == number),
        )


# A field of its own for each purpose: a form that waits for a sign-in keeps one value of each name.
PURPOSE_FIELDS = {f"purpose-{purpose}": purpose for purpose in Purpose}


class PurposesForm(forms.Form):
    """`points` are what is asked for, each ticked by itself and none beforehand."""

    nothing_ticked: Any = _("Tick what you agree to, or choose that you do not agree.")

    def __init__(self, *given: Any, points: Sequence[Point], **named: Any) -> None:
        super().__init__(*given, **named)
        self.points = {f"purpose-{point.purpose}": point for point in points}
        for name, point in self.points.items():
            self.fields[name] = forms.BooleanField(label=point.title, required=False)

    @property
    def purpose_fields(self) -> list[tuple[forms.BoundField, Point]]:
        return [(self[name], point) for name, point in self.points.items()]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not any(cleaned.get(name) for name in self.points):
            raise forms.ValidationError(self.nothing_ticked)
        return cleaned

    def purposes(self) -> list[Purpose]:
        return [point.purpose for name, point in self.points.items() if self.cleaned_data[name]]


class ConsentForm(PurposesForm, IdentifiersForm):
    """To what, for how long, and by which address and number."""

    duration = forms.ChoiceField(
        label=_("For how long"),
        choices=[(duration.value, words) for duration, words in DURATIONS.items()],
        initial=Duration.DAY.value,
        widget=forms.RadioSelect,
    )

    @property
    def identifier_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("email", "number") if name in self.fields]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        ticked = [point.purpose for name, point in self.points.items() if cleaned.get(name)]
        named = self._named(cleaned).needed_for(ticked)
        if not self.errors and self.own.needed_for(ticked).all and not named.all:
            raise forms.ValidationError(_("Choose an address or a number: nobody can be asked about otherwise."))
        return cleaned

    def lasts(self) -> timedelta:
        return Duration(self.cleaned_data["duration"]).length


def _choice(label: Any, own: tuple[str, ...], none: Any) -> forms.ChoiceField:
    choices = [*((one, one) for one in own), (NONE, none)]
    return forms.ChoiceField(label=label, choices=choices, initial=own[0], widget=forms.RadioSelect)
