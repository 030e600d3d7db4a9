"""What an app was told has numbers without a gap, but where a restore began another epoch of them."""

from typing import Any

import pytest

from consent.notices.models import Notice
from consent.notices.outbox import EPOCH
from consent.verification.run import notices_after, verify_notices
from tests.factories import NoticeFactory

NEW = EPOCH + 1


@pytest.mark.parametrize(
    ("numbers", "restored", "found"),
    [
        ((1, 2, 3), False, []),
        ((1, 3), False, ["from number 1 to 3"]),
        ((1, NEW, NEW + 1), True, []),
        ((NEW,), True, []),
        ((1, NEW, 2 * EPOCH + 1), True, []),
        ((1, NEW), False, [f"from number 1 to {NEW}"]),
        ((1, NEW + 1), True, [f"from number 1 to {NEW + 1}"]),
        ((1, EPOCH), True, [f"from number 1 to {EPOCH}"]),
        ((1, NEW, NEW + 2), True, [f"from number {NEW} to {NEW + 2}"]),
    ],
)
def test_numbers_go_on_as_they_may(app: Any, numbers: tuple[int, ...], restored: bool, found: list[str]) -> None:
    for number in numbers:
        NoticeFactory(app=app, sequence=number)
    assert Notice.objects.count() == len(numbers)

    reasons = [broken.reason for broken in verify_notices(notices_after(0, 100), {}, restored=restored)]
    gaps = [reason for reason in reasons if "goes from number" in reason]
    assert [reason.partition("goes ")[2] for reason in gaps] == found
