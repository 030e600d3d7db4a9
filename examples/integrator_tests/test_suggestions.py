"""Every decision that a person can make, and what the app makes of it. No browser, and nobody has to click."""

import pytest
from suggestions import request_cuisine, suggest

from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.keys import Jwk
from consent_bridge.sandbox import SandboxPerson

CUISINE = "lifestyle.food.favorite_cuisine"


def test_an_approval_makes_a_suggestion_personal(client: Client, person: SandboxPerson, key: Jwk) -> None:
    request = request_cuisine(client, person.user_id, key)
    assert suggest(client, request, key) == "The Corner Café"

    person.approve(request.request_id)

    assert suggest(client, request, key) == "Green Mango"


def test_only_what_was_approved_arrives(client: Client, person: SandboxPerson, key: Jwk) -> None:
    request = request_cuisine(client, person.user_id, key)

    status = person.approve(request.request_id, attributes=[CUISINE], access_duration=600)

    assert status.grant is not None
    assert status.grant.approved_attributes == (CUISINE,)
    assert client.read(request, key).data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}


def test_a_refusal_is_respected(client: Client, person: SandboxPerson, key: Jwk) -> None:
    request = request_cuisine(client, person.user_id, key)

    person.deny(request.request_id)

    assert suggest(client, request, key) == "The Corner Café"
    with pytest.raises(Problem, match="recently_denied"):
        request_cuisine(client, person.user_id, key)


def test_a_pause_lasts_until_it_is_over(client: Client, person: SandboxPerson, key: Jwk) -> None:
    request = request_cuisine(client, person.user_id, key)
    status = person.approve(request.request_id)
    assert status.grant is not None

    person.pause(status.grant.grant_id)
    assert suggest(client, request, key) == "The Corner Café"
    person.resume(status.grant.grant_id)
    assert suggest(client, request, key) == "Green Mango"


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_after_its_end_nothing_is_read(client: Client, person: SandboxPerson, key: Jwk, end: str) -> None:
    request = request_cuisine(client, person.user_id, key)
    status = person.approve(request.request_id)
    assert status.grant is not None

    if end == "revoked":
        person.revoke(status.grant.grant_id)
    else:
        person.expire(3600)

    assert suggest(client, request, key) == "The Corner Café"
    ended = client.status(request.request_id).grant
    assert ended is not None
    assert ended.status == end


def test_a_request_that_nobody_answers_expires(client: Client, person: SandboxPerson, key: Jwk) -> None:
    request = request_cuisine(client, person.user_id, key)

    person.expire(request.expires_in)

    assert client.status(request.request_id).status == "expired"
