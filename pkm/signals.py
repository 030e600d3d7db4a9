"""What this room tells the rooms above it, which it cannot import.

`entry_changed(entry_pk, by)`: staff changed what a scope means or whether it can be asked for, or `sync_registry` did,
and then `by` is None; sent inside the transaction of the change.
`entries_touched(entry_pks)`: asks what a change would touch; each receiver answers with [(label, count)].
"""

from django.dispatch import Signal

entry_changed = Signal()
entries_touched = Signal()
