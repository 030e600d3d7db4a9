"""What a program that manages apps is told where its person may not do what it asks for."""

from common.problems import Problem


class OwnerRequired(Problem):
    """Only an owner of the app may do this; the token's person is a member of it."""

    code = "owner_required"
    status = 403
    title = "Only an owner of the app may do this"
