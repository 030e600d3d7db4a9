"""What things of an analysis are called on its pages."""

from collections.abc import Iterator

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES, SECTIONS

# section → its heading and its icon
HEADINGS = {
    "basic": (_("Basic information"), "identity"),
    "location": (_("Location"), "location"),
    "demographics": (_("Demographics"), "demographics"),
    "professional": (_("Professional"), "professional"),
    "lifestyle": (_("Lifestyle"), "lifestyle"),
    "technology": (_("Technology"), "technology"),
    "interests": (_("Interests"), "interests"),
    "intents": (_("Intent analysis"), "intents"),
    "brands": (_("Brands and shopping"), "brands"),
    "other": (_("Other things that agents said"), "star"),
}
RUNS = {
    "queued": (_("Waiting to start"), "n"),
    "running": (_("Running"), "n"),
    "completed": (_("Complete"), "ok"),
    "completed_with_errors": (_("Complete, with gaps"), "warn"),
    "failed": (_("No usable answer"), "bad"),
    "cancelled": (_("Stopped"), "n"),
}
NEEDS_ANSWER = (_("Waiting for you"), "warn")  # of one that is under way
STEPS = {
    "waiting": _("Waiting"),
    "running": _("Asking now"),
    "input_required": _("Asks you something"),
    "succeeded": _("Answered"),
    "empty": _("Knows nothing"),
    "failed": _("No usable answer"),
    "skipped": _("Not asked"),
}

ARRIVING = _("Its answer is coming in")  # of one that is asked now
# what a step is called whose agent was being asked as the analysis was stopped, and why
STOPPED_MEANWHILE = (_("Asked"), _("The analysis was stopped while this agent was asked, so its answer is not kept."))
REASONS = {
    "agent_error": _("The agent reported an error."),
    "agent_failed": _("The agent could not do this."),
    "input_required": _("The agent wants to know more. Add it, and ask again."),
    "no_text": _("The agent answered without any text."),
    "not_json": _("The answer was not a profile that can be read. Its text is kept in the raw data."),
    "not_an_object": _("The answer was not a profile. Its text is kept in the raw data."),
    "too_deep": _("The answer was nested too deeply. Its text is kept in the raw data."),
    "invalid_agent_response": _("What came back was no answer of an agent."),
    "upstream_unavailable": _("The agent cannot be reached."),
    "upstream_timeout": _("The agent took too long."),
    "agent_refused_us": _("The agent does not let this service in. Its operator has to look at that."),
    "agent_busy": _("The agent takes no more calls for now. Try again later."),
    "agent_not_configured": _("This agent is not available here."),
    "subject_mismatch": _("What the agent answered was about somebody else, or your address is not verified any more."),
    "not_answered": _("Its question was not answered within 24 hours."),
    "worker_lost": _("The work on this step was interrupted too often."),
    "cancelled": _("You stopped the analysis before this step."),
    "consent_withdrawn": _("The consent ended before this step."),
}

# the same on a page of one call, which keeps no answer
UNREADABLE = dict.fromkeys(
    ("not_json", "not_an_object", "too_deep"), _("The answer was not a profile that can be read.")
)

# what a page says where something about an analysis is refused, by the problem's code
PROBLEMS = {
    "subject_not_verified": _("Verify this address first, under E-mail addresses: nobody else can be asked about."),
    "too_many_analyses": _("Too many analyses at once. Wait until one of them ends."),
    "analysis_budget_spent": _("Too many analyses within an hour. Try again later."),
    "invalid_request": _("That cannot be kept: write what is true, in at most 2,000 characters."),
    "analysis_ended": _("The analysis has ended already."),
    "step_not_failed": _("This step did not fail, or the analysis has not ended yet."),
    "consent_ended": _("The consent to this analysis has ended. Start a new one."),
    "step_not_asking": _("The agent asks nothing any more."),
    "subject_mismatch": _("Your answer is about somebody else. Agents are asked about you alone."),
}

# how a reply was read
FORMS = {"data": _("as structured data"), "text": _("in a text")}
DROPPED = {
    "no_value": _("said nothing"),
    "not_a_number": _("were no number"),
    "not_about_them": _("were not about you"),
    "outside_profile": _("stood outside of the profile"),
    "too_many": _("were more than we read"),
}


def _labels() -> Iterator[tuple[str, str]]:
    """What agents are asked for, and the parts of what has parts; kept in English."""
    for attribute in PROMPT_ATTRIBUTES.values():
        if attribute.prompt:
            yield attribute.name, attribute.prompt.label or attribute.label
        for part in attribute.control.parts:
            yield part.name, part.prompt.label or part.label


FIELDS = dict(_labels())


def label(name: str) -> str:
    """What a field is called: a name that nobody wrote words for is made readable."""
    return gettext(FIELDS[name]) if name in FIELDS else name.replace("_", " ").capitalize()


def section_of(name: str) -> str:
    return next((section for section, names in SECTIONS.items() if name in names), "other")
