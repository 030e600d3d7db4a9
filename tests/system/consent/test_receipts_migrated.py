"""Receipts that were kept as two whole copies: they read the same once both share their claims, and on the way back."""

import pytest
from django.core.management import call_command
from django.db import connection

from common.sql.triggers import lifted
from consent.ledger import receipts
from consent.ledger.models import RECEIPT_TYPE, Receipt
from consent.rules import RULES
from tests.factories import ReceiptFactory

BEFORE, AFTER = "0018", "0019"


@pytest.mark.without_services
@pytest.mark.django_db(transaction=True)
def test_both_copies_are_byte_for_byte_what_was_signed_and_others_are_refused() -> None:
    made = [ReceiptFactory(), ReceiptFactory(request__purpose='Zwei "Maße", drei 🍜\\')]
    kept = [(each.receipt_id, each.jws, each.app_jws) for each in made]
    assert all(receipts.sign(receipts.verified(copy) or {}, RECEIPT_TYPE) == copy for _, *both in kept for copy in both)
    try:
        migrate(BEFORE)
        assert copies() == kept

        for own in (kept[0][1], kept[1][1] + "=", "no receipt"):  # the first says something else than the app's copy
            change(made[1].pk, own)
            with pytest.raises(ValueError, match=f"The receipt {made[1].receipt_id} is not one that this service"):
                migrate(AFTER)
            assert copies() == [kept[0], (kept[1][0], own, kept[1][2])]
        change(made[1].pk, kept[1][1])
    finally:
        migrate()

    assert [(each.receipt_id, each.jws, each.app_jws) for each in Receipt.objects.order_by("pk")] == kept
    assert all(receipts.verified(copy) for _, *both in kept for copy in both)


def migrate(*to: str) -> None:
    call_command("migrate", "consent", *to, verbosity=0)


def copies() -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT receipt_id, jws, app_jws FROM consent_receipts ORDER BY id")
        return list(cursor.fetchall())


def change(pk: int, own: str) -> None:
    rule = next(rule for rule in RULES if rule.trigger == "consent_receipts_no_update")
    with lifted(connection, [rule]), connection.cursor() as cursor:
        cursor.execute("UPDATE consent_receipts SET jws = %s WHERE id = %s", [own, pk])
