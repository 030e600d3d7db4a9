"""What can be refused about sending to a destination."""

from common.problems import Problem


class NothingToActivate(Problem):
    """The analysis has not ended, or its profile says nothing that a destination could use."""

    code, status, title = "nothing_to_activate", 409, "There is nothing to send"


class ChangedSinceShown(Problem):
    """The analysis has come to something else since the person read what would be sent."""

    code, status, title = "changed_since_shown", 409, "The profile has changed meanwhile"


class SendingTaken(Problem):
    """A sending of this number to this destination was asked for under another consent."""

    code, status, title = "sending_taken", 409, "This sending is another one"


class ActivationBudgetSpent(Problem):
    """This person, or this app for all people, asked for as many sendings within an hour as it may."""

    code, status, title = "activation_budget_spent", 429, "No more sendings for now"


class UnknownActivation(Problem):
    """There is no such activation of this analysis."""

    code, status, title = "unknown_activation", 404, "There is no such activation"
