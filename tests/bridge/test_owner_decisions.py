"""What an owner decides: only what was recomputed, sealed to its app, and no secret on the way."""

import json
from dataclasses import replace

import pytest

from consent_bridge.encoding import decode_base64url
from consent_bridge.errors import BadAnswer, KeyRefused, Refused
from consent_bridge.review import covers
from consent_bridge.sealed import generate_connector_key, open_export, public_half, request_digest, unwrap
from consent_bridge.signatures import sha256, verified
from tests.bridge.fake_service import Reply
from tests.bridge.fake_site import FOOD, PASSPHRASE, STATUS
from tests.bridge.refusals import refused_for
from tests.bridge.wire import HEADER


def test_approval_seals_exactly_what_was_chosen(unlocked, site):
    review, before = unlocked.review("req_a"), site.notes["revision"]

    status = unlocked.approve(review, attributes=["lifestyle.food.favorite_cuisine"], access_duration=3600)

    assert status.status == "approved"
    [decision] = site.decisions
    sealed = decision.pop("jwe")
    claims = verified(decision.pop("approval"), "consent-approval+jwt", decision.pop("approval_key"), "it")
    assert (claims["export_sha256"], claims["ends_at"]) == (sha256(sealed), claims["iat"] + 3600)
    assert decision.pop("approval_key_certificate")
    assert decision.pop("notes") == {"jwe": site.notes["jwe"], "base_revision": before}
    assert decision == {
        "decision": "approve",
        "request_digest": request_digest(site.request),
        "access_duration": 3600,
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "sources": [{"domain": "lifestyle", "segment_id": "food", "content_revision": 1}],
    }
    content = open_export(sealed, site.key, expected_header(site)).as_json()
    assert content.pop("sealed_at").endswith("Z")
    assert content == {
        "scope": "attr.lifestyle.food.*",
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "data": {"lifestyle": {"food": {"favorite_cuisine": "Thai-canary"}}},
        "sources": [{"domain": "lifestyle", "segment_id": "food"}],
    }


def test_an_answer_is_previewed_and_sealed_in_place_of_the_value(unlocked, site):
    path = "lifestyle.food.likes_thai"
    rule = {"kind": "equals_any", "values": ["Thai-canary"]}
    derived = {path: {"from": "lifestyle.food.favorite_cuisine", "rule": rule, "rule_version": 1}}
    site.request |= {"optional_attributes": [path], "derived": derived}
    review = unlocked.review("req_a")

    assert unlocked.preview(review) == {path: True}
    unlocked.approve(review)

    [decision] = site.decisions
    content = open_export(decision["jwe"], site.key, expected_header(site))
    assert content.data == {"lifestyle": {"food": {"likes_thai": True}}}
    assert content.derived == derived
    with pytest.raises(Refused, match="was not asked for"):
        unlocked.approve(review, attributes=["lifestyle.food.favorite_cuisine"])


def test_an_accepted_answer_is_sealed_in_place_of_the_value_that_was_asked_for(unlocked, site):
    source, path = "lifestyle.food.favorite_cuisine", "lifestyle.food.cuisine_begins"
    derived = {path: {"from": source, "rule": {"kind": "part", "characters": 2}, "rule_version": 1}}
    site.request |= {"required_attributes": [source], "derived": derived, "accepts": {source: [path]}}

    unlocked.approve(unlocked.review("req_a"), attributes=[path])

    [decision] = site.decisions
    content = open_export(decision["jwe"], site.key, expected_header(site))
    assert (content.data, content.derived) == ({"lifestyle": {"food": {"cuisine_begins": "Th"}}}, derived)
    site.request |= {"accepts": {"lifestyle.food.diet_preference": [path]}}
    with pytest.raises(Refused, match="not each accepted answer is made from"):
        unlocked.approve(unlocked.review("req_a"), attributes=[path])


def expected_header(site):
    return replace(HEADER, kid="connector-1", sub=site.request["user_id"], request_digest=request_digest(site.request))


def test_approval_without_a_choice_is_all_that_is_asked_for_and_there(unlocked, site):
    review = unlocked.review("req_a")

    unlocked.approve(review)

    assert unlocked.preview(review) == {
        "lifestyle.food.diet_preference": "vegetarian",
        "lifestyle.food.favorite_cuisine": "Thai-canary",
    }
    assert site.decisions[0]["approved_attributes"] == [
        "lifestyle.food.diet_preference",
        "lifestyle.food.favorite_cuisine",
    ]
    assert site.decisions[0]["access_duration"] == 86400


def test_approval_may_add_an_own_attribute_of_the_scope_where_none_was_named(unlocked, site):
    unlocked.approve(unlocked.review("req_a"), attributes=["lifestyle.food.own_dish"])

    assert site.decisions[0]["approved_attributes"] == ["lifestyle.food.own_dish"]


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (["lifestyle.fitness.gym_membership"], "was not asked for"),
        (["lifestyle.food.coffee_or_tea"], "the vault does not hold"),
        (["food"], "is not domain.segment.attribute"),
        ([], "no attribute was chosen"),
    ],
)
def test_approval_of_what_cannot_be_shared_sends_nothing(unlocked, site, chosen, reason):
    with pytest.raises(Refused, match=reason):
        unlocked.approve(unlocked.review("req_a"), attributes=chosen)

    assert site.decisions == []


def test_approval_keeps_to_the_attributes_that_were_named(unlocked, site):
    site.request["required_attributes"] = ["lifestyle.food.diet_preference"]
    site.request["optional_attributes"] = ["lifestyle.food.coffee_or_tea"]
    review = unlocked.review("req_a")

    with pytest.raises(Refused, match="was not asked for"):
        unlocked.approve(review, attributes=["lifestyle.food.favorite_cuisine"])
    unlocked.approve(review)

    assert site.decisions[0]["approved_attributes"] == ["lifestyle.food.diet_preference"]


@pytest.mark.parametrize(
    ("change", "member", "kind"),
    [
        ({"request": {"purpose": "Sell your data"}}, "request_digest", Refused),
        ({"request": {"access_duration": 1}}, "request_digest", Refused),
        ({"request": {"scope": "pkm.read"}}, "request_digest", Refused),
        ({"request": {"app_name": "Another"}}, "request_digest", Refused),
        ({"request": {"expires_at": "2027-01-01T00:00:00Z"}}, "request_digest", Refused),
        ({"connector_public_key": public_half(generate_connector_key())}, "connector_thumbprint", Refused),
        ({"connector_public_key": {"kty": "OKP", "crv": "X25519", "x": "A" * 43}}, "x", KeyRefused),
    ],
)
def test_review_of_what_was_swapped_stops(fake, owner, site, change, member, kind):
    shown = site.review()
    if "request" in change:
        change = {"request": {**site.request, **change["request"]}}
    fake.scripts["GET", "/consent/requests/req_a/data"] = [Reply({**shown, **change})]

    with refused_for(member, kind):
        owner.review("req_a")


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ({"request_id": "req_b"}, "request_id"),
        ({"user_id": "usr_a"}, "user_id"),  # their own, which no app knows them by
        ({"app_id": "app_b"}, "app_id"),
        ({"app_name": "Another"}, "app_name"),
    ],
)
def test_review_of_something_else_stops(owner, site, change, member):
    site.request |= change

    with refused_for(member):
        owner.review("req_a")


@pytest.mark.parametrize("change", [{"attributes": "all"}, {"attributes": None}, {"access_duration": "a day"}])
def test_review_in_another_shape_is_a_bad_answer(owner, site, change):
    site.request |= change

    with pytest.raises(BadAnswer):
        owner.review("req_a")


def test_denial_tells_its_reason_to_the_person_alone(owner, site):
    assert owner.deny("req_a", reason="not now").request_id == "req_a"
    owner.deny("req_a")

    assert site.decisions == [{"decision": "deny", "reason": "not now"}, {"decision": "deny"}]


def test_grant_is_paused_resumed_and_revoked(fake, unlocked):
    answers = [unlocked.pause("grt_a"), unlocked.resume("grt_a"), unlocked.revoke("grt_a")]

    assert [answer.request_id for answer in answers] == [STATUS["request_id"]] * 3
    sent = [call for call in fake.received if call.method == "POST"]
    paths = [call.path for call in sent if call.path.startswith("/consent/grants/")]
    assert paths == [f"/consent/grants/grt_a/{verb}" for verb in ("pause", "resume", "revoke")]


def test_no_secret_and_no_value_is_ever_sent(fake, owner, site):
    code = owner.create_vault(PASSPHRASE)
    key = unwrap(site.vault["wrappers"][1]["jwe"], "recovery", code).secret
    owner.write("lifestyle", "food", FOOD, base=0)
    owner.lock()
    owner.unlock(passphrase=PASSPHRASE)
    owner.lock()
    owner.unlock(recovery_code=code)
    owner.approve(owner.review("req_a"))

    sent = b"\n".join(json.dumps([call.path, call.query, call.headers]).encode() + call.body for call in fake.received)
    parts = [part for part in sent.replace(b'"', b".").split(b".") if len(part) > 20]
    sent += b"\n".join(decoded for part in parts if (decoded := decoded_or_none(part)))
    for secret in (PASSPHRASE, code, code.replace("-", ""), key.hex(), "Thai-canary", "vegetarian"):
        assert secret.encode() not in sent
    assert key not in sent
    assert b"vault-key+jwe" in sent, "the headers were decoded, so the search could find something"


def decoded_or_none(part):
    try:
        return decode_base64url(part.decode("ascii"), "part")
    except (Refused, UnicodeDecodeError):
        return None


@pytest.mark.parametrize(
    ("scope", "path", "covered"),
    [
        ("pkm.read", "contact.email.email", True),
        ("attr.contact.*", "contact.email.email", True),
        ("attr.contact.*", "contacts.email.email", False),
        ("attr.contact.email.*", "contact.email.email", True),
        ("attr.contact.email.*", "contact.phone.phone", False),
        ("attr.contact.email.email", "contact.email.email", True),
        ("attr.contact.email.email", "contact.email.email_2", False),
        ("attr.*", "contact.email.email", False),
        ("world.read", "contact.email.email", False),
    ],
)
def test_scope_covers_what_it_names(scope, path, covered):
    assert covers(scope, path) is covered


# --- who vouches for the key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "by", "despite", "leaves"),
    [
        ("standard", "nobody", False, True),
        ("confidential", "nobody", False, False),
        ("confidential", "nobody", True, True),
        ("confidential", "published", False, True),
        ("restricted", "nobody", True, False),
        ("restricted", "a word of tomorrow", True, False),
        ("restricted", "published", False, True),
        ("a tier of tomorrow", "nobody", True, False),
    ],
)
def test_sensitive_data_leaves_for_a_key_for_which_somebody_vouches(unlocked, site, tier, by, despite, leaves):
    site.tier, site.vouching = tier, {"by": by, "domain": None, "since": None}
    review = unlocked.review("req_a")

    if leaves:
        unlocked.approve(review, despite_unvouched=despite)
    else:
        with pytest.raises(Refused) as refused:
            unlocked.approve(review, despite_unvouched=despite)
        assert refused.value.member == "connector_thumbprint"
    assert len(site.decisions) == leaves
