"""The durations that a person is offered."""

from common.durations import duration

_OFFERED = (300, 3600, 86400, 604800, 2592000, 7776000, 31536000)
_SHORTER_CHOICES = 4


def duration_choices(asked: int) -> list[tuple[int, str]]:
    """Shorter choices, shortest first, and last what was asked for."""
    shorter = [seconds for seconds in _OFFERED if seconds < asked][-_SHORTER_CHOICES:]
    return [(seconds, duration(seconds)) for seconds in [*shorter, asked]]
