"""What one room tells the rooms above it, which it cannot import.

`access_taken_back(user)`: their password was reset by mail, or they signed out everywhere else; sent once that is so.
`staff_viewed(by, user_ids, what, rows)`: a member of staff was shown rows about these people (public ids). It is sent
inside a transaction; a receiver that fails keeps the page from being shown.
"""

from django.dispatch import Signal

access_taken_back = Signal()
staff_viewed = Signal()
