"""The forms that work without JavaScript."""

from datetime import date, tzinfo
from typing import Any

from django import forms
from django.core import validators
from django.utils.translation import gettext_lazy as _

from common.durations import duration
from consent.decisions import unused
from consent.event_types import GROUP_LABELS
from consent.web.history_filter import Chosen

_OFFERED = (300, 3600, 86400, 604800, 2592000, 7776000, 31536000)
_SHORTER_CHOICES = 4


class DenyForm(forms.Form):
    """A note for oneself is all that a refusal can carry."""

    reason = forms.CharField(label=_("A note for yourself"), max_length=500, required=False)


class DenySeveralForm(forms.Form):
    """The request IDs to deny, with blanks between them."""

    requests = forms.CharField(max_length=2000, widget=forms.HiddenInput)


class InboxFilter(forms.Form):
    """What of the inbox is shown; anything unknown shows all of it."""

    q = forms.CharField(required=False, max_length=80)
    older = forms.CharField(required=False, max_length=60)

    def chosen(self) -> dict[str, str]:
        self.is_valid()
        return {"text": self.cleaned_data.get("q") or "", "older": self.cleaned_data.get("older") or ""}


class ReportForm(forms.Form):
    """What a person tells staff about an app, in their own words."""

    text = forms.CharField(
        label=_("What happened"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "textarea"}),
        error_messages={"required": _("Say in a few words what happened."), "max_length": _("That is too long.")},
    )


class UnusedForm(forms.Form):
    """After how many days without a read access ends; 0 is never."""

    days = forms.ChoiceField(choices=[(str(days), str(days)) for days in unused.CHOICES])


class _Day(forms.DateField):
    """A day as browsers send it; the lists reach back to no other century."""

    def __init__(self) -> None:
        between = [validators.MinValueValidator(date(2000, 1, 1)), validators.MaxValueValidator(date(2099, 12, 31))]
        super().__init__(required=False, input_formats=["%Y-%m-%d"], validators=between)


class ConnectionCodeForm(forms.Form):
    """The code that an app shows."""

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        help_text=_("Eight letters and digits, as the app shows them."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )


class HistoryFilter(forms.Form):
    """What the history shows; anything unknown shows everything."""

    kind = forms.ChoiceField(required=False, choices=[("", ""), *GROUP_LABELS.items()])
    app = forms.CharField(required=False, max_length=64)
    since = _Day()
    until = _Day()
    q = forms.CharField(required=False, max_length=80)
    older = forms.CharField(required=False, max_length=200)

    def chosen(self, zone: tzinfo) -> Chosen:
        given = self._given()
        since, until = given.get("since"), given.get("until")
        if since and until and until < since:
            since, until = until, since
        return Chosen(given.get("kind") or "", given.get("app") or "", since, until, given.get("q") or "", zone)

    def older_than(self) -> str:
        return self._given().get("older") or ""

    def _given(self) -> dict[str, Any]:
        self.is_valid()
        return self.cleaned_data


def duration_choices(requested: int) -> list[tuple[int, str]]:
    """Shorter choices, shortest first, and last what was asked for."""
    shorter = [seconds for seconds in _OFFERED if seconds < requested][-_SHORTER_CHOICES:]
    return [(seconds, duration(seconds)) for seconds in [*shorter, requested]]
