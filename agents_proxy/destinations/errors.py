"""What can be refused about destinations."""

from common.problems import Problem


class UnknownDestination(Problem):
    """There is no such destination, it is disabled, or it is not of an app that may be sent to here."""

    code, status, title = "unknown_destination", 404, "There is no such destination"
