"""The one table of events: what carries a receipt, what protects, and that no end of a lifecycle is missing in it."""

import re

from django.conf import settings

from consent.event_types import EventType
from consent.ledger.models import AuditEntry, Receipt
from consent.notices.models import Notice
from consent.states import LIVE_GRANTS, GrantStatus, RequestStatus

ENDS = {
    *(status.value for status in RequestStatus if status is not RequestStatus.PENDING),
    *(status.value for status in GrantStatus if status not in LIVE_GRANTS),
}


def test_every_decision_and_end_carries_a_receipt_and_nothing_else_does() -> None:
    assert {event.value for event in EventType if event.has_receipt} == ENDS


def test_what_ends_or_refuses_access_protects() -> None:
    giving_access = {"approved", "exhausted", "superseded"}  # the last two come with a read and with an approval

    assert {event.value for event in EventType if event.protects} == ENDS - giving_access | {"paused"}


def test_apps_are_told_of_every_move() -> None:
    types = {event.value: event.webhook.type for event in EventType if event.webhook}

    assert types.pop("export_updated") == "export.updated"
    assert types == {name: f"consent.{name}" for name in ENDS | {"paused", "resumed"}}


def test_what_comes_of_other_tables_is_only_shown() -> None:
    derived = [event for event in EventType if event.is_derived]

    assert {event.value for event in derived} == {
        "grant_expired", "ended_unused", "ended_with_vault", "left_as_is", "read", "discovered", "found", "changed",
        "unlocking_changed",
    }  # fmt: skip
    assert all(event.in_history and not event.webhook and not event.has_receipt for event in derived)


def test_names_fit_into_their_columns() -> None:
    columns = {AuditEntry: "kind", Receipt: "event", Notice: "kind"}
    longest = {model: model._meta.get_field(name).max_length for model, name in columns.items()}

    assert max(len(event) for event in EventType if not event.is_derived) <= longest[AuditEntry]
    assert max(len(event) for event in EventType if event.has_receipt) <= longest[Receipt]
    assert max(len(event.webhook.type) for event in EventType if event.webhook) <= longest[Notice]


def test_the_page_that_verifies_has_words_for_every_receipt() -> None:
    script = (settings.ROOT / "static" / "js" / "receipt_words.js").read_text()
    listed = script.split("const EVENTS")[1].split("});")[0]

    assert set(re.findall(r"^  (\w+): gettext", listed, re.MULTILINE)) == {
        event.value for event in EventType if event.has_receipt
    }
