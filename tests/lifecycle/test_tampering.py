"""Any audit row edited, deleted, reordered or cut off: `verify_audit` finds it, each of a hundred times.

TAMPER_SEED draws other ones, TAMPER_ROUNDS more, as many of each kind. What was written after the newest checkpoint can
be forged by whoever owns the database until the next one is signed; so here the newest one has seen everything.
"""

import os
import random
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from consent.decisions import actions as decision_actions
from consent.exports.read_batches import chain_pending_reads
from consent.ledger import audit, verifying
from consent.ledger.models import AuditChain, AuditHead
from consent.log.sequencing import sequence_and_sign
from consent.rules import RULES
from tests.chains import verify_log
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory, PersonFactory, ReadFactory
from tests.lifecycle import forgeries
from tests.undone import undone

ROUNDS_OF_EACH = -(-int(os.environ.get("TAMPER_ROUNDS", "100")) // len(forgeries.KINDS))
SEED = int(os.environ.get("TAMPER_SEED", "20261120"))


@pytest.fixture(scope="module")
def history(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[str]]:
    """The names of the chains of three people and two apps, with decisions and reads, under three checkpoints."""
    with undone(django_db_blocker):
        yield _chains()


def _chains() -> list[str]:
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
            assert chain_pending_reads() == 2
            assert sequence_and_sign()
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    # in the order in which they were made, so that a seed means the same ones each time
    whom = [audit.person_chain(each.public_id) for each in people] + [audit.app_chain(each.app_id) for each in apps]
    named = dict(AuditChain.objects.values_list("subject", "chain"))
    return [named[subject] for subject in whom]


@pytest.mark.parametrize("half", [1, 2])
@pytest.mark.parametrize("tamper", forgeries.KINDS, ids=lambda each: each.__name__)
def test_whatever_is_done_to_the_chains_is_found(
    tamper: forgeries.Tamper, half: int, history: list[str], django_db_blocker: Any
) -> None:
    print(f"TAMPER_SEED={SEED}")  # noqa: T201  # shown where the test fails, and with -s
    dice = random.Random(f"{SEED} {tamper.__name__} {half}")
    missed = []
    for turn in range(half, ROUNDS_OF_EACH + 1, 2):
        chain = dice.choice(history)
        with undone(django_db_blocker):
            names = tamper(dice, chain) or forgeries.names_of(chain)
            found = complaints()
        if not any(line.split(" entry ")[0] in names for line in found):
            missed.append((turn, chain, found))

    assert missed == []


def test_what_was_undone_holds(history: list[str], django_db_blocker: Any) -> None:
    with undone(django_db_blocker):
        assert sorted(history) == [head.chain for head in AuditHead.objects.order_by("chain")]
        assert [*verifying.verify(), *verify_log()] == []


def complaints() -> list[str]:
    """What `verify_audit` says of the chains that do not hold; it fails where it says anything."""
    output = StringIO()
    try:
        call_command("verify_audit", stdout=StringIO(), stderr=output)
    except CommandError:
        assert output.getvalue()
    else:
        assert not output.getvalue()
    return output.getvalue().splitlines()
