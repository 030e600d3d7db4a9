"""Why the log does not go on. None of these is an answer to a caller: they stop the sequencer, loudly."""


class LogRefused(Exception):
    """What is asked for does not follow from what was signed before, or a part that must be there is missing."""
