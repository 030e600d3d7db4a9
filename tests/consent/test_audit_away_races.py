"""The audit away on PostgreSQL: a privilege that is missing, a chain that somebody holds, writers that meet or die."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.decisions.late_entries import verify_ends
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry, AuditPending, Receipt
from consent.ledger.pending import verify_pending, write_pending_entries
from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.consent.broken_audit import audit_away
from tests.consent.test_races import close_connections, fire
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory
from tests.patience import MOST_SECONDS

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),  # each thread has a connection of its own
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="rows are raced for on PostgreSQL"),
]
ROLE = "consent_without_audit"


@pytest.fixture
def without_the_privilege() -> Iterator[None]:
    """As a deployment's own role, from which INSERT on the audit was taken."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {ROLE}")
        cursor.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {ROLE}")
        cursor.execute(f"REVOKE INSERT ON consent_audit FROM {ROLE}")
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"RESET ROLE; DROP OWNED BY {ROLE}; DROP ROLE {ROLE}")


def test_without_the_privilege_nobody_reads_and_everybody_stops(
    api: Developer, person: User, without_the_privilege: None
) -> None:
    grants = [ExportFactory(grant__request__app=api.app, grant__request__user=person).grant,
              ExportFactory(grant__request__app=api.app).grant]  # fmt: skip
    audit.append(chain=f"person:{person.public_id}", kind="approved", actor="person", at=grants[0].starts_at, facts={})
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {ROLE}")

    answers = [api.get(f"/consent-export?request_id={grant.request.request_id}") for grant in grants]
    for grant in grants:
        grant_actions.revoke(grant_id=grant.grant_id, by=grant.user)

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(503, "temporarily_unavailable")}
    assert set(Grant.objects.values_list("status", flat=True)) == {"revoked"}
    assert AuditPending.objects.count() == 4
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
    assert write_pending_entries() == 4
    assert [*verifying.verify(), *verify_pending(), *verify_ends()] == []


def test_a_chain_that_somebody_holds_keeps_nobody_from_stopping(person: User) -> None:
    grant = ExportFactory(grant__request__user=person).grant
    chain = audit.person_chain(person.public_id)

    def stop() -> None:
        grant_actions.revoke(grant_id=grant.grant_id, by=person)
        connection.close()

    with transaction.atomic():
        audit.lock_heads([chain])
        stopping = threading.Thread(target=stop)
        stopping.start()
        stopping.join(MOST_SECONDS)
        assert not stopping.is_alive()
        assert Grant.objects.get().status == "revoked"
    assert write_pending_entries() == 2
    assert list(verifying.verify()) == []


def denied_while_away(count: int) -> list[ConsentRequest]:
    app = AppFactory()
    requests = [ConsentRequestFactory(app=app) for _ in range(count)]
    with audit_away():
        for request in requests:
            decision_actions.deny(request_id=request.request_id, by=request.user)
    return requests


def test_writers_that_meet_write_everything_once() -> None:
    with ThreadPoolExecutor(5) as pool:
        for _ in range(8):
            waiting = denied_while_away(4)
            app = waiting[0].app
            others = [ConsentRequestFactory(app=app, user=request.user) for request in waiting[:2]]
            fire(
                [
                    write_pending_entries,
                    write_pending_entries,
                    write_pending_entries,
                    *(
                        lambda r=request: decision_actions.deny(request_id=r.request_id, by=r.user)
                        for request in others
                    ),
                ],
                pool,
            )
            assert not AuditPending.objects.exists()
            entries = AuditEntry.objects.of(audit.app_chain(app.app_id)).order_by("sequence")
            ids = [entry.facts["request_id"] for entry in entries.select_related("kept")]
            assert sorted(ids) == sorted(request.request_id for request in [*waiting, *others])
            order = {request.request_id: number for number, request in enumerate(waiting)}
            assert [order[name] for name in ids if name in order] == sorted(order.values())
            assert Receipt.objects.filter(request__app=app).count() == len(ids)
        close_connections(pool, 5)
    assert [*verifying.verify(), *verify_pending(), *verify_ends()] == []


def test_a_writer_that_is_killed_leaves_what_waits() -> None:
    (request,) = denied_while_away(1)
    chain = audit.person_chain(request.user.public_id)
    written, killed = threading.Event(), threading.Event()

    def write() -> None:
        try:
            with transaction.atomic():
                audit.write_pending(chain, most=10)
                written.set()
                killed.wait(MOST_SECONDS)
                AuditPending.objects.count()  # the connection is no more
        except Exception:
            killed.set()
        finally:
            connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    assert written.wait(MOST_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid()"
        )
    killed.set()
    writer.join(MOST_SECONDS)

    assert AuditPending.objects.count() == 2
    assert not AuditEntry.objects.exists()
    assert write_pending_entries() == 2
    assert Receipt.objects.get().event == "denied"
    assert [*verifying.verify(), *verify_pending(), *verify_ends()] == []
