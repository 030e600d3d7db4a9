"""The page on which a person sends what an analysis says of brands: read it, agree, and see what became of it."""

import json
import re
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import Field, page_form
from agents_proxy.activations import actions as activation_actions
from agents_proxy.activations import payloads
from agents_proxy.activations import queries as activation_queries
from agents_proxy.activations.errors import NothingToActivate
from agents_proxy.activations.models import Activation
from agents_proxy.agents import title_of
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import own_run, subject_of_run
from agents_proxy.analyses.results import PERSON
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.models import Destination
from agents_proxy.errors import AddressNotVerified
from agents_proxy.processing_consent import actions as consents
from agents_proxy.statements import ACTIVATIONS
from agents_proxy.states import UNFINISHED_ACTIVATIONS, ActivationStatus
from common.problems import Problem

# why something was not sent, or not yet, by its error code
REASONS = {
    "refused": _("The receiver did not take it."),
    "unreachable": _("The receiver could not be reached."),
    "analysis_deleted": _("The analysis was deleted before it was sent."),
    "destination_disabled": _("The receiver takes nothing any more."),
    "consent_ended": _("The consent ended before it was sent."),
    "worker_lost": _("The work on it was interrupted too often."),
}
# what the page says where a sending is refused, by the problem's code
PROBLEMS = {
    "nothing_to_activate": _("No agent knows what you like, or the analysis has not ended. Nothing was sent."),
    "subject_not_verified": _(
        "This analysis is about an address or a number that is not verified as yours any more. Nothing was sent."
    ),
    "unknown_destination": _("That receiver is not there any more. Nothing was sent."),
    "activation_budget_spent": _("You sent too much within an hour. Nothing was sent; try again later."),
    "changed_since_shown": _("The profile has changed since you read it. Look again, then send."),
}

_NUMBER = re.compile(r"[0-9]{1,2}\Z")


@page_form(_("Send it"), "destination", "sending", "shown", Field("agreed", _("I agree that it is sent"), "check"))
def send(request: HttpRequest, analysis_id: str) -> HttpResponse:
    """Choose where to, read what is sent, and send it."""
    run = own_run(person_of(request), analysis_id)
    if request.method == "POST":
        return _send(request, run)
    return render(request, "profile/send.html", _content(request, run))


def _send(request: HttpRequest, run: Run) -> HttpResponse:
    destination_id = request.POST.get("destination", "")[:64]
    here = f"{reverse('activations:send', args=[run.analysis_id])}?destination={destination_id}"
    if request.POST.get("agreed") != "yes":
        messages.error(request, gettext("Nothing was sent: tick that you agree first."))
        return redirect(here)
    number = request.POST.get("sending", "")
    try:
        _, is_new = activation_actions.agree_and_activate(
            by=person_of(request),
            analysis_id=run.analysis_id,
            destination_id=destination_id,
            number=int(number) if _NUMBER.match(number) else 0,
            shown=request.POST.get("shown", ""),
        )
    except Problem as problem:
        messages.error(request, str(PROBLEMS.get(problem.code, problem.detail)))
    else:
        done = gettext("It is being sent. Below you see when it arrives.")
        again = gettext("This was sent already. Nothing was sent a second time.")
        messages.success(request, done if is_new else again)
    return redirect(here)


def _content(request: HttpRequest, run: Run) -> dict[str, Any]:
    destinations, chosen = _destinations(request)
    sendings = [_row(activation) for activation in activation_queries.activations_of(run)]
    content = {
        "run": run,
        "destinations": destinations,
        "chosen": chosen,
        "sendings": sendings,
        "moving": any(row["activation"].status in UNFINISHED_ACTIVATIONS for row in sendings),
    }
    try:
        data = payloads.data_of(run, subject_of_run(run))
    except (NothingToActivate, AddressNotVerified) as problem:
        return {**content, "nothing": PROBLEMS[problem.code]}
    number = activation_queries.next_number(run, chosen) if chosen else 0
    return {
        **content,
        "facts": _facts(data["profile"], payloads.found_for(run)[1]),
        "raw": json.dumps(data, ensure_ascii=True, indent=2),
        "shown": payloads.shown_digest(data, activation_actions.statement(chosen)) if chosen else "",
        "number": number,
        "full": number >= activation_actions.MOST_SENDINGS,
        "statement": activation_actions.statement(chosen) if chosen else "",
    }


def _destinations(request: HttpRequest) -> tuple[list[Destination], Destination | None]:
    """Where this person may send, and what is chosen: what the link names, else the only one there is."""
    person = person_of(request)
    agreed = consents.own_destinations(person)
    listed = list(destination_queries.destinations_for(person, agreed=agreed))
    named = request.GET.get("destination", "")[:64]
    if not named:
        return listed, listed[0] if len(listed) == 1 else None
    try:
        [chosen] = destination_queries.named([named], person=person)
    except UnknownDestination:
        messages.error(request, str(PROBLEMS["unknown_destination"]))
        return listed, None
    return (listed if chosen in listed else [*listed, chosen]), chosen


def _facts(profile: dict[str, Any], provenance: dict[str, list[str]]) -> list[tuple[str, list[str], str]]:
    """What is sent, under words of ours, each value as it was given, and by whom."""
    words = {
        "fullName": gettext("Name"),
        "email": gettext("E-mail"),
        "phone": gettext("Phone number"),
        "likes": gettext("Likes"),
        "dislikes": gettext("Dislikes"),
        "brand_affinities": gettext("Brands"),
        "category_focus": gettext("Categories"),
        "price_sensitivity": gettext("Price sensitivity"),
        "channel": gettext("Where you shop"),
        "confidence": gettext("How sure the agents are"),
    }
    preferences = profile.get("shopping_preferences", {})
    flat = {**profile, **preferences}
    sources = {**provenance, **dict.fromkeys(preferences, provenance.get("shopping_preferences", []))}
    people = {payloads.PURCHASES: gettext("your purchases"), PERSON: gettext("You")}
    listed = {name: value if isinstance(value, list) else [value] for name, value in flat.items() if name in words}
    return [
        (
            words[name],
            [str(item) for item in listed[name]],
            ", ".join(people.get(source) or title_of(source) for source in sources[name]),
        )
        for name in words
        if name in listed
    ]


def _row(activation: Activation) -> dict[str, Any]:
    label, tone = ACTIVATIONS[ActivationStatus(activation.status)]
    return {"activation": activation, "label": label, "tone": tone, "reason": REASONS.get(activation.error_code, "")}
