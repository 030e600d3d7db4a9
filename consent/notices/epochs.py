"""Numbers of events after a restore: none that an app was told may have been lost is used for another event.

The numbers of an app go on in the next epoch, whose first one is so far above the backup's newest that no lost one
reaches it. Within an epoch they have no gaps.
"""

from django.db.models import F

from consent.notices.models import NoticeCounter
from developers.apps.models import App

EPOCH = 10_000_000  # numbers


def begin_epoch() -> None:
    """Let the next number of every app be the first of an epoch, at least half of one above what the backup had.

    In the transaction of the entry that tells of the restore.
    """
    known = App.objects.values_list("pk", flat=True)
    NoticeCounter.objects.bulk_create([NoticeCounter(app_id=pk) for pk in known], ignore_conflicts=True)
    above = F("sequence") + EPOCH // 2
    NoticeCounter.objects.update(sequence=above - above % EPOCH + EPOCH)


def is_first(sequence: int) -> bool:
    """Whether a number is the first of an epoch that a restore began."""
    return sequence > EPOCH and sequence % EPOCH == 1
