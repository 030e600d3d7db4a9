"""Pages that create, update and look up a profile: one form, one agent, its answer at once and kept nowhere."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import Field, page_form
from agents_proxy.analyses import profile_calls, profile_view
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.forms import answer_error, typed_answer
from agents_proxy.analyses.profile_call_forms import AgreedForm, CreateForm, OwnForm, UpdateForm
from agents_proxy.analyses.schemas import LONGEST_ANSWER
from agents_proxy.errors import Refusal
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import verified_by
from agents_proxy.proxy.correlation import ANSWERS_WITHIN
from agents_proxy.refusal_words import words_of
from agents_proxy.statements import statement
from agents_proxy.states import Duration, Purpose
from common.network import client_address, network_of
from common.text import StrOrPromise

_PURPOSES = [Purpose.PROFILE]
_SALT = "question-of-agent"
LONGEST_QUESTION = 1000  # characters of it that go to and fro with the answer
_FAILED_STATUS = 502  # an agent answered, and no profile can be read from it


@dataclass(frozen=True)
class Kind:
    name: str  # of its address
    agent: str
    form: type[AgreedForm]
    title: Promise
    lead: Promise
    button: StrOrPromise

    @property
    def address(self) -> str:
        return reverse(f"profile:{self.name}")


KINDS = {
    kind.name: kind
    for kind in (
        Kind("create", profile_calls.CREATE, CreateForm, _("Create a profile"),
             _("Describe yourself. The profile agent makes a profile of it and keeps that."), _("Create it")),
        Kind("update", profile_calls.UPDATE, UpdateForm, _("Update your profile"),
             _("Say what has changed. The update agent changes the profile that it keeps of you."), _("Update it")),
        Kind("look-up", profile_calls.LOOK_UP, OwnForm, _("Look up your profile"),
             _("See what the profile agent keeps under your phone number or e-mail address."), _("Look it up")),
    )
}  # fmt: skip


@page_form(
    {f"kind={name}": kind.button for name, kind in KINDS.items()},
    CreateForm,
    UpdateForm,
    Field("about", _("E-mail or phone number"), "text", 254),
    Field("agreed", _("I agree to this"), "check"),
    "question",
    Field("answer", _("Your answer"), "long", LONGEST_ANSWER),
)
def profile_call_page(request: HttpRequest, kind: str) -> HttpResponse:
    """The form; sent, the agent's answer above it, or why there is none, with what was typed still in it."""
    person, page = person_of(request), KINDS[kind]
    named = consents.own_named(person, Purpose.PROFILE)
    agreed = named is not None
    answers = "question" in request.POST
    typed = None if answers else request.POST or None
    form = page.form(typed, agreed=agreed, own=named or verified_by(person.pk))
    shown: dict[str, Any] = {}
    status = 200
    if answers:
        shown, status = _answer_to_question(request, page)
    elif request.method == "POST":
        shown, status = _answered(request, page, form) if form.is_valid() else ({}, 400)
    context = {
        "kind": page,
        "kinds": KINDS.values(),
        "form": form,
        "agreed": agreed,
        "statement": statement(_PURPOSES, requester=gettext("This service"), lasts=Duration.DAY.length),
        **shown,
    }
    return render(request, "profile/ask.html", context, status=status)


def _answered(request: HttpRequest, page: Kind, form: AgreedForm) -> tuple[dict[str, Any], int]:
    """What the page shows of the call, and its status; a refusal keeps the form as it was."""
    person = person_of(request)
    if form.cleaned_data.get("agreed"):
        consents.give(by=person, purposes=_PURPOSES, named=form.named())
    return _call_agent(request, page, form.prompt())


def _answer_to_question(request: HttpRequest, page: Kind) -> tuple[dict[str, Any], int]:
    """The same for the answer to what the agent asked back; what was typed stays where it is refused."""
    sealed, text = request.POST["question"], typed_answer(request.POST.get("answer", ""))
    try:
        owner, agent, session_id, task_id, question = signing.loads(sealed, salt=_SALT, max_age=ANSWERS_WITHIN)
    except signing.BadSignature:
        return {"problem": gettext("The agent waits for this answer no more. Ask again.")}, 400
    if [owner, agent] != [person_of(request).public_id, page.agent]:
        return {"problem": gettext("The agent waits for this answer no more. Ask again.")}, 400
    page_question = {"question": question, "question_names": sealed, "answer": text}
    if unfit := answer_error(text):
        return {**page_question, "problem": unfit}, 400
    shown, status = _call_agent(request, page, text, (session_id, task_id))
    return ({**page_question, **shown} if "problem" in shown else shown), status


def _call_agent(
    request: HttpRequest, page: Kind, text: str, names: profile_calls.Names | None = None
) -> tuple[dict[str, Any], int]:
    person = person_of(request)
    call = partial(profile_calls.call_profile_agent, by=person, agent=page.agent, text=text, names=names)
    try:
        reply = call(network=network_of(client_address(request)))
    except Refusal as refusal:
        return {"problem": words_of(refusal)}, refusal.status
    if reply.question is not None and reply.names is not None:
        short = truncatechars(reply.question, LONGEST_QUESTION)
        named = signing.dumps([person.public_id, page.agent, *reply.names, short], salt=_SALT, compress=True)
        return {"question": reply.question, "question_names": named}, 200
    if reply.profile is None:
        reasons = analysis_words.REASONS | analysis_words.UNREADABLE
        return {"problem": reasons[reply.error_code]}, _FAILED_STATUS
    sections = profile_view.sections(reply.profile)
    return {"answered": True, "sections": sections, "intents": profile_view.timeline(reply.profile)}, 200
