"""What this room tells and asks the rooms above it, which it cannot import.

`app_changed(app_pk, by)`: what people are shown of an app changed; sent inside the transaction. `by` is None where it
was the service itself.
`tokens_ended(app_pk)`: a token of this app works no more, or none does, for good or while the app is suspended; sent
inside the transaction.
`processing_occurred(occurred, at)`: events of processing (`app_events.Occurrence`) for apps to be told of; sent inside
the transaction in which they take place.
`apps_counted(app_pks, most)`: asks what the rooms above have of these apps; each receiver answers with a list of
`Count`, of which no number is above `most + 1`.
"""

from typing import NamedTuple

from django.dispatch import Signal

from common.text import StrOrPromise

app_changed = Signal()
apps_counted = Signal()
processing_occurred = Signal()
tokens_ended = Signal()


class Count(NamedTuple):
    """How many of something each app has: `by_app` maps an app's primary key to the number; who is missing has none.

    `record` is the path of the staff's list of them, such as `consent/grant`; its search finds those of an `app_id`.
    """

    what: StrOrPromise
    record: str
    by_app: dict[int, int]
