"""What a page says where a call of an agent is refused or fails; a refusal's own message is for programs."""

from django.utils.translation import gettext_lazy as _

from agents_proxy.errors import Refusal

REFUSALS = {
    "agent_not_configured": _("This agent is not available here."),
    "upstream_timeout": _("The agent took too long. It may have done it all the same: look before you ask again."),
    "upstream_unavailable": _("The agent cannot be reached. Try again later."),
    "agent_refused_us": _("The agent does not let this service in. Its operator has to look at that."),
    "agent_busy": _("The agent takes no more calls for now. Try again later."),
    "invalid_agent_response": _("What came back was no answer of an agent."),
    "too_many_requests": _("Too many calls at once. Wait a moment and try again."),
    "message_budget_spent": _("You sent too much within an hour. Nothing was sent; try again later."),
    "consent_required": _("Nothing is sent to any agent unless you agree."),
    "subject_mismatch": _("This is about somebody else. Agents are asked about you alone."),
    "subject_not_verified": _("Verify your e-mail address first: agents are asked about verified addresses alone."),
    "temporarily_unavailable": _("That is not possible just now. Try again in a moment."),
}


def words_of(refusal: Refusal) -> str:
    """In the page's language; one that no page can come to reads as what passes."""
    return str(REFUSALS.get(refusal.reason, REFUSALS["temporarily_unavailable"]))
