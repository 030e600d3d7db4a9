"""What this room tells the rooms above it, which it cannot import.

`app_renamed(app_pk, by)`: staff changed the name under which people know an app; sent inside the transaction.
"""

from django.dispatch import Signal

app_renamed = Signal()
