"""What comes after a decision, from the real application: newer revisions, receipts, checkpoints, events."""

import json
from contextlib import closing

import pytest

from consent.notices.long_polling import hub
from consent_bridge.errors import Refused
from consent_bridge.sealed import generate_connector_key, thumbprint
from tests.patience import eventually
from tests.system.bridge.steps import CUISINE, DIET, ask, refusal


def test_read_that_changed_nothing_counts_nothing(caller, owner, person):
    key = generate_connector_key()
    made_request = ask(caller, person, key, refresh_policy="continuous")
    approved = owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)
    known = caller.read(made_request, key)

    assert caller.read_newer(made_request, key, known) is None
    assert caller.status(made_request.request_id).grant.reads == 1
    owner.update("lifestyle", "food", {"favorite_cuisine": "Korean", "coffee_or_tea": "coffee"})
    owner.refresh_grant(approved)
    newer = caller.read_newer(made_request, key, known)
    assert (newer.revision, newer.data) == (2, {"lifestyle": {"food": {"favorite_cuisine": "Korean"}}})
    assert caller.status(made_request.request_id).grant.reads == 2
    owner.pause(approved.grant.grant_id)
    assert refusal(caller.read_newer, made_request, key, newer) == ("grant_paused", 403)


def test_continuous_grant_is_refreshed_with_what_was_approved_and_no_more(caller, owner, person):
    key = generate_connector_key()
    made_request = ask(caller, person, key, refresh_policy="continuous")
    first = owner.approve(owner.review(made_request.request_id), attributes=[CUISINE, DIET], invited=True)

    owner.write("lifestyle", "food", {"favorite_cuisine": "Korean", "own_dish": "soup"}, base=1)
    second = owner.refresh_grant(first)
    opened = caller.read(made_request, key)

    assert second.grant.export_revision == opened.revision == 2
    assert opened.approved_attributes == (CUISINE, DIET)
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Korean"}}}
    assert [(source.segment_id, source.content_revision) for source in opened.sources] == [("food", None)]
    assert refusal(owner.refresh_grant, first) == ("stale_revision", 409)
    assert owner.refresh_grant(second).grant.export_revision == 3


def test_snapshot_and_pending_requests_are_not_refreshed(caller, owner, person):
    made_request = ask(caller, person, generate_connector_key())

    with pytest.raises(Refused, match="no grant"):
        owner.refresh_grant(caller.status(made_request.request_id))
    with pytest.raises(Refused, match="snapshot"):
        owner.refresh_grant(owner.approve(owner.review(made_request.request_id), invited=True))


def test_receipt_of_each_event_verifies(caller, owner, person, cli, service):
    key = generate_connector_key()
    made_request = ask(caller, person, key)
    approved = owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)
    revoked = owner.revoke(approved.grant.grant_id)
    receipts = [caller.receipt(status.receipt_id) for status in (approved, revoked)]
    printed = cli("verify-receipt", stdin=receipts[0].jws.encode(), CONSENT_BASE_URL=f"{service}/api/v1")

    assert [receipt.claims["event"]["type"] for receipt in receipts] == ["approved", "revoked"]
    assert receipts[0].claims["pii_types"] == [CUISINE]
    assert receipts[0].claims["request_digest"] == made_request.request_digest
    assert receipts[0].claims["connector_fingerprint"] == thumbprint(key)
    assert json.loads(printed.stdout) == receipts[0].claims
    assert refusal(caller.receipt, "rct_unknown") == ("unknown_receipt", 404)


def test_events_come_in_order_and_resume(caller, owner, person, monkeypatch):
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    first, second = (ask(caller, person, generate_connector_key()) for _ in range(2))
    owner.deny(first.request_id)

    with closing(caller.events(0)) as events:
        seen = [next(events) for _ in range(1)]
        caller.end(second.request_id)
        seen.append(next(events))
    with closing(caller.events(seen[0].id)) as events:
        assert next(events) == seen[1]

    assert [(event.status.request_id, event.status.status) for event in seen] == [
        (first.request_id, "denied"),
        (second.request_id, "cancelled"),
    ]
    assert seen[1].id == seen[0].id + 1
    eventually(hub.is_silent, "the end of the listener")
