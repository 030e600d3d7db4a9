"""How many entries a person, or a session that was stolen from them, has written where nothing is protected by it."""

from accounts.models import User
from common.limits import Limit, count
from common.problems import TooManyRequests

_ENTRIES = Limit("own-entries", 60, 3600, in_database=True)  # kept with the entry, or not at all


def count_own_entry(*, by: User) -> None:
    """Count one, in the caller's transaction. Raises `TooManyRequests`.

    Entries stay in the public log for good. What protects (blocking, stopping, pausing) is never refused.
    """
    count(_ENTRIES, by.public_id).require(TooManyRequests)
