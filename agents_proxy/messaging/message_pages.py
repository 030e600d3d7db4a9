"""The page of messages: choose the wording, look at what will be sent, send it, and see what became of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import Field, page_form
from agents_proxy.errors import ConsentRequired, InvalidParams, Refusal
from agents_proxy.messaging import actions as messaging_actions
from agents_proxy.messaging.actions import Sender
from agents_proxy.messaging.models import MessageTemplate, title_of
from agents_proxy.messaging.outbound import PARAMETER
from agents_proxy.messaging.pages import NUMBER_PROBLEMS
from agents_proxy.messaging.schemas import MessageBody, TemplateCall
from agents_proxy.messaging.templates import active_template, active_templates, language_error, name_error
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers, verified_by
from agents_proxy.proxy import limits as proxy_limits
from agents_proxy.proxy.envelope import new_session_id, new_task_id
from agents_proxy.refusal_words import words_of
from agents_proxy.statements import statement
from agents_proxy.states import Duration, MessageStatus, Purpose
from common.network import client_address, network_of

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
            label=_("Phone number"), choices=numbers, widget=forms.Select(attrs={"class": "select"})
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


# what a message's state is called, its tone, and whether it may still change by itself
STATES = {
    MessageStatus.SENDING: (_("Sending"), "n", True),
    MessageStatus.SENT: (_("Sent"), "n", True),
    MessageStatus.DELIVERED: (_("Delivered"), "ok", False),
    MessageStatus.FAILED: (_("Failed"), "bad", False),
    MessageStatus.UNKNOWN: (_("Not known"), "warn", True),
}


@page_form(
    {"do=preview": _("Preview"), "": _("Send it")},
    MessageForm,
    Field("to", _("Phone number"), "text", 32),
    Field("text", _("Your message"), "long", LONGEST_TEXT),
    Field("agreed", _("I agree to messages to my own number"), "check"),
)
def sent_messages(request: HttpRequest) -> HttpResponse:
    """The form with its preview, and the messages that were sent. `?template=` names the wording, `name.language`."""
    person = person_of(request)
    named = consents.own_named(person, Purpose.MESSAGING)
    agreed = named is not None
    template = _chosen(request)
    own = (named or verified_by(person.pk)).phone_numbers
    form = MessageForm(request.POST or None, template=template, agreed=agreed, own=own, initial={"task": new_task_id()})
    shown: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        if not form.is_valid():
            status = 400
        elif request.POST.get("do") == "preview":
            shown = {"preview": form.preview}
        elif problem := _send(request, form):
            shown, status = {"problem": problem.words}, problem.status
        else:
            messages.success(request, gettext("It is on its way. Its state is shown below."))
            return redirect("messaging:messages")
    context = {**_page(request, form, template), "agreed": agreed, **shown}
    return render(request, "agents/messages.html", context, status=status)


def _chosen(request: HttpRequest) -> MessageTemplate | None:
    named = request.GET.get("template", "")
    if not named:
        return None
    name, _dot, language = named.partition(".")
    found = None if name_error(name) or language_error(language) else active_template(name, language)
    if found is None:
        raise Http404
    return found


class _Problem:
    """Why a message was not sent, in words, and the status of the page that says so."""

    def __init__(self, words: str, status: int) -> None:
        self.words, self.status = words, status


def _send(request: HttpRequest, form: MessageForm) -> _Problem | None:
    """Send what the form says; None where it went out."""
    person = person_of(request)
    if form.cleaned_data.get("agreed"):
        to = Identifiers((), (form.cleaned_data["to"],))
        consents.give(by=person, purposes=[Purpose.MESSAGING], named=to)
    by = Sender(person.pk, consents.own(person, Purpose.MESSAGING))
    try:
        proxy_limits.count_call(key=f"person {person.pk}", network=network_of(client_address(request)))
        task_id = form.cleaned_data["task"]
        messaging_actions.send_message(by=by, body=form.body(), session_id=new_session_id(), task_id=task_id)
    except ConsentRequired:
        return _Problem(gettext("This number is not verified as yours. Verify it first, under Phone numbers."), 403)
    except InvalidParams as refusal:
        if refusal.members["errors"][0]["code"] == "opted_out":
            return _Problem(str(NUMBER_PROBLEMS["number_opted_out"]), 400)
        return _Problem(
            gettext("This is no number that is in use, or this page has sent another message already."), 400
        )
    except Refusal as refusal:
        return _Problem(words_of(refusal), refusal.status)
    return None


def _page(request: HttpRequest, form: MessageForm, template: MessageTemplate | None) -> dict[str, Any]:
    person = person_of(request)
    rows = [_row(body) for body in messaging_actions.messages_of(person.pk)]
    return {
        "form": form,
        "template": template,
        "templates": active_templates(),
        "rows": rows,
        "moving": any(row["moving"] for row in rows[:5]),
        "states": {status.value: [str(label), tone] for status, (label, tone, _moving) in STATES.items()},
        "statement": statement([Purpose.MESSAGING], requester=gettext("This service"), lasts=Duration.DAY.length),
    }


def _row(body: dict[str, Any]) -> dict[str, Any]:
    label, tone, moving = STATES[MessageStatus(body["status"])]
    title = title_of(body["template"]) if body["template"] else ""
    return {
        **body,
        "title": title,
        "label": label,
        "tone": tone,
        "moving": moving,
        "at": datetime.fromisoformat(body["createdAt"]),
    }
