"""Webhooks: what the Standard Webhooks library signs is read, everything else is refused."""

import json
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook as Signer

from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.results import Processing, Status, build
from consent_bridge.webhooks import Webhook, verify
from tests.bridge.wire import APPROVED

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AT = 1795169100
BODY = json.dumps({"type": "consent.approved", "timestamp": "2026-11-20T10:05:00+00:00", "data": APPROVED}).encode()


def headers(body=BODY):
    signature = Signer(SECRET).sign("msg_1_1_41", datetime.fromtimestamp(AT, UTC), body.decode())
    return {"Webhook-Id": "msg_1_1_41", "Webhook-Timestamp": str(AT), "Webhook-Signature": signature}


def check(body=BODY, given=None):
    return verify(body, headers() if given is None else given, SECRET, clock=lambda: AT)


def test_signed_webhook_is_read():
    assert check() == Webhook("msg_1_1_41", "consent.approved", "2026-11-20T10:05:00+00:00", build(Status, APPROVED))
    assert check(BODY.decode()) == check()


def test_what_is_told_of_agents_is_no_status():
    data = {
        "consent_id": "pcn_1", "analysis_id": "ana_1", "activation_id": None, "deletion_id": None,
        "status": "completed", "sequence": 7,
    }  # fmt: skip
    body = json.dumps({"type": "analysis.completed", "timestamp": "2026-11-20T10:05:00Z", "data": data}).encode()
    found = verify(body, headers(body), SECRET, clock=lambda: AT)

    assert (found.type, found.status, found.processing) == ("analysis.completed", None, build(Processing, data))
    with pytest.raises(BadAnswer, match="no consent_id"):
        check(body.replace(b"consent_id", b"consent"), headers(body.replace(b"consent_id", b"consent")))


def test_large_body_is_refused_before_anything_else():
    with pytest.raises(Refused, match="larger than"):
        verify(b"x" * 300_000, {}, SECRET)
