"""Any audit row edited, deleted, reordered or cut off: `verify_audit` finds it, a hundred of a hundred.

TAMPER_SEED draws other ones, TAMPER_ROUNDS more. What was written after the newest checkpoint can be forged by
whoever owns the database until the next one is signed; so here the newest one has seen everything.
"""

import os
import random
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from common.sql.triggers import install_rules
from consent.decisions import actions as decision_actions
from consent.exports.read_batches import chain_waiting_reads
from consent.ledger import verifying
from consent.ledger.models import AuditEntry, AuditHead
from consent.log.sequencing import sequence_and_sign
from consent.log.verifying import verify_log
from consent.rules import RULES
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory, PersonFactory, ReadFactory
from tests.lifecycle import forgeries

ROUNDS = int(os.environ.get("TAMPER_ROUNDS", "100"))
SEED = int(os.environ.get("TAMPER_SEED", "20261120"))


@pytest.fixture
def history(db: None) -> Iterator[list[str]]:
    """The names of the chains of three people and two apps, with decisions and reads, under three checkpoints."""
    apps, people = AppFactory.create_batch(2), PersonFactory.create_batch(3)
    for turn in range(12):
        person, app = people[turn % 3], apps[turn % 2]
        request = ConsentRequestFactory(app=app, user=person)
        if turn % 4:
            decision_actions.deny(request_id=request.request_id, by=person)
        else:
            decision_actions.end_consent(app_pk=app.pk, request_id=request.request_id)
        if turn % 4 == 3:
            export = ExportFactory(grant__request__app=app, grant__request__user=person)
            ReadFactory.create_batch(2, export=export)
            assert chain_waiting_reads() == 2
            assert sequence_and_sign()
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    # in the order in which they were made, so that a seed means the same ones each time
    yield list(dict.fromkeys(AuditEntry.objects.order_by("pk").values_list("chain", flat=True)))
    install_rules(connection, RULES)


def test_whatever_is_done_to_the_chains_is_found(history: list[str]) -> None:
    print(f"TAMPER_SEED={SEED}")  # noqa: T201  # shown where the test fails, and with -s
    dice = random.Random(SEED)
    missed = []
    for turn in range(ROUNDS):
        tamper, chain = forgeries.KINDS[turn % len(forgeries.KINDS)], dice.choice(history)
        with transaction.atomic():
            names = tamper(dice, chain)
            told = complaints()
            transaction.set_rollback(True)
        if not any(line.split(" entry ")[0] in names for line in told):
            missed.append((turn, tamper.__name__, chain, told))

    assert sorted(history) == [head.chain for head in AuditHead.objects.order_by("chain")]
    assert missed == []
    assert [*verifying.verify(), *verify_log()] == []


def complaints() -> list[str]:
    """What `verify_audit` says of the chains that do not hold; it fails where it says anything."""
    told = StringIO()
    try:
        call_command("verify_audit", stdout=StringIO(), stderr=told)
    except CommandError:
        assert told.getvalue()
    else:
        assert not told.getvalue()
    return told.getvalue().splitlines()
