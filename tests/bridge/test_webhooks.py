"""Webhooks: what the Standard Webhooks library signs is read, everything else is refused."""

import json
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook as Signer

from consent_bridge.errors import BadAnswer, KeyRefused, Refused
from consent_bridge.results import Processing, Status, build
from consent_bridge.webhooks import Webhook, verify
from tests.bridge.refusals import refused_for
from tests.bridge.wire import APPROVED

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
AT = 1795169100
BODY = json.dumps({"type": "consent.approved", "timestamp": "2026-11-20T10:05:00+00:00", "data": APPROVED}).encode()


def headers(body=BODY, *, secret=SECRET, at=AT, message="msg_1_1_41"):
    signature = Signer(secret).sign(message, datetime.fromtimestamp(at, UTC), body.decode())
    return {"Webhook-Id": message, "Webhook-Timestamp": str(at), "Webhook-Signature": signature}


def check(body=BODY, given=None, *, secret=SECRET, now=AT):
    return verify(body, headers() if given is None else given, secret, clock=lambda: now)


def test_signed_webhook_is_read():
    assert check() == Webhook("msg_1_1_41", "consent.approved", "2026-11-20T10:05:00+00:00", build(Status, APPROVED))
    assert check(BODY.decode()) == check()


def test_what_is_told_of_agents_is_no_status():
    told = {
        "consent_id": "pcn_1", "analysis_id": "ana_1", "activation_id": None, "deletion_id": None,
        "status": "completed", "sequence": 7,
    }  # fmt: skip
    body = json.dumps({"type": "analysis.completed", "timestamp": "2026-11-20T10:05:00Z", "data": told}).encode()
    found = verify(body, headers(body), SECRET, clock=lambda: AT)

    assert (found.type, found.status, found.processing) == ("analysis.completed", None, build(Processing, told))
    with pytest.raises(BadAnswer, match="no consent_id"):
        check(body.replace(b"consent_id", b"consent"), headers(body.replace(b"consent_id", b"consent")))


def test_header_names_may_come_in_any_case():
    assert check(given={name.lower(): value for name, value in headers().items()}) == check()
    assert check(given={name.upper(): value for name, value in headers().items()}) == check()


def test_one_of_several_signatures_is_enough():
    both = {**headers(), "Webhook-Signature": f"{headers(secret=OTHER_SECRET)['Webhook-Signature']} v1a,xx v1,!! "}
    both["Webhook-Signature"] += headers()["Webhook-Signature"]

    assert check(given=both).type == "consent.approved"


@pytest.mark.parametrize("now", [AT - 300, AT + 300])
def test_five_minutes_either_way_are_tolerated(now):
    assert check(now=now).webhook_id == "msg_1_1_41"


@pytest.mark.parametrize(("now", "reason"), [(AT + 301, "too old"), (AT - 301, "far ahead")])
def test_more_is_not(now, reason):
    with refused_for("webhook-timestamp", match=reason):
        check(now=now)


@pytest.mark.parametrize(
    "changed",
    [
        {"Webhook-Id": "msg_1_1_42"},
        {"Webhook-Timestamp": str(AT + 1)},
        {"Webhook-Signature": headers(secret=OTHER_SECRET)["Webhook-Signature"]},
        {"Webhook-Signature": headers()["Webhook-Signature"].replace("v1,", "v2,")},
        {"Webhook-Signature": "v1,"},
        {"Webhook-Signature": "é"},
    ],
)
def test_what_was_not_signed_is_refused(changed):
    with refused_for("webhook-signature"):
        check(given={**headers(), **changed})


def test_changed_body_is_refused():
    with pytest.raises(Refused, match="signature"):
        check(BODY.replace(b"approved", b"revoked "))


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_missing_header_is_refused_by_name(name):
    with refused_for(name.lower()):
        check(given={other: value for other, value in headers().items() if other != name})


@pytest.mark.parametrize("text", ["soon", "-1", "1e9", "9" * 13, "\uff11\uff17"])
def test_time_that_is_no_count_of_seconds_is_refused(text):
    with pytest.raises(Refused, match="no count of seconds"):
        check(given={**headers(), "Webhook-Timestamp": text})


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!", "näh"])
def test_secret_that_is_none_is_refused(secret):
    with pytest.raises(KeyRefused):
        check(secret=secret)


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"type":"a","timestamp":"b","data":{}}', b'{"type":7}'])
def test_signed_content_of_another_shape_is_refused(content):
    with pytest.raises((Refused, BadAnswer)):
        check(content, headers(content))


def test_large_body_is_refused_before_anything_else():
    with pytest.raises(Refused, match="larger than"):
        verify(b"x" * 300_000, {}, SECRET)
