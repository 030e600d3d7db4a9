"""What is refused about tokens."""

from common.problems import InvalidRequest


class AlreadyMade(InvalidRequest):
    """This form made its token already; a token is shown once, and a repetition makes no other."""

    def __init__(self) -> None:
        super().__init__("This was sent before, and made its token then.")
