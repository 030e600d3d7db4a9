"""`POST /request-consent` (contract 1.3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from accounts.models import User
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.idempotency import IdempotencyKey
from tests.callers import Developer
from tests.consent.api.addresses import ANOTHERS, CONNECTOR, FOOD, problem, request_body
from tests.factories import (
    AppFactory,
    BlockedAppFactory,
    ConsentRequestFactory,
    HiddenScopeFactory,
    PersonFactory,
    ScopeTemplateFactory,
    Vault,
    give_vault,
    known_as,
)

FIT = {
    "shortest purpose": {"purpose": "Eight ch"},
    "longest purpose": {"purpose": "ü" * 280},
    "astral purpose": {"purpose": "😀" * 280},
    "purpose with combining marks": {"purpose": "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902"},
    "all numbers least": {"access_duration": 300, "requested_expiry": 300, "max_reads": 1},
    "all numbers most": {"access_duration": 31536000, "requested_expiry": 2592000, "max_reads": 100000},
    "continuous": {"refresh_policy": "continuous"},
    "both lists": {
        "required_attributes": ["lifestyle.food.favorite_cuisine"],
        "optional_attributes": ["lifestyle.food.coffee_or_tea"],
    },
    "nothing but optional": {"required_attributes": [], "optional_attributes": ["lifestyle.food.coffee_or_tea"]},
    "nothing but required": {"required_attributes": ["lifestyle.food.coffee_or_tea"], "optional_attributes": []},
    "binding message": {"binding_message": "x" * 64},
    "why it is required": {
        "required_attributes": ["lifestyle.food.coffee_or_tea"],
        "required_because": "ü" * 140,
    },
    "tolerated members of the key": {
        "connector_public_key": {
            **sealed.public_half(CONNECTOR), "kid": "k", "use": "enc", "alg": "ECDH-ES+A256KW", "key_ops": ["x"],
        }
    },
    "a key as WebCrypto exports it": {
        "connector_public_key": {"key_ops": [], "ext": True, **sealed.public_half(CONNECTOR), "alg": None, "x5t": 3}
    },
    "whole numbers with a point": {"access_duration": 3600.0, "requested_expiry": 3600.0, "max_reads": 3.0},
    "P-256": {"connector_public_key": sealed.public_half(sealed.generate_connector_key("P-256"))},
    "key id": {"connector_key_id": "A-z.0~_" + "k" * 121},
    "optional nulls": dict.fromkeys(
        [
            "required_attributes", "optional_attributes", "max_reads", "binding_message", "template_id",
            "access_duration", "requested_expiry", "refresh_policy",
        ]
    ),
}  # fmt: skip

UNFIT = {
    "purpose too short": ({"purpose": "x" * 7}, "purpose"),
    "purpose too long": ({"purpose": "x" * 281}, "purpose"),
    "purpose with a line break": ({"purpose": "Suggest\nrestaurants"}, "purpose"),
    "purpose with a bidirectional character": ({"purpose": "Suggest \u202erestaurants"}, "purpose"),
    "purpose with a zero-width character": ({"purpose": "Suggest \u200brestaurants"}, "purpose"),
    "purpose of fillers": ({"purpose": "\u3164" * 8}, "purpose"),
    "purpose of combining marks": ({"purpose": "\u0301" * 8}, "purpose"),
    "binding message with a variation selector": ({"binding_message": "A\ufe0f1"}, "binding_message"),
    "purpose is a number": ({"purpose": 12345678}, "purpose"),
    "no purpose": ({"purpose": ...}, "purpose"),
    "no user": ({"user_id": ...}, "user_id"),
    "user is null": ({"user_id": None}, "user_id"),
    "no scope": ({"scope": ...}, "scope"),
    "scope is an object": ({"scope": {}}, "scope"),
    "key id with a space": ({"connector_key_id": "a b"}, "connector_key_id"),
    "key id too long": ({"connector_key_id": "k" * 129}, "connector_key_id"),
    "key id empty": ({"connector_key_id": ""}, "connector_key_id"),
    "duration too short": ({"access_duration": 299}, "access_duration"),
    "duration too long": ({"access_duration": 31536001}, "access_duration"),
    "duration as text": ({"access_duration": "300"}, "access_duration"),
    "duration with a fraction": ({"access_duration": 300.5}, "access_duration"),
    "duration is true": ({"access_duration": True}, "access_duration"),
    "expiry too short": ({"requested_expiry": 299}, "requested_expiry"),
    "expiry too long": ({"requested_expiry": 2592001}, "requested_expiry"),
    "no reads": ({"max_reads": 0}, "max_reads"),
    "too many reads": ({"max_reads": 100001}, "max_reads"),
    "unknown policy": ({"refresh_policy": "forever"}, "refresh_policy"),
    "binding message too long": ({"binding_message": "x" * 65}, "binding_message"),
    "reason too long": ({"required_because": "x" * 141}, "required_because"),
    "reason with a line break": ({"required_because": "We\ncannot"}, "required_because"),
    "reason empty": ({"required_because": ""}, "required_because"),
    "attribute outside the scope": ({"required_attributes": ["contact.email.email"]}, "required_attributes"),
    "attribute malformed": ({"optional_attributes": ["lifestyle"]}, "optional_attributes"),
    "attributes as text": ({"optional_attributes": "lifestyle.food.coffee_or_tea"}, "optional_attributes"),
    "nothing required": ({"required_attributes": []}, "required_attributes"),
    "nothing optional": ({"optional_attributes": []}, "optional_attributes"),
    "nothing optional, none required": (
        {"required_attributes": None, "optional_attributes": []},
        "optional_attributes",
    ),
    "unknown template": ({"template_id": "tpl_unknown"}, "template_id"),
    "unknown member": ({"priority": "high"}, "priority"),
    "unknown member of null": ({"priority": None}, "priority"),
}

BAD_KEYS = {
    "empty": {},
    "no x": {"kty": "OKP", "crv": "X25519"},
    "unknown curve": {"kty": "OKP", "crv": "Ed25519", "x": sealed.public_half(CONNECTOR)["x"]},
    "symmetric": {"kty": "oct", "k": "AAAA"},
    "private": CONNECTOR,
    "low order": {"kty": "OKP", "crv": "X25519", "x": "A" * 43},
    "not base64": {"kty": "OKP", "crv": "X25519", "x": "!" * 43},
    "not a point": {"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43},
    "private, of another kind": {**sealed.public_half(CONNECTOR), "k": "AAAA"},
    "numbers": {"kty": 1, "crv": 2, "x": 3},
    "a text": orjson.dumps(sealed.public_half(CONNECTOR)).decode(),
    "a list": [sealed.public_half(CONNECTOR)],
}


def test_a_request_is_made_and_told_in_full(api: Developer, vault: Vault, settings: Any) -> None:
    began = datetime.now(UTC).replace(microsecond=0)
    answer = api.post("/request-consent", request_body(vault.user, access_duration=604800, requested_expiry=3600))

    body, made = answer.json(), ConsentRequest.objects.get()
    created_at = datetime.fromisoformat(body["created_at"])
    assert answer.status_code == 201
    assert began <= created_at <= datetime.now(UTC)
    assert body == {
        "request_id": made.request_id,
        "status": "pending",
        "app_id": api.app.app_id,
        "issuer": settings.ISSUER,
        "user_id": known_as(api.app, vault.user),
        "scope": FOOD,
        "scope_label": made.scope_entry.scope_label,
        "approval_url": f"{settings.ISSUER}/consent/requests/{made.request_id}/",
        "interval": 5,
        "expires_in": 3600,
        "expires_at": (created_at + timedelta(seconds=3600)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "access_duration": 604800,
        "connector_key_id": "trip-planner-1",
        "connector_fingerprint": sealed.thumbprint(sealed.public_half(CONNECTOR)),
        "request": body["request"],
        "request_digest": made.request_digest,
        "created_at": body["created_at"],
    }


@pytest.mark.parametrize("changes", FIT.values(), ids=FIT.keys())
def test_what_fits_is_asked_and_its_digest_can_be_computed_by_the_app(
    changes: dict[str, Any], api: Developer, vault: Vault
) -> None:
    sent = request_body(vault.user, **changes)

    answer = api.post("/request-consent", sent)

    assert answer.status_code == 201, answer.content
    body = answer.json()
    frozen = {
        "request_id": body["request_id"],
        "app_id": body["app_id"],
        "app_name": api.app.name,
        "user_id": known_as(api.app, vault.user),
        "scope": sent["scope"],
        "attributes": [
            "lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine", "lifestyle.food.coffee_or_tea",
        ],
        "purpose": sent["purpose"],
        "connector_thumbprint": body["connector_fingerprint"],
        "access_duration": sent.get("access_duration") or 86400,
        "expires_at": body["expires_at"],
        "required_attributes": sent.get("required_attributes"),
        "optional_attributes": sent.get("optional_attributes"),
        "max_reads": sent.get("max_reads"),
        "refresh_policy": sent.get("refresh_policy") or "snapshot",
        "binding_message": sent.get("binding_message"),
        **{name: sent[name] for name in ("required_because",) if name in sent},
    }  # fmt: skip
    assert body["request"] == frozen
    assert sealed.request_digest(frozen) == body["request_digest"]


@pytest.mark.parametrize(("changes", "field"), UNFIT.values(), ids=UNFIT.keys())
def test_what_does_not_fit_is_named(changes: dict[str, Any], field: str, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user, **changes))

    assert problem(answer) == (400, "invalid_request")
    assert {error["field"].split(".")[0] for error in answer.json()["errors"]} == {field}
    assert not ConsentRequest.objects.exists()


@pytest.mark.parametrize(
    ("scope", "reason"),
    [("", "String should have at least 1 character"), ("a" * 211, "String should have at most 210 characters")],
)
def test_a_scope_of_no_length_is_told_in_characters(scope: str, reason: str, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user, scope=scope))

    assert problem(answer) == (400, "invalid_request")
    assert [(error["field"], error["message"]) for error in answer.json()["errors"]] == [("scope", reason)]


@pytest.mark.parametrize("scope", [[FOOD], [FOOD, FOOD], f"{FOOD},attr.contact.*", f"{FOOD} attr.contact.*", []])
def test_more_than_one_scope_is_its_own_refusal(scope: Any, api: Developer, vault: Vault) -> None:
    assert problem(api.post("/request-consent", request_body(vault.user, scope=scope))) == (
        400,
        "one_scope_per_request",
    )


@pytest.mark.parametrize("name", ["connector_public_key", "connector_key_id", "connector_wrapping_alg"])
@pytest.mark.parametrize("value", [..., None])
def test_a_missing_connector_field_is_its_own_refusal(name: str, value: Any, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user, **{name: value}))

    assert problem(answer) == (400, "connector_key_required")
    assert name in answer.json()["detail"]


@pytest.mark.parametrize("key", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_connector_key_that_cannot_be_used_is_refused_now(key: Any, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user, connector_public_key=key))

    assert problem(answer) == (400, "invalid_connector_key")
    assert CONNECTOR["d"] not in answer.content.decode()
    assert not ConsentRequest.objects.exists()


@pytest.mark.parametrize("x", [5, None, ["A" * 43], True])
def test_a_coordinate_that_is_no_text_is_told_as_that(x: Any, api: Developer, vault: Vault) -> None:
    key = {**sealed.public_half(CONNECTOR), "x": x}

    answer = api.post("/request-consent", request_body(vault.user, connector_public_key=key))

    assert problem(answer) == (400, "invalid_connector_key")
    assert answer.json()["detail"] == "connector_public_key.x: must be a text in base64url."


@pytest.mark.parametrize("algorithm", ["RSA-OAEP", "ECDH-ES", "ecdh-es+a256kw", "none", ""])
def test_an_unknown_algorithm_is_refused(algorithm: str, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user, connector_wrapping_alg=algorithm))

    assert problem(answer) == (400, "unsupported_wrapping_algorithm")


def test_a_scope_that_cannot_be_asked_for_is_the_same_answer_for_every_reason(api: Developer, vault: Vault) -> None:
    hidden, hidden_above, blocker = (give_vault(PersonFactory()).user for _ in range(3))
    HiddenScopeFactory(user=hidden, scope=FOOD)
    HiddenScopeFactory(user=hidden_above, scope="attr.lifestyle.*")
    BlockedAppFactory(user=blocker, app=api.app)
    bodies = [
        request_body(vault.user, scope="attr.nonsense.*"),
        request_body(vault.user, scope="not a scope"[:3]),
        request_body(vault.user, scope="pkm.read"),  # not exposable
        request_body(vault.user, scope="attr.contact.*"),  # they hold none of it
        request_body(hidden),
        request_body(hidden_above),
        request_body(blocker),
    ]

    answers = [api.post("/request-consent", body, headers={"X-Request-Id": "the-same-id"}) for body in bodies]

    assert problem(answers[0]) == (400, "invalid_scope")
    assert len({answer.content for answer in answers}) == 1


def test_an_identical_request_is_found_again(api: Developer, vault: Vault) -> None:
    first = api.post("/request-consent", request_body(vault.user))
    again = api.post(
        "/request-consent", request_body(vault.user, requested_expiry=7200, connector_key_id="another-name")
    )

    assert (first.status_code, again.status_code) == (201, 200)
    same = {name: value for name, value in again.json().items() if name != "expires_in"}
    assert same.items() <= first.json().items()
    assert ConsentRequest.objects.count() == 1


def test_one_that_differs_waits_already(api: Developer, vault: Vault) -> None:
    first = api.post("/request-consent", request_body(vault.user)).json()

    answer = api.post("/request-consent", request_body(vault.user, purpose="Something else entirely"))

    assert problem(answer) == (409, "request_pending")
    assert answer.json()["request_id"] == first["request_id"]


def test_an_idempotency_key_repeats_the_first_answer(api: Developer, vault: Vault) -> None:
    key = {"Idempotency-Key": "trip 42/a"}
    first = api.post("/request-consent", request_body(vault.user), headers=key)
    ConsentRequest.objects.filter(status="pending").update(
        status="cancelled", decided_at=datetime.now(UTC), decided_by="app"
    )

    again = api.post("/request-consent", request_body(vault.user), headers=key)
    conflict = api.post("/request-consent", request_body(vault.user, max_reads=1), headers=key)
    of_another_app = (other := Developer.of(AppFactory())).post(
        "/request-consent",
        request_body(vault.user, user_id=known_as(other.app, vault.user), **ANOTHERS, max_reads=1),
        headers=key,
    )

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert problem(conflict) == (409, "idempotency_conflict")
    assert of_another_app.status_code == 201


@pytest.mark.parametrize("key", ["", "k" * 129, "\xc3\xbc" * 129, "a\x07b", "a\x7fb"])
def test_an_idempotency_key_that_does_not_fit_is_400(key: str, api: Developer, vault: Vault) -> None:
    answer = api.post("/request-consent", request_body(vault.user), headers={"Idempotency-Key": key})

    assert problem(answer) == (400, "invalid_request")
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(b"\xc3\xbc" * 128, "\u00fc" * 128), (b"\xff" * 128, "\u00ff" * 128), (b"one\xc2\xa0trip", "one\u00a0trip")],
)
def test_any_other_text_is_an_idempotency_key(sent: bytes, kept: str, api: Developer, vault: Vault) -> None:
    key = {"Idempotency-Key": sent.decode("latin-1")}
    first, again = (api.post("/request-consent", request_body(vault.user), headers=key) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert IdempotencyKey.objects.get().key == kept


@pytest.mark.parametrize("scope", [FOOD, "attr.lifestyle.*", "attr.lifestyle.food.favorite_cuisine"])
def test_a_denial_is_respected_for_an_hour_in_every_overlapping_scope(
    scope: str, api: Developer, vault: Vault, settings: Any
) -> None:
    ConsentRequestFactory(app=api.app, user=vault.user, scope=scope, status="denied")

    answer = api.post("/request-consent", request_body(vault.user))

    assert problem(answer) == (429, "recently_denied")
    assert 3500 <= int(answer["Retry-After"]) <= 3601
    other = Developer.of(AppFactory())
    theirs = request_body(vault.user, user_id=known_as(other.app, vault.user), **ANOTHERS)
    assert other.post("/request-consent", theirs).status_code == 201
    settings.DENIAL_COOLDOWN_SECONDS = 0
    assert api.post("/request-consent", request_body(vault.user)).status_code == 201


def test_an_old_denial_and_one_of_another_scope_are_nothing(api: Developer, vault: Vault) -> None:
    old = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=3601)
    ConsentRequestFactory(app=api.app, user=vault.user, status="denied", created_at=old)
    ConsentRequestFactory(app=api.app, user=vault.user, status="denied", scope="attr.lifestyle.fitness.*")

    assert api.post("/request-consent", request_body(vault.user)).status_code == 201


def test_one_that_waited_too_long_makes_room(api: Developer, vault: Vault) -> None:
    long_ago = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    over = ConsentRequestFactory(app=api.app, user=vault.user, created_at=long_ago)

    again = api.post("/request-consent", request_body(vault.user, connector_public_key=over.connector_public_key))

    assert (again.status_code, again.json()["request_id"] == over.request_id) == (201, False)
    over.refresh_from_db()
    assert over.status == "expired"


def test_a_request_stays_within_its_template(api: Developer, vault: Vault) -> None:
    template = ScopeTemplateFactory(template_id="dining", agreed=True, max_access_duration=3600, max_reads=5)
    fitting = {"purpose": template.purpose, "access_duration": 3600, "max_reads": 5, "template_id": "dining"}
    unfit = request_body(vault.user, template_id="dining", scope="attr.lifestyle.*", purpose="Something else")

    refused = api.post("/request-consent", unfit)

    assert problem(refused) == (400, "invalid_request")
    named = [error["field"] for error in refused.json()["errors"]]
    assert named == ["scope", "purpose", "access_duration", "max_reads"]
    assert api.post("/request-consent", request_body(vault.user, **fitting)).status_code == 201


def test_no_more_than_five_wait_for_one_person(api: Developer, person: User, settings: Any) -> None:
    give_vault(person)

    def ask() -> Any:
        key = sealed.public_half(sealed.generate_connector_key())
        return api.post("/request-consent", request_body(person, connector_public_key=key))

    assert [ask().status_code for _ in range(5)] == [201] * 5
    sixth = ask()
    assert problem(sixth) == (429, "too_many_requests")
    assert 86000 < int(sixth["Retry-After"]) <= 86400
    settings.PENDING_REQUESTS_PER_PERSON = 0
    assert ask().status_code == 201
