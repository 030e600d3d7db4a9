"""What this room tells the rooms above it, which it cannot import.

`entry_changed(entry_pk, by)`: staff changed what a scope means, or `sync_registry` did, and then `by` is None; sent
inside the transaction of the change.
`entries_withdrawn(entry_pks, by, ends_grants)`: staff withdrew these scopes, and their entries are locked: nobody asks
for them or approves them until the transaction, inside which it is sent, is over. `ends_grants` says that live grants
of them are to end, too.
`entries_touched(entry_pks)`: asks what a change would touch; each receiver answers with a list of `Touched`.
"""

from typing import NamedTuple

from django.dispatch import Signal
from django.utils.functional import Promise

entry_changed = Signal()
entries_withdrawn = Signal()
entries_touched = Signal()


class Touched(NamedTuple):
    """How many of what a change touches.

    Where withdrawing the scopes can end these too, `to_end` is the words of that choice, and `permission` the one that
    it takes.
    """

    what: str | Promise
    number: int
    to_end: str = ""
    permission: str = ""
