"""What the sandbox refuses."""

from common.problems import Kind

# fmt: off
TestModeRequired = Kind("test_mode_required", 403, "Use the token of a test app",
    "Only a test app has sandbox people: a token that begins with `cr_test_` is needed here.")
TooManySandboxPeople = Kind("too_many_sandbox_people", 409, "The sandbox is full",
    "A test app has at most twenty sandbox people at a time.")
# fmt: on
