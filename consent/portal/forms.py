"""What is typed into the pages of the sandbox."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.text import is_plain

_HOUR, _DAY = 3600, 86400


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
