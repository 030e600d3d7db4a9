"""Receipts, and what of the audit still waits, from the one who asks."""

from typing import Any

import orjson

from accounts.models import User
from common.jose import from_base64url
from consent.errors import UnknownReceipt
from consent.ledger import audit
from consent.ledger.models import AuditPending, Receipt
from consent.shapes import Receipt as ReceiptShape


def receipt_for_app(*, app_pk: int, receipt_id: str) -> ReceiptShape:
    """The app's copy of a receipt: {"receipt_id", "jws", "claims"}."""
    receipt = Receipt.objects.filter(receipt_id=receipt_id, request__app_id=app_pk, request__withheld=False).first()
    if receipt is None:
        raise UnknownReceipt()
    return _as_shape(receipt.receipt_id, receipt.app_jws)


def receipt_for_owner(*, user: User, receipt_id: str) -> ReceiptShape:
    """The person's own copy of a receipt."""
    receipt = Receipt.objects.filter(receipt_id=receipt_id, request__user=user).first()
    if receipt is None:
        raise UnknownReceipt()
    return _as_shape(receipt.receipt_id, receipt.jws)


def _as_shape(receipt_id: str, jws: str) -> ReceiptShape:
    payload = jws.split(".")[1]
    claims: Any = orjson.loads(from_base64url(payload))
    return {"receipt_id": receipt_id, "jws": jws, "claims": claims}


def entry_follows(*, user: User, request_id: str) -> bool:
    """Whether what happened to this request still waits to enter the person's history."""
    return AuditPending.objects.filter(request__user=user, request__request_id=request_id).exists()


def count_entries_that_follow(user: User) -> int:
    """How much still waits to enter this person's history."""
    return AuditPending.objects.filter(chain=audit.person_chain(user.public_id)).count()
