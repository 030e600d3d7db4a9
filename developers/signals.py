"""What this room tells the rooms above it, which it cannot import.

`app_changed(app_pk, by)`: staff changed what people are shown of an app; sent inside the transaction.
"""

from django.dispatch import Signal

app_changed = Signal()
