"""What a person types to have a profile created, updated or looked up."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents_proxy.analyses.forms import own_choice
from agents_proxy.analyses.profile_calls import lookup_text, update_text
from agents_proxy.analyses.words import label
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES, canonical

LONGEST_TEXT = 10_000  # characters; a prompt may have 20,000, and the identifiers and fields come on top
MOST_FIELDS = 60
_AGREED = {"required": _("Nothing is sent to any agent unless you agree.")}


class AgreedForm(forms.Form):
    """Where there is no live consent to the agent's purpose yet, the form holds its words and the tick.

    `own` is what that consent names, else all that the person verified.
    """

    def __init__(self, *given: Any, agreed: bool, own: Identifiers, **named: Any) -> None:
        super().__init__(*given, **named)
        self.own = own
        if not agreed:
            words = _("I agree to this for my own details: %(names)s") % {"names": ", ".join(own.first().all)}
            self.fields["agreed"] = forms.BooleanField(label=words, error_messages=_AGREED)

    def prompt(self) -> str:
        """What the agent is asked, of a valid form."""
        raise NotImplementedError

    def named(self) -> Identifiers:
        """What a consent names that is given with a valid form."""
        return self.own.first()


class CreateForm(AgreedForm):
    text = forms.CharField(
        label=_("About you, in your own words"),
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"class": "input", "rows": 8}),
        help_text=_(
            "Name an address or number of yours that you verified in it, so that the profile can be found again."
        ),
    )

    def prompt(self) -> str:
        return str(self.cleaned_data["text"])


class OwnForm(AgreedForm):
    """About one of the person's own verified addresses and numbers: there is no field for anybody else's."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["about"] = own_choice(_("E-mail or phone number"), self.own.all)
        self.order_fields(["about"])

    def named(self) -> Identifiers:
        return self.own.choosing(self.cleaned_data["about"])

    def prompt(self) -> str:
        return lookup_text(self.cleaned_data["about"])


class UpdateForm(OwnForm):
    instruction = forms.CharField(
        label=_("What is to change"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"class": "input", "rows": 4}),
        help_text=_("For example: “I moved to Salzburg and no longer eat meat.”"),
    )
    fields_given = forms.CharField(
        label=_("Fields"),
        required=False,
        max_length=LONGEST_TEXT // 2,
        widget=forms.Textarea(attrs={"class": "input", "rows": 4}),
        help_text=_("One on each line, for example: City: Salzburg"),
    )

    def clean_fields_given(self) -> dict[str, str]:
        """`City: Salzburg` → {"city": "Salzburg"}; a name in the page's language counts as well."""
        named = {str(label(name)).casefold(): name for name in PROMPT_ATTRIBUTES}
        found: dict[str, str] = {}
        for line in str(self.cleaned_data["fields_given"]).splitlines():
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not line.strip():
                continue
            if not colon or not value or not canonical(name):
                raise forms.ValidationError(
                    _("Write each field on a line of its own, its name, a colon and its value.")
                )
            found[named.get(name.casefold(), canonical(name))] = value
        if len(found) > MOST_FIELDS:
            raise forms.ValidationError(_("These are too many fields at once."))
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not (cleaned.get("instruction") or cleaned.get("fields_given")):
            raise forms.ValidationError(_("Say what is to change, or give a field."))
        return cleaned

    def prompt(self) -> str:
        given = self.cleaned_data
        return update_text(given["about"], instruction=given["instruction"], fields=given["fields_given"])
