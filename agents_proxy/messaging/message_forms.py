"""What a person writes to have a message sent: one of their numbers, and an approved template or their own words."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents_proxy.messaging.models import MessageTemplate
from agents_proxy.messaging.outbound import PARAMETER
from agents_proxy.messaging.schemas import MessageBody, TemplateCall

LONGEST_TEXT = 2000  # characters, as of a template
LONGEST_PARAMETER = 500
TASK = r"^task-[A-Za-z0-9_-]{1,64}$"


class MessageForm(forms.Form):
    """`template` is the approved wording that was chosen, or None for words of one's own.

    `task` comes with the page, so that one page sends one message however often its button is pressed.
    """

    task = forms.RegexField(TASK, widget=forms.HiddenInput)

    def __init__(
        self, *given: Any, template: MessageTemplate | None, agreed: bool, own: Sequence[str], **named: Any
    ) -> None:
        super().__init__(*given, **named)
        numbers = [(number, number) for number in own]
        self.fields["to"] = forms.ChoiceField(
            label=_("Phone number"), choices=numbers, widget=forms.Select(attrs={"class": "input"})
        )
        self.template = template
        if template is None:
            words = forms.Textarea(attrs={"class": "input", "rows": 4})
            self.fields["text"] = forms.CharField(label=_("Your message"), max_length=LONGEST_TEXT, widget=words)
        for name in self.parameters:
            label = name.replace("_", " ").capitalize()
            self.fields[f"p_{name}"] = forms.CharField(label=label, max_length=LONGEST_PARAMETER)
        if not agreed:
            required = {"required": _("Nothing is sent unless you agree.")}
            self.fields["agreed"] = forms.BooleanField(label=_("I agree to messages to my own number"),
                                                       error_messages=required)  # fmt: skip

    @property
    def parameters(self) -> list[str]:
        """The names in the template's braces, in the order of its text."""
        return list(dict.fromkeys(PARAMETER.findall(self.template.text))) if self.template else []

    @property
    def preview(self) -> str:
        """The text as it will be sent, of a valid form."""
        if self.template is None:
            return str(self.cleaned_data["text"])
        return PARAMETER.sub(lambda found: self._filled()[found[1]], self.template.text)

    def _filled(self) -> dict[str, str]:
        return {name: str(self.cleaned_data[f"p_{name}"]) for name in self.parameters}

    def body(self) -> MessageBody:
        """What the messaging agent is asked, of a valid form."""
        to = self.cleaned_data["to"]
        if self.template is None:
            return MessageBody(to=to, text=self.cleaned_data["text"])
        named = {"name": self.template.name, "language": self.template.language}
        return MessageBody(to=to, template=TemplateCall(**named, parameters=self._filled()))
