"""The pages of analyses. All of them work without JavaScript; with it, the steps of a run show live."""

import json
from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import Field, page_button, page_form
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import corrections, page_content
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.errors import UnknownAnalysis
from agents_proxy.analyses.exports import EXPORTS
from agents_proxy.analyses.forms import AnalysisForm, answer_error, typed_answer
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.profile_view import typed_value
from agents_proxy.analyses.schemas import LONGEST_ANSWER, CorrectionsBody
from agents_proxy.financial import words as financial_words
from agents_proxy.processing_consent.forms import PURPOSE_FIELDS
from agents_proxy.processing_consent.identifiers import verified_by
from agents_proxy.proxy.spelling import canonical
from agents_proxy.states import UNFINISHED_RUNS
from common.problems import Problem, checked


def _own(request: HttpRequest, analysis_id: str) -> Run:
    return analysis_queries.own_run(person_of(request), analysis_id)


@page_form(_("Start the analysis"), AnalysisForm, Field("email", _("E-mail address"), "text", 254), *PURPOSE_FIELDS)
def home(request: HttpRequest) -> HttpResponse:
    """The form of a new analysis, and those that there are."""
    user, words, status = person_of(request), page_content.wording(), 200
    known = {"fullName": user.display_name}
    form = AnalysisForm(request.POST or None, emails=verified_by(user.pk).emails, points=words.points, initial=known)
    if request.method == "POST":
        if form.is_valid():
            try:
                run = analysis_actions.start_analysis(
                    by=user, submitted=form.submitted(), purposes=form.purposes(), own=form.cleaned_data["ownValues"]
                )
            except Problem as problem:
                messages.error(request, _refusal_text(problem))
            else:
                return redirect("profile:run", run.analysis_id)
        status = 400
    shown = {"form": form, "statement": words, **page_content.home(user)}
    return render(request, "profile/home.html", shown, status=status)


@signed_in_page
def run(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """The steps while it runs, the merged profile afterwards."""
    found = _own(request, analysis_id)
    if found.status in UNFINISHED_RUNS:
        return render(request, "profile/progress.html", page_content.progress(found))
    return render(request, "profile/result.html", page_content.result(found))


@signed_in_page
def raw(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Everything as it came, to look at, copy or save."""
    found = _own(request, analysis_id)
    data = json.dumps(analysis_queries.raw_of(person_of(request), analysis_id), ensure_ascii=False, indent=2)
    return render(request, "profile/raw.html", {"run": found, "raw": page_content.visible(data)})


def _refusal_text(problem: Problem) -> str:
    """A refusal in the language of the page; its own title and detail are for programs."""
    return str(analysis_words.PROBLEMS.get(problem.code, financial_words.OTHERWISE))


def _run_action(request: HttpRequest, analysis_id: str, act: Callable[[], str]) -> HttpResponse:
    """Do `move`, which returns what was done, in words; say how it went, and show the analysis."""
    try:
        done = act()
    except UnknownAnalysis:
        raise Http404 from None
    except Problem as problem:
        messages.error(request, _refusal_text(problem))
    else:
        messages.success(request, done)
    return redirect("profile:run", analysis_id)


@page_button(_("Stop the analysis"))
def cancel(request: HttpRequest, analysis_id: str) -> HttpResponse:
    def act() -> str:
        analysis_actions.cancel_analysis(by=person_of(request), analysis_id=analysis_id)
        return gettext("Stopped. No further agent is asked.")

    return _run_action(request, analysis_id, act)


@page_button(_("Ask again"))
def retry(request: HttpRequest, analysis_id: str, agent: str) -> HttpResponse:
    def act() -> str:
        analysis_actions.retry_step(by=person_of(request), analysis_id=analysis_id, agent=agent)
        return gettext("That agent is asked again.")

    return _run_action(request, analysis_id, act)


@page_button(_("Send the answer"), Field("text", _("Your answer"), "long", LONGEST_ANSWER))
def answer(request: HttpRequest, analysis_id: str, agent: str) -> HttpResponse:
    text = typed_answer(request.POST.get("text", ""))
    _own(request, analysis_id)

    def act() -> str:
        analysis_actions.answer_step(by=person_of(request), analysis_id=analysis_id, agent=agent, text=text)
        return gettext("The agent has your answer and goes on.")

    if unfit := answer_error(text):
        messages.error(request, unfit)
        return redirect("profile:run", analysis_id)
    return _run_action(request, analysis_id, act)


@page_button(
    {"do=keep": _("Correct it"), "do=refuse": _("That is not true"), "do=forget": _("Let agents say it again")},
    "field", Field("value", _("What is true"), "text", 2000),
)  # fmt: skip
def correct(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """One field, corrected or refused in place; or that taken back."""
    person, field = person_of(request), canonical(request.POST.get("field", "")[:200])
    profile = analysis_queries.opened_json(_own(request, analysis_id).profile) or {}

    def act() -> str:
        if request.POST.get("do") == "forget":
            corrections.take_back(by=person, analysis_id=analysis_id, field=field)
            return gettext("Taken back. What agents say stands again.")
        refused = request.POST.get("do") == "refuse"
        value = None if refused else typed_value(request.POST.get("value", ""), profile.get(field))
        changes = checked(CorrectionsBody, {field: value}).root
        _run, outdated = corrections.correct(by=person, analysis_id=analysis_id, changes=changes)
        done = gettext("Kept. It stands here and in every later analysis, whatever agents say.")
        had = gettext("Still with the old value, until you send it again: %(names)s.") % {"names": "; ".join(outdated)}
        return f"{done} {had}" if outdated else done

    return _run_action(request, analysis_id, act)


@page_form(_("Delete it"), danger=True)
def delete(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Ask first, then remove all of it."""
    found = _own(request, analysis_id)
    if request.method != "POST":
        return render(request, "profile/delete.html", {"run": found})
    analysis_actions.delete_analysis(by=person_of(request), analysis_id=analysis_id)
    messages.success(request, gettext("Deleted, with all that the agents said."))
    return redirect("profile:home")


@signed_in_page
def affinity(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """The brand affinity, and the files that it can be saved as."""
    return render(request, "profile/affinity.html", page_content.affinity(_own(request, analysis_id)))


@signed_in_page
def crm(request: HttpRequest, analysis_id: str, form: str) -> HttpResponse:
    """The brand affinity as a file for a CRM; 404 where it lacks what that system asks for."""
    found = affinity_of(analysis_queries.opened_json(_own(request, analysis_id).profile) or {}).affinity
    export = EXPORTS[form]
    body = export.written(found)
    if body is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{export.file_name}"'}
    return HttpResponse(body, content_type=export.media_type, headers=headers)
