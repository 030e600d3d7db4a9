"""What the worker does in batches: the same as one by one, in few statements, and no row holds another back."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.outbox import send_due_mails
from common.batches import one_by_one
from common.clock import database_now
from consent.decisions import actions as decision_actions
from consent.decisions import expiry
from consent.errors import AuditUnavailable
from consent.exports.models import Export, Read
from consent.exports.read_batches import chain_pending_reads, chain_reads_of
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditChain, AuditEntry, AuditPending, Receipt
from consent.ledger.pending import write_pending_entries
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests.models import ConsentRequest
from consent.verification.run import Position, run
from tests.consent.broken_audit import audit_away, refuse_rows
from tests.consent.bulk import overdue, read_often
from tests.consent.log.test_batches import claims
from tests.consent.verification.world import make_world
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    WebhookEndpointFactory,
)
from tests.outbox import send_mails

ASKS_CLOCK = connection.vendor == "postgresql"  # SQLite's clock is this process's


_OF_THE_MOMENT = ("receipt_id", "iat", "audit")
_UNLIKE = {"receipt_id": "", "receipt_digest": ""}  # of two receipts about the same


def written() -> dict[str, Any]:
    """All that the ends left behind, but for what is random and when it was written."""
    entries = AuditEntry.objects.select_related("kept").order_by("chain", "sequence")
    subjects = dict(AuditChain.objects.values_list("chain", "subject"))
    receipts = Receipt.objects.order_by("request_id", "event")
    notices = Notice.objects.order_by("app_id", "sequence")
    return {
        "requests": list(ConsentRequest.objects.order_by("pk").values_list("status", "decided_at", "decided_by")),
        "grants": list(Grant.objects.order_by("pk").values_list("status", "ended_at", "ended_by", "end_reason")),
        "ciphertexts": list(Export.objects.order_by("pk").values_list("ciphertext", flat=True)),
        "entries": sorted(
            (subjects[e.chain], e.sequence, e.kind, e.actor, json.dumps({**e.facts, **_UNLIKE}, sort_keys=True))
            for e in entries
        ),
        "receipts": [
            [{k: v for k, v in claims(jws).items() if k not in _OF_THE_MOMENT} for jws in (r.jws, r.app_jws)]
            for r in receipts
        ],
        "notices": [(n.app_id, n.sequence, n.kind, n.request_id, {**n.facts, "receipt_id": ""}) for n in notices],
        "deliveries": list(WebhookDelivery.objects.order_by("pk").values_list("endpoint_id", "notice__sequence")),
        "counters": list(NoticeCounter.objects.order_by("app_id").values_list("app_id", "sequence")),
    }


def test_a_batch_writes_down_what_one_by_one_does(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    apps = [AppFactory(), AppFactory()]
    WebhookEndpointFactory(app=apps[0])
    overdue(5, apps)
    records = []

    for is_alone in (True, False):
        with transaction.atomic(), monkeypatch.context() as patched:
            if is_alone:
                patched.setattr(expiry._Run, "_end", not_together)
            assert expiry.write_down_expiry() == 10
            records.append(written())
            assert list(verifying.verify()) == []
            transaction.set_rollback(True)

    assert records[0] == records[1]
    assert len(records[1]["receipts"]) == 10
    assert len(records[1]["deliveries"]) == 6  # the first app's three requests and three grants
    assert records[1]["ciphertexts"] == [None] * 5


def not_together(*_: Any) -> int:
    raise RuntimeError("not together")


def test_each_copy_of_a_receipt_names_the_entry_of_its_own_chain_and_the_notice_the_receipt(db: None) -> None:
    overdue(3, [AppFactory()])

    expiry.write_down_expiry()

    subjects = dict(AuditChain.objects.values_list("chain", "subject"))
    for receipt in Receipt.objects.select_related("request__user", "request__app"):
        request = receipt.request
        whose = [audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id)]
        for subject, jws in zip(whose, (receipt.jws, receipt.app_jws), strict=True):
            where = claims(jws)["audit"]
            assert (sorted(where), subjects[where["chain"]]) == (["chain", "entry_hash", "sequence"], subject)
            entry = AuditEntry.objects.get(chain=where["chain"], sequence=where["sequence"])
            assert (entry.entry_hash, entry.facts["receipt_id"]) == (where["entry_hash"], receipt.receipt_id)
        assert Notice.objects.get(request=receipt.request_id).facts["receipt_id"] == receipt.receipt_id
    assert list(Notice.objects.order_by("sequence").values_list("sequence", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_what_a_batch_writes_down_holds_against_its_rows(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    make_world()
    later = database_now() + timedelta(days=400)
    monkeypatch.setattr(expiry, "database_now", lambda: later)

    assert expiry.write_down_expiry() == 4  # three grants and a request of its

    assert not AuditPending.objects.exists()
    assert [found for page in run(Position()) for found in page] == []


@pytest.mark.parametrize("count", [4, 40])
def test_a_batch_takes_as_many_statements_whatever_its_size(db: None, count: int) -> None:
    overdue(count, [AppFactory(), AppFactory()])

    with CaptureQueriesContext(connection) as ran:
        assert expiry.write_down_expiry() == 2 * count

    assert len(ran) == (53 if connection.vendor == "postgresql" else 46)


def test_nothing_to_do_is_a_look_at_an_index_of_each(db: None) -> None:
    ConsentRequestFactory()

    with CaptureQueriesContext(connection) as ran:
        assert expiry.write_down_expiry() == 0

    assert len(ran) == 2 + ASKS_CLOCK  # requests, grants


def test_it_goes_on_until_nothing_is_left_or_its_time_is_over(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "BATCH", 2)
    overdue(5, [AppFactory()])

    assert expiry.write_down_expiry(most_seconds=0) == 4  # a batch of each
    assert expiry.write_down_expiry() == 6
    assert list(verifying.verify()) == []


def test_one_that_cannot_be_written_down_holds_no_other_back(db: None) -> None:
    requests, _ = overdue(3, [AppFactory()])
    poisoned = ConsentRequestFactory(created_at=database_now() - timedelta(days=9))
    refuse_rows("consent_requests", "UPDATE", f"OLD.id = {poisoned.pk}")

    assert expiry.write_down_expiry() == 6
    assert expiry.write_down_expiry() == 0

    poisoned.refresh_from_db()
    assert poisoned.status == "pending"
    assert {r.status for r in ConsentRequest.objects.filter(pk__in=[r.pk for r in requests])} == {"expired"}
    assert list(verifying.verify()) == []


def test_with_the_audit_away_everything_ends_and_waits_to_be_told(db: None) -> None:
    overdue(3, [AppFactory()])

    with audit_away():
        assert expiry.write_down_expiry() == 6

    assert not Export.objects.exclude(ciphertext=None).exists()
    assert AuditPending.objects.count() == 12
    assert write_pending_entries() == 12
    assert Receipt.objects.count() == 6
    assert list(verifying.verify()) == []


def test_what_waits_for_a_chain_is_written_before_what_a_batch_appends(db: None) -> None:
    [request], [_] = overdue(1, [AppFactory()])
    other = ConsentRequestFactory(app=request.app, user=request.user)
    with audit_away():
        decision_actions.deny(request_id=other.request_id, by=other.user)

    expiry.write_down_expiry()

    chain = AuditEntry.objects.of(audit.person_chain(request.user.public_id)).order_by("sequence")
    assert list(chain.values_list("kind", flat=True)) == ["denied", "expired", "expired"]
    assert list(verifying.verify()) == []


# --- Reads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("people", [2, 20])
def test_reads_are_chained_in_as_many_statements_whoever_was_read(db: None, people: int) -> None:
    grants = read_often(people, 2)
    audit.name_chains(audit.person_chain(grant.user.public_id) for grant in grants)
    audit.name_chains([audit.app_chain(grants[0].app.app_id)])

    with CaptureQueriesContext(connection) as ran:
        assert chain_pending_reads() == 2 * people

    assert len(ran) == (13 if connection.vendor == "postgresql" else 11)
    assert AuditEntry.objects.filter(kind="reads").count() == people + 1
    assert list(verifying.verify()) == []


def test_a_person_whose_chain_cannot_be_written_holds_up_nobody_elses_reads(db: None) -> None:
    first, *_ = grants = read_often(3, 2)
    chain = audit.person_chain(first.user.public_id)
    audit.defer(chain=chain, kind="denied", actor="person", at=database_now(), facts={})
    refuse_rows("consent_audit", "INSERT", "NEW.kind = 'denied'")

    assert chain_pending_reads() == 4

    assert set(Read.objects.filter(batch="").values_list("grant", flat=True)) == {first.pk}
    chain_reads_of(grants[1].user_id)
    with pytest.raises(AuditUnavailable):
        chain_reads_of(first.user_id)


# --- Mails ------------------------------------------------------------------------------------------------------------


def test_mails_go_out_until_none_is_due(db: None, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[Any]) -> None:
    monkeypatch.setattr("consent.mail.actions._BATCH", 2)
    for _ in range(5):
        ConsentRequestFactory()

    assert (send_mails(), send_mails()) == (5, 0)
    assert len(mailoutbox) == 5
    assert not ConsentRequest.objects.filter(mail_waits=True).exists()


def test_no_mail_due_is_a_look_at_an_index(db: None) -> None:
    ConsentRequestFactory()
    send_mails()

    with CaptureQueriesContext(connection) as ran:
        assert send_due_mails() == 0

    # what is late or due, the requests, the grants, what apps did, what nobody uses, and what other rooms gather
    assert len(ran) == 11 + 7 * ASKS_CLOCK


def test_rows_with_nothing_to_do_are_no_failures(db: None) -> None:
    def work(row: int) -> int:
        if row:
            raise ValueError(row)
        return 0

    assert one_by_one([0, 1, 2], work, what="these rows", most_seconds=60, most_failures=2) == 0
    with pytest.raises(ValueError, match="2"):
        one_by_one([1, 2, 0], work, what="these rows", most_seconds=60, most_failures=2)
