"""What can be refused about sending to a destination."""

from common.problems import Problem


class NothingToActivate(Problem):
    """The analysis has not ended, or its profile says nothing that a destination could use."""

    code = "nothing_to_activate"
    status = 409
    title = "There is nothing to send"


class ChangedSinceShown(Problem):
    """The analysis has come to something else since the person read what would be sent."""

    code = "changed_since_shown"
    status = 409
    title = "The profile has changed meanwhile"


class SendingTaken(Problem):
    """A sending of this number to this destination was asked for under another consent."""

    code = "sending_taken"
    status = 409
    title = "This sending is another one"


class ActivationBudgetSpent(Problem):
    """This person, or this app for all people, asked for as many sendings within an hour as it may."""

    code = "activation_budget_spent"
    status = 429
    title = "No more sendings for now"


class UnknownActivation(Problem):
    """There is no such activation of this analysis."""

    code = "unknown_activation"
    status = 404
    title = "There is no such activation"
