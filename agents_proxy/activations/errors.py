"""What can be refused about sending to a destination."""

from common.problems import Kind, Problem


class NothingToActivate(Problem):
    """The analysis has not ended, or its profile says nothing that a destination could use."""

    code, status, title = "nothing_to_activate", 409, "There is nothing to send"


# fmt: off
ChangedSinceShown = Kind("changed_since_shown", 409, "The profile has changed meanwhile",
    "The analysis has come to something else since the person read what would be sent.")
SendingTaken = Kind("sending_taken", 409, "This sending is another one",
    "A sending of this number to this destination was asked for under another consent.")
UnknownActivation = Kind("unknown_activation", 404, "There is no such activation",
    "There is no such activation of this analysis.")
# fmt: on


class ActivationBudgetSpent(Problem):
    """This person, or this app for all people, asked for as many sendings within an hour as it may."""

    code, status, title = "activation_budget_spent", 429, "No more sendings for now"
