"""How many entries a person, or a session that was stolen from them, has written where nothing is protected by it."""

from accounts.models import User
from common.limits import Limit, count
from common.problems import TooManyRequests

# kept with the entry, or not at all
_ENTRIES = Limit("own-entries", 60, 3600, in_database=True)
_REPORTS = Limit("reports", 60, 3600, in_database=True)  # apart: whoever uses the others up silences nobody's report


def count_own_entry(*, by: User, is_report: bool = False) -> None:
    """Count one, in the caller's transaction. Raises `TooManyRequests`.

    Entries stay in the public log for good. What protects (blocking, stopping, pausing) is never refused.
    """
    count(_REPORTS if is_report else _ENTRIES, by.public_id).require(TooManyRequests)
