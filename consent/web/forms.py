"""The forms that work without JavaScript."""

from django import forms
from django.utils.translation import gettext_lazy as _

from consent.event_types import GROUP_LABELS


class DenyForm(forms.Form):
    """A note for oneself is all that a refusal can carry."""

    reason = forms.CharField(label=_("A note for yourself"), max_length=500, required=False)


class ReportForm(forms.Form):
    """What a person tells staff about an app, in their own words."""

    text = forms.CharField(
        label=_("What happened"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "textarea"}),
        error_messages={"required": _("Say in a few words what happened."), "max_length": _("That is too long.")},
    )


class HistoryFilter(forms.Form):
    """What the history shows; anything unknown shows everything."""

    kind = forms.ChoiceField(required=False, choices=[("", ""), *GROUP_LABELS.items()])
    app = forms.CharField(required=False, max_length=64)
    older = forms.CharField(required=False, max_length=200)

    def chosen(self) -> dict[str, str]:
        self.is_valid()
        cleaned = self.cleaned_data
        return {
            "group": cleaned.get("kind") or "",
            "app_id": cleaned.get("app") or "",
            "older": cleaned.get("older") or "",
        }
