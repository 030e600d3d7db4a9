"""Counting discoveries."""

from consent.actions.discovery import flush_discoveries, note_discovery
from consent.models import Discovery
from tests.factories import AppFactory, PersonFactory


def test_somebody_who_is_gone_does_not_stop_the_counts_of_others(db: None) -> None:
    app, gone, here = AppFactory(), PersonFactory(), PersonFactory()
    for person in (gone, gone, here, here, here):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    gone.delete()

    flush_discoveries()

    assert list(Discovery.objects.values_list("user_id", "count")) == [(here.pk, 3)]
