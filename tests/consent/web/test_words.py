"""Durations are told exactly: this is what somebody approves."""

import pytest

from common.durations import duration
from consent.web.forms import duration_choices


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (300, "5 minutes"),
        (86400, "1 day"),
        (5400, "1 hour 30 minutes"),
        (31536000, "1 year"),
        (2591999, "29 days 23 hours 59 minutes 59 seconds"),
        (2592000 + 61, "1 month 1 minute 1 second"),
        (34 * 86400, "34 days"),
        (10 * 86400, "10 days"),
        (400 * 86400 + 3600, "400 days 1 hour"),
        (2 * 31536000, "2 years"),
    ],
)
def test_a_duration_is_told_to_the_second(seconds: int, words: str) -> None:
    assert duration(seconds) == words


def test_choices_are_shorter_and_end_with_what_was_asked() -> None:
    assert [seconds for seconds, _ in duration_choices(2592000)] == [300, 3600, 86400, 604800, 2592000]
    assert duration_choices(300) == [(300, "5 minutes")]
