"""What the sandbox refuses."""

from common.problems import Problem


class TestModeRequired(Problem):
    """Only a test app has sandbox people: a token that begins with `cr_test_` is needed here."""

    __test__ = False  # of pytest's

    code, status, title = "test_mode_required", 403, "Use the token of a test app"


class TooManySandboxPeople(Problem):
    """A test app has at most twenty sandbox people at a time."""

    code, status, title = "too_many_sandbox_people", 409, "The sandbox is full"
