"""The client and the owner against the real application on a real socket: what the fake only claims, holds there."""

import json

import pytest

from consent_bridge.client import Client
from consent_bridge.errors import KeyRefused, Problem, Refused
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key, thumbprint
from consent_bridge.signin import SignInRefused
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.system.bridge.steps import CUISINE, DIET, FOOD, PASSPHRASE, PURPOSE, SCOPE, ask, refusal


def test_one_whole_trip_ends_with_exactly_what_was_approved(caller, owner, person, key):
    found = caller.discover(person.public_id)
    asked = ask(caller, person, key, access_duration=7200)
    pending = caller.status(asked.request_id)
    review = owner.review(asked.request_id)
    decided = owner.approve(review, attributes=[CUISINE], access_duration=3600)
    status = caller.wait_for_decision(asked.request_id, timeout=30)
    opened = caller.read(asked, key)

    assert SCOPE in found.scopes
    assert (asked.status, asked.connector_fingerprint) == ("pending", thumbprint(key))
    assert (pending.status, pending.grant) == ("pending", None)
    assert review.purpose == PURPOSE
    assert owner.preview(review) == {f"lifestyle.food.{name}": value for name, value in FOOD.items()}
    assert (decided.status, status.status, status.grant.approved_attributes) == ("approved", "approved", (CUISINE,))
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert [(source.domain, source.segment_id, source.content_revision) for source in opened.sources] == [
        ("lifestyle", "food", 1)
    ]
    assert caller.status(asked.request_id).grant.reads == 1


def test_grant_stops_at_a_pause_and_ends_at_a_revocation(caller, owner, person):
    key = generate_connector_key()
    asked = ask(caller, person, key)
    grant_id = owner.approve(owner.review(asked.request_id)).grant.grant_id

    assert owner.pause(grant_id).grant.status == "paused"
    assert refusal(caller.read, asked, key) == ("grant_paused", 403)
    assert owner.resume(grant_id).grant.status == "active"
    assert caller.read(asked, key).data == {"lifestyle": {"food": FOOD}}
    assert owner.revoke(grant_id).grant.status == "revoked"
    assert refusal(caller.read, asked, key) == ("grant_ended", 410)


def test_denied_and_cancelled_requests_are_never_read(caller, owner, person):
    key = generate_connector_key()
    denied = ask(caller, person, key)

    assert refusal(caller.read, denied, key) == ("authorization_pending", 409)
    assert owner.deny(denied.request_id, reason="not now").status == "denied"
    assert refusal(caller.read, denied, key) == ("access_denied", 403)
    assert refusal(owner.deny, denied.request_id) == ("already_decided", 409)
    assert refusal(ask, caller, person, key) == ("recently_denied", 429)


def test_app_ends_what_it_asked_for(caller, owner, person):
    key = generate_connector_key()
    first = ask(caller, person, key)

    assert caller.end(first.request_id).status == "cancelled"
    assert caller.end(first.request_id).status == "cancelled"
    assert refusal(caller.read, first, key) == ("grant_ended", 410)

    second = ask(caller, person, key)
    owner.approve(owner.review(second.request_id))
    assert caller.end(second.request_id).grant.status == "released"
    assert [status.request_id for status in caller.all_requests()] == [second.request_id, first.request_id]


def test_named_attributes_bound_the_approval(caller, owner, person):
    asked = ask(caller, person, generate_connector_key(), required_attributes=[DIET], optional_attributes=[CUISINE])
    review = owner.review(asked.request_id)

    assert review.attributes == (DIET, CUISINE)
    with pytest.raises(Refused, match="was not asked for"):
        owner.approve(review, attributes=["lifestyle.food.coffee_or_tea"])
    assert refusal(owner.approve, review, attributes=[CUISINE]) == ("required_attribute_missing", 400)
    assert owner.approve(review, attributes=[DIET]).grant.approved_attributes == (DIET,)


def test_segment_that_changed_since_the_preview_is_not_shared(service, caller, owner, person, monkeypatch):
    asked = ask(caller, person, generate_connector_key())
    review = owner.review(asked.request_id)
    shown = owner.segments(scope=SCOPE)
    owner.update("lifestyle", "food", {"favorite_cuisine": "Korean"})
    monkeypatch.setattr(owner, "segments", lambda **_: shown)

    assert refusal(owner.approve, review) == ("stale_revision", 409)


def test_writes_never_go_over_one_another(service, owner, person):
    with Owner(service) as elsewhere:
        elsewhere.sign_in(person.email, PASSWORD)
        elsewhere.unlock(passphrase=PASSPHRASE)
        elsewhere.update("lifestyle", "food", {"own_dish": "soup"})

        with pytest.raises(Problem) as caught:
            owner.write("lifestyle", "food", {"own_dish": "stew"}, base=1)
        assert (caught.value.code, caught.value.extra["current_content_revision"]) == ("stale_revision", 2)
        assert owner.update("lifestyle", "food", {"coffee_or_tea": "coffee"}).content_revision == 3
        [segment] = elsewhere.segments(domain="lifestyle")
        assert segment.values == {**FOOD, "own_dish": "soup", "coffee_or_tea": "coffee"}


def test_deleted_segment_goes_on_counting(owner):
    owner.delete("lifestyle", "food", base=1)

    assert owner.segments(domain="lifestyle") == []
    assert owner.update("lifestyle", "food", {"own_dish": "stew"}).content_revision == 3


def test_vault_unlocks_again_elsewhere_with_its_code(service, person):
    with Owner(service) as first:
        assert first.sign_in(person.email, PASSWORD).vault_status == "absent"
        code = first.create_vault(PASSPHRASE)
        first.write("lifestyle", "food", FOOD, base=0)
        assert refusal(first.create_vault, PASSPHRASE) == ("vault_exists", 409)

    with Owner(service) as second:
        assert second.sign_in(person.email, PASSWORD).vault_status == "active"
        with pytest.raises(KeyRefused, match="does not open the vault"):
            second.unlock(passphrase="another passphrase")
        second.unlock(recovery_code=code)
        assert [segment.values for segment in second.segments(scope=SCOPE)] == [FOOD]


def test_sign_in_wants_the_right_password(service, person):
    with Owner(service) as stranger, pytest.raises(SignInRefused, match="the address or the password is wrong"):
        stranger.sign_in(person.email, "another password")


def test_request_of_somebody_else_is_unknown(service, caller, owner, person):
    asked = ask(caller, person, generate_connector_key())
    other = PersonFactory()

    with Owner(service) as stranger:
        stranger.sign_in(other.email, PASSWORD)
        assert refusal(stranger.review, asked.request_id)[1] == 404
        assert refusal(stranger.deny, asked.request_id)[1] == 404


def test_errors_carry_the_contracts_codes(service, caller, owner, person):
    key = generate_connector_key()

    assert refusal(caller.discover, "usr_unknown") == ("unknown_user", 404)
    assert refusal(caller.status, "req_unknown") == ("unknown_request", 404)
    assert refusal(caller.request_consent, person.public_id, "pkm.read", purpose=PURPOSE, key=key) == (
        "invalid_scope",
        400,
    )
    with Client(f"{service}/api/v1", "cr_live_nobody") as nobody:
        assert refusal(nobody.catalog) == ("invalid_token", 401)
    assert refusal(ask, caller, person, key, binding_message="x" * 65) == ("invalid_request", 400)


def test_identical_request_is_the_same_one(caller, owner, person):
    key = generate_connector_key()
    first = ask(caller, person, key, idempotency_key="once")

    assert ask(caller, person, key).request_id == first.request_id
    assert ask(caller, person, key, idempotency_key="once") == first
    assert refusal(ask, caller, person, key, access_duration=600) == ("request_pending", 409)


def test_catalog_and_newest_status(caller, owner, person):
    asked = ask(caller, person, generate_connector_key())

    assert SCOPE in [entry.scope for entry in caller.catalog()]
    assert caller.newest_status(person.public_id, SCOPE).request_id == asked.request_id


def test_command_line_goes_the_whole_way(service, caller, owner, person, api, cli):
    environ = {"CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_DEVELOPER_TOKEN": api.token}

    made = cli("keygen", **environ)
    asked = cli("request", person.public_id, SCOPE, "--purpose", PURPOSE, **environ)
    request_id = json.loads(asked.stdout)["request_id"]
    owner.approve(owner.review(request_id), attributes=[CUISINE])
    waited = cli("wait", request_id, "--timeout", "20", **environ)
    read = cli("read", request_id, **environ)

    assert [done.returncode for done in (made, asked, waited, read)] == [0, 0, 0, 0]
    assert json.loads(read.stdout)["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
