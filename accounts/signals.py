"""What one room tells the rooms above it, which it cannot import.

`staff_viewed(by, user_ids, what, rows)`: a member of staff was shown rows about these people (public ids). It is sent
inside a transaction; a receiver that fails keeps the page from being shown.
"""

from django.dispatch import Signal

staff_viewed = Signal()
