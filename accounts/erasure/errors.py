"""Why an account is not erased."""

from accounts.hooks import Words


class StandsInTheWay(Exception):
    """Something has to be settled first; `words` says what."""

    def __init__(self, words: list[Words]) -> None:
        super().__init__("; ".join(map(str, words)))
        self.words = words
