"""What this room tells the rooms above it, which it cannot import.

`app_changed(app_pk, by)`: what people are shown of an app changed; sent inside the transaction. `by` is None where it
was the service itself.
`tokens_ended(app_pk)`: a token of this app works no more, or none does; sent inside the transaction.
"""

from django.dispatch import Signal

app_changed = Signal()
tokens_ended = Signal()
