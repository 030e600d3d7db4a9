"""What the bench of revocations finds out is red where it must be."""

import pytest

from bench.revocations import ACKNOWLEDGED_WITHIN, Race, report

SOON, LATE = 0.1, ACKNOWLEDGED_WITHIN + 0.1  # seconds


def race(took: float, *, read_after: bool = False) -> Race:
    """A revocation that was acknowledged after so long, with one read that was sent after that."""
    made = Race("req_a", [])
    made.revoked, made.acknowledged = 10.0, 10.0 + took
    made.reads = [(20.0, 20.1, read_after)]
    return made


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ([race(SOON)] * 100, 0),
        ([race(SOON)] * 99 + [race(LATE)], 0),
        ([race(SOON)] * 98 + [race(LATE)] * 2, 1),
        ([race(SOON)] * 20 + [race(LATE)], 1),
        ([race(SOON)] * 99 + [race(SOON, read_after=True)], 1),
    ],
    ids=["all soon", "one of a hundred late", "two of a hundred late", "one of few late", "read after it"],
)
def test_a_late_acknowledgement_and_a_read_after_it_are_red(run: list[Race], code: int) -> None:
    assert report(run) == code
