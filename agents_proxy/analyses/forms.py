"""What a person types to start an analysis; the same rules as the address (contract 4.3)."""

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents_proxy.analyses.schemas import LONGEST_ANSWER, LONGEST_OWN, OwnValuesText
from agents_proxy.processing_consent.forms import PurposesForm
from common.forms import PlainLine
from common.json_bodies import strict_json
from common.problems import Problem, checked

NO_ADDRESS = _("Verify your e-mail address first: agents are asked about verified addresses alone.")


def own_choice(label: Any, choices: Iterable[str]) -> forms.ChoiceField:
    """One of what the person verified: there is no field for anybody else's."""
    chosen = forms.Select(attrs={"class": "select"})
    field = forms.ChoiceField(label=label, choices=[(one, one) for one in choices], widget=chosen)
    if not field.choices:
        field.error_messages["required"] = NO_ADDRESS
        page = reverse("account_email"), gettext("E-mail addresses")
        field.help_text = format_html('{} <a href="{}">{}</a>', NO_ADDRESS, *page)
    return field


def typed_answer(text: str) -> str:
    """The answer to an agent's question, with line ends as its page counts them."""
    return text.replace("\r\n", "\n").strip()


def answer_error(text: str) -> str:
    """Why it is not sent; "" where it is."""
    if not text:
        return gettext("Write an answer first.")
    if len(text) > LONGEST_ANSWER:
        return gettext("That is too long: an answer has at most %(most)s characters.") % {"most": LONGEST_ANSWER}
    return ""


class Digits(forms.CharField):
    """A number as people write it: with blanks and dashes, which `max_length` does not count."""

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {**super().widget_attrs(widget), "maxlength": 40}

    def to_python(self, value: Any) -> str:
        return re.sub(r"[\s()/.-]", "", super().to_python(value) or "")


class CountryCode(Digits):
    """Also without its plus, or with two zeros in its place."""

    def to_python(self, value: Any) -> str:
        code = super().to_python(value)
        return f"+{code.removeprefix('00')}" if code.isdecimal() else code


class AnalysisForm(PurposesForm):
    """The names are those of the address; `emails` are the person's own, verified."""

    nothing_ticked = _("Nothing is sent to any agent unless you agree.")

    fullName = PlainLine(  # noqa: N815  # the contract's spelling
        label=_("Full name"), min_length=2, max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    countryCode = CountryCode(  # noqa: N815
        label=_("Country code"),
        max_length=5,
        validators=[RegexValidator(r"^\+[0-9]{1,4}\Z", _("Write a plus and 1 to 4 digits, for example +49."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-country-code", "inputmode": "tel"}),
    )
    phoneNumber = Digits(  # noqa: N815
        label=_("Phone number"),
        help_text=_("10 to 15 digits, without the country code. Agents are told a number that you verified alone."),
        max_length=15,
        validators=[RegexValidator(r"^[0-9]{10,15}\Z", _("Write 10 to 15 digits and nothing else."))],
        widget=forms.TextInput(attrs={"autocomplete": "tel-national", "inputmode": "numeric"}),
    )

    ownValues = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)  # noqa: N815

    def __init__(self, *given: Any, emails: Iterable[str], **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["email"] = own_choice(_("E-mail address"), emails)
        self.order_fields(["fullName", "email"])

    def clean_ownValues(self) -> dict[str, Any]:  # noqa: N802  # Django looks for this name
        """Field → value, as the page's script put it together of what is ticked."""
        text = self.cleaned_data["ownValues"]
        try:
            if len(text) <= LONGEST_OWN:
                return checked(OwnValuesText, strict_json(text.encode())).root if text else {}
        except Problem:
            pass
        self.add_error(None, _("What you ticked of your own data does not fit. Tick it again, or less of it."))
        return {}

    @property
    def chosen(self) -> list[str]:
        """What was ticked where the form comes back: its values are the browser's to find again."""
        return sorted(getattr(self, "cleaned_data", {}).get("ownValues", ()))

    def submitted(self) -> dict[str, Any]:
        """Whom the run is about."""
        return {name: self.cleaned_data[name] for name in ("email", "fullName", "countryCode", "phoneNumber")}
