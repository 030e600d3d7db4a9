"""Webhooks as the service sends them: the Standard Webhooks scheme, verified before anything is read."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from consent_bridge.encoding import parse_object
from consent_bridge.errors import BadAnswer, KeyRefused, Refused
from consent_bridge.results import ConnectionNotice, Processing, Status, build
from consent_bridge.streams import OF_CONNECTIONS

TOLERANCE = 300.0
OF_REQUESTS = ("consent.", "export.")  # how the types begin whose data is a status; the others are of processing
_PREFIX = "whsec_"
_VERSION = "v1"
_MAX_BODY_BYTES = 256 * 1024
_MAX_SIGNATURES = 16


@dataclass(frozen=True)
class Webhook:
    """One notice. `status` is the request as it was at that moment; its `sequence` puts notices in order.

    What is told of processing by agents has `processing` in its place, of a connection `connection`; the same is true.

    `webhook_id` stays the same when a delivery is repeated: keep those that you dealt with.
    """

    webhook_id: str
    type: str
    timestamp: str
    status: Status | None
    processing: Processing | None = None
    connection: ConnectionNotice | None = None


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE,
    clock: Callable[[], float] = time.time,
) -> Webhook:
    """The notice in a request's exact body, if it was signed with the endpoint's `secret` (whsec_…) and is not old.

    `headers` are the request's, names in any case. Refused otherwise: answer 400 then and do nothing.
    """
    raw = body.encode("utf-8") if isinstance(body, str) else bytes(body)
    if len(raw) > _MAX_BODY_BYTES:
        raise Refused(f"the webhook is larger than {_MAX_BODY_BYTES} bytes")
    named = {name.lower(): value for name, value in headers.items()}
    webhook_id, sent_at, signatures = (_header(named, name) for name in ("id", "timestamp", "signature"))
    _check_time(sent_at, clock(), tolerance)
    expected = _digest(raw, webhook_id, sent_at, secret)
    if not any(hmac.compare_digest(expected, given) for given in _given(signatures)):
        raise Refused("the webhook's signature does not hold", member="webhook-signature")
    return _read(webhook_id, raw)


def sign(body: bytes, webhook_id: str, sent_at: int, secret: str) -> dict[str, str]:
    """The headers that `verify` looks at, for a body that is sent at this second since 1970. Errors: KeyRefused."""
    signature = base64.b64encode(_digest(body, webhook_id, str(sent_at), secret)).decode()
    named = {"id": webhook_id, "timestamp": str(sent_at), "signature": f"{_VERSION},{signature}"}
    return {f"webhook-{name}": value for name, value in named.items()}


def _digest(body: bytes, webhook_id: str, sent_at: str, secret: str) -> bytes:
    return hmac.digest(_key(secret), b".".join((webhook_id.encode(), sent_at.encode(), body)), hashlib.sha256)


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise Refused(f"the webhook has no header webhook-{name}", member=f"webhook-{name}")
    if not isinstance(value, str) or not value.isascii():
        raise Refused(f"the webhook's header webhook-{name} is not one text in ASCII", member=f"webhook-{name}")
    return value


def _check_time(sent_at: str, now: float, tolerance: float) -> None:
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) <= 12):
        raise Refused("the webhook's time is no count of seconds", member="webhook-timestamp")
    if abs(now - int(sent_at)) > tolerance:
        age = "old" if int(sent_at) < now else "far ahead of this clock"
        raise Refused(f"the webhook is too {age}", member="webhook-timestamp")


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise KeyRefused("the endpoint's secret is not whsec_ and base64") from error
    if not key:
        raise KeyRefused("the endpoint's secret is empty")
    return key


def _given(signatures: str) -> list[bytes]:
    """The signatures of our version; while a secret is changed there is one of each."""
    given = []
    for entry in signatures.split(" ")[:_MAX_SIGNATURES]:
        version, _, text = entry.partition(",")
        if version == _VERSION:
            try:
                given.append(base64.b64decode(text, validate=True))
            except (binascii.Error, ValueError):
                continue
    return given


def _read(webhook_id: str, raw: bytes) -> Webhook:
    content = parse_object(raw, "the webhook")
    kind, timestamp = content.get("type"), content.get("timestamp")
    if not isinstance(kind, str) or not isinstance(timestamp, str):
        raise BadAnswer("the webhook has no type or no timestamp")
    data, where = content.get("data"), "the webhook's data"
    if kind.startswith(OF_REQUESTS):
        return Webhook(webhook_id, kind, timestamp, build(Status, data, where))
    if kind.startswith(OF_CONNECTIONS):
        return Webhook(webhook_id, kind, timestamp, None, connection=build(ConnectionNotice, data, where))
    return Webhook(webhook_id, kind, timestamp, None, build(Processing, data, where))
