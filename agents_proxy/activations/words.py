"""What people are told of sendings."""

from django.utils.translation import gettext_lazy as _

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
