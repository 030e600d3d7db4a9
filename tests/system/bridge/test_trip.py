"""The client and the owner against the real application on a real socket: what the fake only claims, holds there."""

import json

import pytest

from consent_bridge.errors import KeyRefused, Problem
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key, thumbprint
from consent_bridge.signin import SignInRefused
from tests.factories import invitation_of
from tests.factories.accounts import PASSWORD
from tests.system.bridge.steps import CUISINE, FOOD, PASSPHRASE, PURPOSE, SCOPE, ask, refusal


def test_one_whole_trip_ends_with_exactly_what_was_approved(caller, owner, person, key):
    found = caller.discover(invitation_of(person))
    made_request = ask(caller, person, key, access_duration=7200)
    pending = caller.status(made_request.request_id)
    review = owner.review(made_request.request_id)
    decided = owner.approve(review, attributes=[CUISINE], access_duration=3600, invited=True)
    status = caller.wait_for_decision(made_request.request_id, timeout=30)
    opened = caller.read(made_request, key)

    assert SCOPE in found.scopes
    assert (made_request.status, made_request.connector_fingerprint) == ("pending", thumbprint(key))
    assert (pending.status, pending.grant) == ("pending", None)
    assert review.purpose == PURPOSE
    assert owner.preview(review) == {f"lifestyle.food.{name}": value for name, value in FOOD.items()}
    assert (decided.status, status.status, status.grant.approved_attributes) == ("approved", "approved", (CUISINE,))
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert [(source.domain, source.segment_id, source.content_revision) for source in opened.sources] == [
        ("lifestyle", "food", None)
    ]
    assert caller.status(made_request.request_id).grant.reads == 1


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


def test_catalog_and_newest_status(caller, owner, person):
    made_request = ask(caller, person, generate_connector_key())

    assert SCOPE in [entry.scope for entry in caller.catalog()]
    assert caller.newest_status(invitation_of(person), SCOPE).request_id == made_request.request_id


def test_command_line_goes_the_whole_way(service, caller, owner, person, api, cli):
    environ = {"CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_DEVELOPER_TOKEN": api.token}

    made = cli("keygen", **environ)
    requested = cli("request", invitation_of(person), SCOPE, "--purpose", PURPOSE, **environ)
    request_id = json.loads(requested.stdout)["request_id"]
    owner.approve(owner.review(request_id), attributes=[CUISINE], invited=True)
    waited = cli("wait", request_id, "--timeout", "20", **environ)
    read = cli("read", request_id, **environ)

    assert [done.returncode for done in (made, requested, waited, read)] == [0, 0, 0, 0]
    assert json.loads(read.stdout)["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
