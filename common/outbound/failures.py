"""What became of a request that has no answer."""


class ExchangeFailed(Exception):
    """No answer: there was no connection, or it broke."""

    may_have_arrived = False  # whether anything was sent; without that the other side knows nothing of the request


class AddressRefused(ExchangeFailed):
    """The name leads somewhere that this client does not connect to."""


class TimedOut(ExchangeFailed):
    """The deadline passed, or the grace of this process ended."""


class InvalidAnswer(ExchangeFailed):
    """Not HTTP, or larger than the limit."""
