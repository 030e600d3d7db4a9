"""What the worker does in batches: the same as one by one, in few statements, and no row holds another back."""

import base64
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from common.clock import database_now
from consent.decisions import actions as decision_actions
from consent.decisions import expiry
from consent.errors import AuditUnavailable, MoveNotAllowed
from consent.exports.models import Export, Read
from consent.exports.read_batches import chain_reads_of, chain_waiting_reads
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditChain, AuditEntry, AuditPending, Receipt
from consent.ledger.pending import write_pending_entries
from consent.mail.actions import send_due_mails
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.broken_audit import audit_away, refuse_rows
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    PersonFactory,
    TokenFactory,
    WebhookEndpointFactory,
)

ASKS_CLOCK = connection.vendor == "postgresql"  # SQLite's clock is this process's
raced = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="rows are raced for on PostgreSQL"),
]


def overdue(count: int, apps: list[App], **fields: Any) -> tuple[list[ConsentRequest], list[Grant]]:
    """So many requests that nobody decided and as many grants, of few people and these apps, all over by now."""
    long_ago = database_now() - timedelta(days=3)
    people = [PersonFactory() for _ in range(min(count, 3))]
    requests, grants = [], []
    for number in range(count):
        own = {"app": apps[number % len(apps)], "user": people[number % len(people)]}
        at = long_ago + timedelta(seconds=number)
        requests.append(ConsentRequestFactory(created_at=at, **own, **fields))
        asked = ConsentRequestFactory(created_at=at, status="approved", **own)
        grants.append(ExportFactory(grant__request=asked, grant__scope=f"{asked.scope}{number}", grant__reads=2).grant)
    return requests, grants


def claims(jws: str) -> dict[str, Any]:
    payload = jws.split(".")[1]
    told: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return told


_OF_THE_MOMENT = ("receipt_id", "iat", "audit")


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
            (subjects[e.chain], e.sequence, e.kind, e.actor, json.dumps({**e.facts, "receipt_id": ""}, sort_keys=True))
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
    told = []

    for is_alone in (True, False):
        with transaction.atomic(), monkeypatch.context() as patched:
            if is_alone:
                patched.setattr(expiry._Run, "_end", not_together)
            assert expiry.write_down_expiry() == 10
            told.append(written())
            assert list(verifying.verify()) == []
            transaction.set_rollback(True)

    assert told[0] == told[1]
    assert len(told[1]["receipts"]) == 10
    assert len(told[1]["deliveries"]) == 6  # the first app's three requests and three grants
    assert told[1]["ciphertexts"] == [None] * 5


def not_together(*_: Any) -> int:
    raise RuntimeError("not together")


def test_a_receipt_names_its_entry_and_the_notice_its_receipt(db: None) -> None:
    overdue(3, [AppFactory()])

    expiry.write_down_expiry()

    for receipt in Receipt.objects.all():
        where = claims(receipt.jws)["audit"]
        entry = AuditEntry.objects.get(chain=where["chain"], sequence=where["sequence"])
        assert (entry.entry_hash, entry.facts["receipt_id"]) == (where["entry_hash"], receipt.receipt_id)
        assert Notice.objects.get(request=receipt.request_id).facts["receipt_id"] == receipt.receipt_id
    assert list(Notice.objects.order_by("sequence").values_list("sequence", flat=True)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("count", [4, 40])
def test_a_batch_takes_as_many_statements_whatever_its_size(db: None, count: int) -> None:
    overdue(count, [AppFactory(), AppFactory()])

    with CaptureQueriesContext(connection) as ran:
        assert expiry.write_down_expiry() == 2 * count

    assert len(ran) == (52 if connection.vendor == "postgresql" else 45)


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


def read_often(people: int, reads: int) -> list[Grant]:
    app = AppFactory()
    token = TokenFactory(app=app)
    exports = [ExportFactory(grant__request__app=app) for _ in range(people)]
    for export in exports:
        Read.objects.bulk_create(
            Read(grant=export.grant, export=export, token=token, at=database_now()) for _ in range(reads)
        )
    return [export.grant for export in exports]


@pytest.mark.parametrize("people", [2, 20])
def test_reads_are_chained_in_as_many_statements_whoever_was_read(db: None, people: int) -> None:
    grants = read_often(people, 2)
    audit.name_chains(audit.person_chain(grant.user.public_id) for grant in grants)
    audit.name_chains([audit.app_chain(grants[0].app.app_id)])

    with CaptureQueriesContext(connection) as ran:
        assert chain_waiting_reads() == 2 * people

    assert len(ran) == (12 if connection.vendor == "postgresql" else 10)
    assert AuditEntry.objects.filter(kind="reads").count() == people + 1
    assert list(verifying.verify()) == []


def test_a_person_whose_chain_cannot_be_written_holds_up_nobody_elses_reads(db: None) -> None:
    first, *_ = grants = read_often(3, 2)
    chain = audit.person_chain(first.user.public_id)
    audit.hold(chain=chain, kind="denied", actor="person", at=database_now(), facts={})
    refuse_rows("consent_audit", "INSERT", "NEW.kind = 'denied'")

    assert chain_waiting_reads() == 4

    assert set(Read.objects.filter(batch="").values_list("grant", flat=True)) == {first.pk}
    chain_reads_of(grants[1].user_id)
    with pytest.raises(AuditUnavailable):
        chain_reads_of(first.user_id)


# --- Mails ------------------------------------------------------------------------------------------------------------


def test_mails_go_out_until_none_is_due(db: None, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[Any]) -> None:
    monkeypatch.setattr("consent.mail.actions._BATCH", 2)
    for _ in range(5):
        ConsentRequestFactory()

    assert (send_due_mails(), send_due_mails()) == (5, 0)
    assert len(mailoutbox) == 5
    assert not ConsentRequest.objects.filter(mail_waits=True).exists()


def test_no_mail_due_is_a_look_at_an_index(db: None) -> None:
    ConsentRequestFactory()
    send_due_mails()

    with CaptureQueriesContext(connection) as ran:
        assert send_due_mails() == 0

    assert len(ran) == 2 + 2 * ASKS_CLOCK  # the people, of each kind


# --- Races ------------------------------------------------------------------------------------------------------------


class TestRaces:
    pytestmark = raced

    def test_two_workers_end_everything_once(self) -> None:
        overdue(30, [AppFactory(), AppFactory()])
        patched = pytest.MonkeyPatch()
        patched.setattr(expiry, "BATCH", 5)

        try:
            assert sum(at_once([expiry.write_down_expiry] * 3)) == 60
        finally:
            patched.undo()

        assert Receipt.objects.count() == Notice.objects.count() == 60
        for app in App.objects.all():
            numbers = list(Notice.objects.filter(app=app).order_by("sequence").values_list("sequence", flat=True))
            assert numbers == list(range(1, len(numbers) + 1))
        assert list(verifying.verify()) == []

    def test_a_row_that_somebody_holds_is_left_to_the_next_round(self) -> None:
        requests, grants = overdue(3, [AppFactory()])
        held, released = threading.Event(), threading.Event()

        def hold() -> int:
            with transaction.atomic():
                Grant.objects.select_for_update().get(pk=grants[0].pk)
                ConsentRequest.objects.select_for_update().get(pk=requests[0].pk)
                held.set()
                released.wait(20)
            return 0

        with ThreadPoolExecutor(1) as pool:
            holding = pool.submit(on_own_connection(hold))
            assert held.wait(20)
            assert expiry.write_down_expiry() == 4
            released.set()
            holding.result()
        assert expiry.write_down_expiry() == 2
        assert list(verifying.verify()) == []

    def test_whoever_stops_while_a_batch_runs_stops_once(self) -> None:
        """Grants that end within the race: each is revoked by its person or expires, never both."""
        grants = [ExportFactory().grant for _ in range(20)]
        ends = database_now() + timedelta(seconds=0.3)
        Grant.objects.update(expires_at=ends)

        def revoke_all() -> int:
            stopped = 0
            for grant in grants:
                try:
                    grant_actions.revoke(grant_id=grant.grant_id, by=grant.user)
                    stopped += 1
                except MoveNotAllowed:
                    pass
            return stopped

        def expire() -> int:
            ended = 0
            while database_now() < ends + timedelta(seconds=0.3):
                ended += expiry.write_down_expiry()
            return ended

        stopped, one, two = at_once([revoke_all, expire, expire])
        ended = one + two + expiry.write_down_expiry()

        assert stopped + ended == 20
        assert Receipt.objects.count() == Notice.objects.count() == 20
        assert list(verifying.verify()) == []

    def test_two_workers_chain_each_read_once(self) -> None:
        read_often(8, 5)

        assert sum(at_once([chain_waiting_reads] * 2)) == 40
        assert list(verifying.verify()) == []


def on_own_connection(call: Callable[[], int]) -> Callable[[], int]:
    def run() -> int:
        try:
            return call()
        finally:
            connections.close_all()

    return run


def at_once(calls: list[Callable[[], int]]) -> list[int]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(on_own_connection(call)) for call in calls]]
