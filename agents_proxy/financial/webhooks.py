"""What the aggregator tells by itself, signed as Plaid signs its webhooks.

The header `Plaid-Verification` is a JWT under ES256 over the SHA-256 of the body. Whoever calls is a stranger until
that fits, so before then nothing costs more than the hash of a bounded body, and looking up a key that nobody knows is
limited. What is told is a hint alone: a lost one is made up for by the refresh of the next day.
"""

import hashlib
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from django.db import transaction
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from agents_proxy.errors import ReportNotSigned
from agents_proxy.financial import client
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.errors import AggregatorRefused, ItemRevoked
from agents_proxy.financial.models import Item
from agents_proxy.financial.refreshes import start_refresh
from agents_proxy.financial.shapes import Webhook
from agents_proxy.states import ItemStatus
from common import limits
from common.clock import database_now
from common.json_bodies import strict_json
from common.limits import Limit
from common.problems import InvalidRequest, TooManyRequests

HEADER = "Plaid-Verification"
OLDEST = 300  # seconds
KEY_CHECK_INTERVAL = 3600.0  # seconds until it is looked up whether it has expired
LONGEST_SIGNATURE = 4096
UNKNOWN_KEYS = Limit("unknown-webhook-keys", 60, 600)  # look-ups, of all callers
UNKNOWN_KEYS_OF_ONE = Limit("unknown-webhook-keys-of-one", 6, 600)  # and of one network
ONCE = Limit("webhook-once", 1, 2 * OLDEST, in_database=True)
_KEYS = 64
_keys: OrderedDict[str, tuple[ECKey, float]] = OrderedDict()  # by ID, and when each was looked up


def require_signature(body: bytes, signature: str, *, network: str) -> str:
    """The name of this message, the same whenever it comes again. Raises `ReportNotSigned`, `TooManyRequests`, and
    `AggregatorProblem` where the key cannot be looked up."""
    if len(signature) > LONGEST_SIGNATURE:
        raise ReportNotSigned()
    try:
        token = jws.extract_compact(signature.encode("ascii"))
        header, claims = token.headers(), strict_json(token.payload)
    except (JoseError, InvalidRequest, ValueError):
        raise ReportNotSigned() from None
    key_id = header.get("kid")
    if header.get("alg") != "ES256" or not (isinstance(key_id, str) and re.fullmatch(r"[!-~]{1,128}", key_id)):
        raise ReportNotSigned()
    if not _fits(claims, body):
        raise ReportNotSigned()
    try:
        jws.deserialize_compact(signature, _key(key_id, network), algorithms=["ES256"])
    except (JoseError, ValueError):
        raise ReportNotSigned() from None
    # without the signature itself, of which a stranger can make a second one out of the first
    return hashlib.sha256(signature.rpartition(".")[0].encode()).hexdigest()


def _fits(claims: Any, body: bytes) -> bool:
    """Whether these are the claims of this body, made a moment ago."""
    if not isinstance(claims, dict):
        return False
    at, digest = claims.get("iat"), claims.get("request_body_sha256")
    if not isinstance(at, int) or not isinstance(digest, str) or not digest.isascii():
        return False
    return abs(int(time.time()) - at) <= OLDEST and hmac.compare_digest(
        digest.lower(), hashlib.sha256(body).hexdigest()
    )


def _key(key_id: str, network: str) -> ECKey:
    known = _keys.get(key_id)
    if known is not None and time.monotonic() - known[1] < KEY_CHECK_INTERVAL:
        return known[0]
    if known is None:  # one that was good stays within reach however many strangers make up others
        limits.count(UNKNOWN_KEYS_OF_ONE, network).require(TooManyRequests)
        limits.count(UNKNOWN_KEYS, "").require(TooManyRequests)
    _keys.pop(key_id, None)
    try:
        found = client.verification_key(key_id).key
    except AggregatorRefused:
        raise ReportNotSigned() from None
    if found.expired_at is not None:
        raise ReportNotSigned()
    key = ECKey.import_key({"kty": found.kty, "crv": found.crv, "x": found.x, "y": found.y})
    _keys[key_id] = key, time.monotonic()
    while len(_keys) > _KEYS:
        _keys.popitem(last=False)
    return key


def take_webhook(webhook: Webhook, *, name: str) -> None:
    """Do what a signed message means for the item that it names; one that comes again, or is of no use here, is
    nothing."""
    act = _ACTS.get((webhook.webhook_type, webhook.webhook_code))
    with transaction.atomic():
        is_new = not limits.count(ONCE, name).exceeded
        items = Item.objects.select_for_update(of=("self",)).select_related("user")
        item = items.filter(upstream_id=webhook.item_id).exclude(status=ItemStatus.REMOVED).first()
        if act is not None and item is not None and is_new:
            act(item, webhook)


def _there_is_more(item: Item, webhook: Webhook) -> None:
    Item.objects.filter(pk=item.pk).update(changed_at=database_now())  # a refresh under way may have read past it
    start_refresh(item)


def _failed(item: Item, webhook: Webhook) -> None:
    if webhook.error is not None:
        linked_items.note_problem(item.pk, client.problem_named(webhook.error.error_code, webhook.error.error_type))


def _revoked(item: Item, webhook: Webhook) -> None:
    linked_items.note_problem(item.pk, ItemRevoked)


def _account_revoked(item: Item, webhook: Webhook) -> None:
    """Whose purchases were whose is not kept: all go, and those of the other accounts come anew."""
    linked_items.forget_purchases(item.pk)
    _there_is_more(item, webhook)


def _ends(item: Item, webhook: Webhook) -> None:
    ends_at = webhook.consent_expiration_time or webhook.disconnect_time
    if ends_at is not None and ends_at != item.ends_at:
        item.ends_at = ends_at
        item.save(update_fields=["ends_at"])
        linked_items.mail_person(item, "ends")


def _repaired(item: Item, webhook: Webhook) -> None:
    Item.objects.filter(pk=item.pk).update(status=ItemStatus.ACTIVE, ends_at=None)
    _there_is_more(item, webhook)


_ACTS: dict[tuple[str, str], Callable[[Item, Webhook], None]] = {
    ("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE"): _there_is_more,
    ("ITEM", "ERROR"): _failed,
    ("ITEM", "PENDING_EXPIRATION"): _ends,
    ("ITEM", "PENDING_DISCONNECT"): _ends,
    ("ITEM", "USER_PERMISSION_REVOKED"): _revoked,
    ("ITEM", "USER_ACCOUNT_REVOKED"): _account_revoked,
    ("ITEM", "LOGIN_REPAIRED"): _repaired,
}
