"""Whatever is done to a chain shows, and where it shows is named."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import QuerySet

from common.sql.triggers import install_rules
from consent.decisions import actions as decision_actions
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditFacts, AuditHead
from consent.ledger.verifying import verify
from consent.rules import RULES
from tests.factories import ConsentRequestFactory

CHAIN = "person:usr_test"
AT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


@pytest.fixture
def chain(db: None) -> Iterator[str]:
    """Five entries, with the triggers that protect them lifted for a tamperer."""
    for number in range(5):
        audit.append(chain=CHAIN, kind="approved", actor="person", at=AT, facts={"number": number})
    audit.append(chain="app:app_test", kind="approved", actor="person", at=AT, facts={})
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.table in ("consent_audit", "audit_facts") and rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    yield CHAIN
    install_rules(connection, RULES)


def edit_facts() -> None:
    AuditFacts.objects.filter(entry__in=AuditEntry.objects.of(CHAIN).filter(sequence=3)).update(facts={"number": 99})


def edit_time() -> None:
    AuditEntry.objects.of(CHAIN).filter(sequence=3).update(at=datetime(2026, 11, 20, 10, 0, 1, tzinfo=UTC))


def delete_one() -> None:
    _delete(AuditEntry.objects.of(CHAIN).filter(sequence=3))


def delete_facts() -> None:
    AuditFacts.objects.filter(entry__in=AuditEntry.objects.of(CHAIN).filter(sequence=3)).delete()


def _delete(entries: QuerySet[AuditEntry]) -> None:
    """By the database's own means: the log's rows keep nobody out who has no triggers."""
    AuditFacts.objects.filter(entry__in=entries).delete()
    with connection.cursor() as cursor:
        for pk in entries.values_list("pk", flat=True):
            cursor.execute("DELETE FROM consent_audit WHERE id = %s", [pk])


def reorder() -> None:
    for old, new in ((3, 100), (4, 3), (100, 4)):
        AuditEntry.objects.of(CHAIN).filter(sequence=old).update(sequence=new)


def cut_off() -> None:
    _delete(AuditEntry.objects.of(CHAIN).filter(sequence__gte=3))


def rewrite_with_its_hash() -> None:
    entry = AuditEntry.objects.of(CHAIN).filter(sequence=3).values().get()
    told = {name: entry[name] for name in ("chain", "sequence", "prev_hash", "kind", "actor", "at")}
    salt, facts = b"0" * 32, {"number": 7}
    facts_hash = audit.facts_hash(facts, salt)
    AuditFacts.objects.filter(entry=entry["id"]).update(salt=salt, facts=facts)
    AuditEntry.objects.filter(pk=entry["id"]).update(
        facts_hash=facts_hash, entry_hash=audit.entry_hash(**told, facts_hash=facts_hash)
    )


def test_an_untouched_chain_holds(chain: str) -> None:
    assert list(verify()) == []


@pytest.mark.parametrize(
    ("tamper", "sequence"),
    [
        (edit_facts, 3),
        (delete_facts, 3),
        (edit_time, 3),
        (delete_one, 3),
        (reorder, 3),
        (cut_off, 3),
        (rewrite_with_its_hash, 4),
    ],
)
def test_the_first_broken_entry_is_named(chain: str, tamper: Callable[[], None], sequence: int) -> None:
    tamper()

    assert [(flaw.chain, flaw.sequence) for flaw in verify()] == [(CHAIN, sequence)]


def test_the_command_names_it_and_fails(chain: str) -> None:
    delete_one()
    told = StringIO()

    with pytest.raises(CommandError, match="1 of 2 chains"):
        call_command("verify_audit", stderr=told, stdout=StringIO())

    assert told.getvalue() == f"{CHAIN} entry 3: an entry is missing before it\n"


def test_a_chain_without_its_head_is_told(chain: str) -> None:
    AuditHead.objects.filter(chain=audit.chain_id(CHAIN)).delete()

    assert [flaw.reason for flaw in verify()] == ["the chain has no head"]


def test_verify_audit_of_one_chain(db: None) -> None:
    request = ConsentRequestFactory()
    decision_actions.deny(request_id=request.request_id, by=request.user)
    said = StringIO()
    call_command("verify_audit", chain=f"app:{request.app.app_id}", stdout=said)

    assert said.getvalue() == f"app:{request.app.app_id}, 1 entries: all hold.\n"
    with pytest.raises(CommandError, match="There is no chain person:nobody"):
        call_command("verify_audit", chain="person:nobody")
