"""What is typed into the pages of webhooks."""

from datetime import timedelta
from typing import Any, Self

from django import forms
from django.utils.translation import gettext_lazy as _

from common.problems import InvalidRequest
from consent.event_types import WEBHOOK_TYPES
from developers.models import WebhookEndpoint
from developers.webhooks.policies import LONGEST_ADDRESS, check_address
from developers.webhooks.words import address_refused

OVERLAPS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "1h": timedelta(hours=1), "0": timedelta(0)}


# A field of its own for each type: a form that waits for a sign-in keeps one value of each name.
TYPE_FIELDS = {f"type-{kind}": kind for kind in WEBHOOK_TYPES}


class EndpointForm(forms.Form):
    """Where to, and of what; no type ticked means every type."""

    url = forms.URLField(label=_("Address"), max_length=LONGEST_ADDRESS, assume_scheme="https")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, kind in TYPE_FIELDS.items():
            self.fields[name] = forms.BooleanField(label=kind, required=False)

    @classmethod
    def of(cls, endpoint: WebhookEndpoint) -> Self:
        """Filled in with what the endpoint is now."""
        ticked = {name: kind in endpoint.types for name, kind in TYPE_FIELDS.items()}
        return cls(initial={"url": endpoint.url, **ticked})

    @property
    def type_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in TYPE_FIELDS]

    def types(self) -> list[str]:
        """The types that were ticked."""
        return [kind for name, kind in TYPE_FIELDS.items() if self.cleaned_data[name]]

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_address(url)
        except InvalidRequest as refused:
            raise forms.ValidationError(address_refused(refused)) from None
        return url


class RenewalForm(forms.Form):
    """For how long the old secret signs beside the new one."""

    overlap = forms.ChoiceField(
        label=_("The old secret"),
        choices=[
            ("24h", _("Signs for another 24 hours")),
            ("7d", _("Signs for another 7 days")),
            ("1h", _("Signs for another hour")),
            ("0", _("Signs nothing any more, from now on")),
        ],
        widget=forms.Select(attrs={"class": "select"}),
    )

    def chosen(self) -> timedelta:
        return OVERLAPS[self.cleaned_data["overlap"]]


class ReplayForm(forms.Form):
    """How far back what failed is sent once more, in hours."""

    hours = forms.TypedChoiceField(
        label=_("Notices of"),
        choices=[
            (1, _("the last hour")),
            (24, _("the last 24 hours")),
            (72, _("the last 3 days")),
            (720, _("the last 30 days")),
        ],
        initial=24,
        coerce=int,
        widget=forms.Select(attrs={"class": "select"}),
    )


class LogFilter(forms.Form):
    """What of the log is shown; anything unknown shows the newest of everything."""

    show = forms.ChoiceField(required=False, choices=[("", ""), ("failed", "")])
    before = forms.IntegerField(required=False, min_value=1)

    def chosen(self) -> tuple[bool, int | None]:
        """Whether only what failed, and before which notice."""
        self.is_valid()
        return self.cleaned_data.get("show") == "failed", self.cleaned_data.get("before")
