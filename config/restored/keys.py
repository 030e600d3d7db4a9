"""Whether the keys that are set here open and verify what the database holds: by its newest and its oldest rows."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet

from accounts.sign_in.second_factors import secrets_of
from common.encryption import DecryptionFailed, opened
from config.restored.lines import Line, fails, left_out, passes
from consent.connector_keys import registered
from consent.ledger import receipts
from consent.ledger.models import Receipt
from consent.requests import published_keys

_EACH_END = 5  # rows from the newest and as many from the oldest, which the oldest key may have sealed
# every column that common.encryption seals; tests/config/restored/test_verify_restore.py looks for one that is left out
SEALED_COLUMNS = (
    "accounts.AlertSettings.phrase", "accounts.OutgoingMail.sealed", "accounts.OutgoingPush.sealed",
    "accounts.PushSubscription.sealed", "accounts.Session.data", "accounts.SharingId.sealed", "accounts.UserPhoto.webp",
    "agents_proxy.Activation.body", "agents_proxy.Correction.value", "agents_proxy.Deletion.subject",
    "agents_proxy.Destination.secret",
    "agents_proxy.Item.access_token", "agents_proxy.Item.signals", "agents_proxy.LinkSession.link_token",
    "agents_proxy.PhoneNumber.number", "agents_proxy.Run.input", "agents_proxy.Run.profile", "agents_proxy.Step.fields",
    "agents_proxy.Step.reply", "agents_proxy.Step.reading", "agents_proxy.Step.conversation",
    "consent.ConnectorKey.token", "consent.PublishedKeys.token",
    "developers.WebhookEndpoint.previous_secret", "developers.WebhookEndpoint.secret",
    "pkm.KeyWrapper.jwe", "pkm.LegacyBlob.jwe", "pkm.RotationWrapper.jwe",
)  # fmt: skip
_PURPOSES = {"consent.ConnectorKey.token": registered.PURPOSE, "consent.PublishedKeys.token": published_keys.PURPOSE}


def check_sealed_columns() -> Iterator[Line]:
    """DATA_ENCRYPTION_KEYS open rows of every column that is encrypted at rest."""
    if not settings.DATA_ENCRYPTION_KEYS:
        yield left_out("encryption", "DATA_ENCRYPTION_KEYS is not set here: look where the server runs")
        return
    looked_at, failed = 0, False
    for name, samples in (*((name, _samples(name)) for name in SEALED_COLUMNS), ("mfa_authenticator.data", _secrets())):
        sealed = list(samples)
        unreadable = sum(not _opens(sealed_text, _PURPOSES.get(name, "")) for sealed_text in sealed)
        looked_at += len(sealed)
        if unreadable:
            failed = True
            text = f"{name}: {unreadable} of {len(sealed)} are under another key than DATA_ENCRYPTION_KEYS has"
            yield fails("encryption", text)
    if not failed:
        yield passes("encryption", f"{looked_at} samples of {len(SEALED_COLUMNS) + 1} columns open")


def _samples(name: str) -> Iterator[str]:
    label, model, column = name.split(".")
    rows: QuerySet[Any] = apps.get_model(label, model)._base_manager.exclude(**{f"{column}__isnull": True})
    yield from _ends(rows.exclude(**{column: ""}).values_list(column, flat=True))


def _secrets() -> Iterator[str]:
    for data in _ends(Authenticator.objects.values_list("data", flat=True)):
        yield from secrets_of(data)


def _ends(rows: QuerySet[Any, Any]) -> Iterator[Any]:
    """The newest rows and the oldest; those of a small table twice."""
    return chain(rows.order_by("-pk")[:_EACH_END], rows.order_by("pk")[:_EACH_END])


def _opens(sealed_text: str, purpose: str) -> bool:
    try:
        opened(sealed_text, purpose=purpose)
    except (DecryptionFailed, ValueError):  # the latter where a key is none
        return False
    return True


def check_receipts() -> Iterator[Line]:
    """A key of RECEIPT_KEYS signed the newest receipts and the oldest, the person's copy and the app's."""
    try:
        signs = bool(receipts.signing_keys())
    except (ValueError, KeyError, TypeError, ImproperlyConfigured) as error:
        yield fails("receipts", f"RECEIPT_KEYS is no list of keys: {error}")
        return
    if not signs:
        yield left_out("receipts", "RECEIPT_KEYS is not set here: look where the server runs")
        return
    found = {receipt.pk: receipt for receipt in _ends(Receipt.objects.all())}
    foreign = [each for each in found.values() if not (receipts.verified(each.jws) and receipts.verified(each.app_jws))]
    for receipt in foreign:
        yield fails("receipts", f"no key of RECEIPT_KEYS verifies {receipt.receipt_id}: put its key back into the list")
    if not foreign:
        yield passes("receipts", f"{len(found)} samples verify")
