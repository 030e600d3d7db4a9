"""The pages of analyses. All of them work without JavaScript; with it, the steps of a run show live."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.errors import Problem
from accounts.page_actions import can_wait
from agents_proxy import activation, analyses, workflow
from agents_proxy.affinity import affinity_of, as_csv
from agents_proxy.analysis_errors import UnknownAnalysis
from agents_proxy.models import Run
from agents_proxy.states import UNFINISHED_RUNS
from agents_proxy.web import interrupted, reads, words
from agents_proxy.web.forms import AnalysisForm

if TYPE_CHECKING:
    from accounts.models import User

_NUMBER = re.compile(r"[0-9]{1,6}\Z")


def _person(request: HttpRequest) -> "User":
    return cast("User", request.user)


def _own(request: HttpRequest, analysis_id: str) -> Run:
    try:
        return workflow.own_run(_person(request), analysis_id)
    except UnknownAnalysis:
        raise Http404 from None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@can_wait(interrupted.START)
def home(request: HttpRequest) -> HttpResponse:
    """The form of a new analysis, and those that there are."""
    user = _person(request)
    form = AnalysisForm(request.POST or None, initial={"email": user.email, "fullName": user.display_name})
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                run = workflow.start_analysis(by=user, submitted=form.submitted())
            except Problem as problem:
                messages.error(request, _said(problem))
            else:
                return redirect("profile:run", run.analysis_id)
        status = 400
    return render(request, "profile/home.html", {"form": form, **reads.home(user)}, status=status)


@login_required
@require_safe
def run(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """The steps while it runs, the merged profile afterwards."""
    found = _own(request, analysis_id)
    if found.status in UNFINISHED_RUNS:
        return render(request, "profile/progress.html", reads.progress(found))
    return render(request, "profile/result.html", reads.result(found))


@login_required
@require_safe
def raw(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Everything as it came, to look at, copy or save."""
    found = _own(request, analysis_id)
    data = json.dumps(analyses.raw_of(_person(request), analysis_id), ensure_ascii=False, indent=2)
    return render(request, "profile/raw.html", {"run": found, "raw": reads.visible(data)})


def _said(problem: Problem) -> str:
    """A refusal in the language of the page; its own title and detail are for programs."""
    return str(words.PROBLEMS.get(problem.code, words.OTHERWISE))


def _move(request: HttpRequest, analysis_id: str, move: Callable[[], str]) -> HttpResponse:
    """Do `move`, which returns what was done, in words; say how it went, and show the analysis."""
    try:
        done = move()
    except UnknownAnalysis:
        raise Http404 from None
    except Problem as problem:
        messages.error(request, _said(problem))
    else:
        messages.success(request, done)
    return redirect("profile:run", analysis_id)


@require_POST
@login_required
@can_wait(interrupted.CANCEL)
def cancel(request: HttpRequest, analysis_id: str) -> HttpResponse:
    def move() -> str:
        workflow.cancel_analysis(by=_person(request), analysis_id=analysis_id)
        return gettext("Stopped. No further agent is asked.")

    return _move(request, analysis_id, move)


@require_POST
@login_required
@can_wait(interrupted.RETRY)
def retry(request: HttpRequest, analysis_id: str, agent: str) -> HttpResponse:
    def move() -> str:
        workflow.retry_step(by=_person(request), analysis_id=analysis_id, agent=agent)
        return gettext("That agent is asked again.")

    return _move(request, analysis_id, move)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@can_wait(interrupted.DELETE)
def delete(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Ask first, then remove all of it."""
    found = _own(request, analysis_id)
    if request.method != "POST":
        return render(request, "profile/delete.html", {"run": found})
    workflow.delete_analysis(by=_person(request), analysis_id=analysis_id)
    messages.success(request, gettext("Deleted, with all that the agents said."))
    return redirect("profile:home")


@login_required
@require_safe
def crm(request: HttpRequest, analysis_id: str, form: str) -> HttpResponse:
    """The brand affinity as a file for a CRM."""
    found = affinity_of(analyses.opened_json(_own(request, analysis_id).profile) or {}).affinity
    if form == "csv":
        body, media_type = as_csv(found), "text/csv; charset=utf-8"
    else:
        body, media_type = json.dumps(found.body(), ensure_ascii=False, indent=2) + "\n", "application/json"
    headers = {"Content-Disposition": f'attachment; filename="brand-affinity.{form}"'}
    return HttpResponse(body, content_type=media_type, headers=headers)


@require_POST
@login_required
@can_wait(interrupted.ACTIVATE)
def activate(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Send the brand affinity to the configured CRM, if the person ticked that they agree; one form sends once."""
    if request.POST.get("agreed") != "yes":
        messages.error(request, gettext("Nothing was sent: tick that you agree first."))
        return redirect("profile:run", _own(request, analysis_id).analysis_id)

    number = request.POST.get("sending", "")
    sending = int(number) if _NUMBER.match(number) else 0

    def move() -> str:
        sent = activation.activate(by=_person(request), analysis_id=analysis_id, sending=sending)
        return gettext("Sent.") if sent else gettext("The CRM has it already. Nothing was sent a second time.")

    return _move(request, analysis_id, move)
