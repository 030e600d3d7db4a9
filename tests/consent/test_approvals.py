"""Nobody lets anybody read without the vault: what a stolen session, a copied row or an old signature can do."""

import base64
import json
import time
from typing import Any

import pytest
from django.conf import settings

from accounts.models import SecurityChange
from consent.approvals.models import ApprovalKey
from consent.decisions import actions as decision_actions
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry, Receipt
from consent.ledger.receipts import claims_of, sign
from consent.requests.models import ConsentRequest
from consent_bridge import sealed, signatures
from consent_bridge.signing import certificate, signed_rotation
from pkm.signatures import sha256
from tests.callers import JsonClient, signed_in
from tests.consent.decisions import approval, approval_body, refreshed, resumption
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, Vault, give_vault

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"
SIGNED = ("approval", "approval_key", "approval_key_certificate")
# the y coordinates 0, 1, -1, of order 8, and 1 written beyond the field, little-endian
LOW_ORDER = [
    bytes(32),
    bytes([1]) + bytes(31),
    bytes([0xEC]) + bytes([0xFF] * 30) + bytes([0x7F]),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes([0xEE]) + bytes([0xFF] * 30) + bytes([0x7F]),
]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, refresh_policy="continuous")
    return made


@pytest.fixture
def grant(consent_request: ConsentRequest, vault: Vault) -> Grant:
    decision_actions.approve(
        request_id=consent_request.request_id, by=vault.user, body=approval(consent_request, vault)
    )
    return Grant.objects.get()


def decide(owner: JsonClient, consent_request: ConsentRequest, body: dict[str, Any]) -> tuple[int, str, Any]:
    answer = owner.post(f"/consent/requests/{consent_request.request_id}/decision", body)
    outcome = answer.json()
    return answer.status_code, outcome.get("code", ""), outcome.get("member")


def resigned(body: dict[str, Any], key: signatures.SigningKey, typ: str = "", **claims: Any) -> str:
    """The approval of a body with other claims, under this key."""
    own = json.loads(base64.urlsafe_b64decode(body["approval"].split(".")[1] + "=="))
    return key.sign(typ or "consent-approval+jwt", {**own, **claims})


def app_key(vault: Vault, consent_request: ConsentRequest) -> signatures.SigningKey:
    return vault.root.app_key(settings.ISSUER, consent_request.app.app_id)


def test_an_approval_is_kept_told_and_bound(grant: Grant, consent_request: ConsentRequest) -> None:
    export = Export.objects.get()
    claims = json.loads(base64.urlsafe_b64decode(str(export.approval).split(".")[1] + "=="))
    receipt = claims_of(base64.urlsafe_b64decode(Receipt.objects.get().jws.split(".")[1] + "=="))
    entries = AuditEntry.objects.filter(kind="approved").select_related("kept")

    assert (claims["export_sha256"], claims["revision"]) == (sha256(str(export.ciphertext)), 1)
    assert (claims["iat"], claims["ends_at"]) == (grant.starts_at.timestamp(), grant.expires_at.timestamp())
    assert claims["approved_attributes"] == sorted(grant.approved_attributes)
    bound = {entry.facts["approval_sha256"] for entry in entries} | {receipt["approval_sha256"]}
    assert bound == {sha256(str(export.approval))}
    assert ApprovalKey.objects.get().public_key == export.owner_key


@pytest.mark.parametrize("member", SIGNED)
def test_without_a_signature_nothing_is_approved(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, member: str
) -> None:
    body = approval_body(consent_request, vault)
    del body[member]

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", member)
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("iss", "https://elsewhere.example"),
        ("sub", "usr_another"),
        ("aud", "app_another"),
        ("iat", True),
        ("iat", 10**400),
        ("ends_at", 2**40),
        ("request_id", "req_another"),
        ("request_digest", "A" * 43),
        ("revision", 2),
        ("access_duration", 86401),
        ("approved_attributes", [DIET]),
        ("export_sha256", "A" * 43),
        ("more", 1),
    ],
)
def test_a_claim_that_differs_is_named(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, claim: str, value: Any
) -> None:
    body = approval_body(consent_request, vault)
    body["approval"] = resigned(body, app_key(vault, consent_request), **{claim: value})

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", claim)
    assert not Grant.objects.exists()


@pytest.mark.parametrize("seconds", [-301, 330])  # the second may pass while it is decided
def test_an_approval_of_another_time_is_none(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, seconds: int
) -> None:
    body = approval_body(consent_request, vault)
    body["approval"] = resigned(body, app_key(vault, consent_request), iat=int(time.time()) + seconds)

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", "iat")
    assert not Grant.objects.exists()


def test_a_stolen_session_signs_with_keys_of_its_own_in_vain(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault
) -> None:
    thief = sealed.generate_root()
    body = approval_body(consent_request, Vault(vault.user, vault.key, "", None, vault.segments, thief))
    own_certificate = certificate(vault.root, settings.ISSUER, consent_request.pairwise_id, consent_request.app.app_id)

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", "approval_key_certificate")
    assert decide(owner, consent_request, {**body, "approval_key_certificate": own_certificate})[:2] == (
        400,
        "approval_mismatch",
    )
    root = sealed.new_root(vault.key.secret, vault.key.key_id, vault.user.public_id)[1]
    assert signed_in(vault.user, seconds_ago=9999).put("/vault/signing-key", root).json()["code"] == (
        "reauthentication_required"
    )
    assert owner.put("/vault/signing-key", root).json()["code"] == "rotation_required"
    assert not Grant.objects.exists()


def test_the_receipt_key_makes_no_approval(owner: JsonClient, consent_request: ConsentRequest, vault: Vault) -> None:
    body = approval_body(consent_request, vault)
    claims = json.loads(base64.urlsafe_b64decode(body["approval"].split(".")[1] + "=="))
    body["approval"] = sign(claims, "consent-approval+jwt")

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", "kid")


@pytest.mark.parametrize(
    ("header", "member"),
    [
        ({"alg": "none"}, "alg"),
        ({"alg": "Ed25519"}, "alg"),
        ({"alg": "HS256"}, "alg"),
        ({"typ": "approval-key+jwt"}, "typ"),
        ({"typ": "JWT"}, "typ"),
        ({"kid": "another"}, "kid"),
        ({"jwk": {}}, "jwk"),
        ({"crit": ["exp"]}, "crit"),
        ({"\ud800": 1}, "header"),
    ],
)
def test_a_header_that_is_not_exactly_ours_is_refused(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, header: dict[str, Any], member: str
) -> None:
    body, key = approval_body(consent_request, vault), app_key(vault, consent_request)
    payload = body["approval"].split(".")[1]
    own = {"alg": "EdDSA", "typ": "consent-approval+jwt", "kid": signatures.thumbprint(key.public)}
    signed = f"{b64(json.dumps({**own, **header}).encode())}.{payload}"
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signature = Ed25519PrivateKey.from_private_bytes(key.seed).sign(signed.encode())
    body["approval"] = f"{signed}.{b64(signature)}"

    assert decide(owner, consent_request, body) == (400, "approval_mismatch", member)


@pytest.mark.parametrize(
    "key",
    [
        *({"kty": "OKP", "crv": "Ed25519", "x": b64(raw)} for raw in LOW_ORDER),
        {"kty": "OKP", "crv": "X25519", "x": b64(bytes([9]) + bytes(31))},
        {"kty": "OKP", "crv": "Ed25519", "x": b64(bytes([2]) + bytes(31))},
        {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
        {"kty": "OKP", "crv": "Ed25519", "x": 7},
        {"kty": "OKP", "crv": "Ed25519"},
        {"kty": "OKP", "crv": "Ed25519", "x": b64(bytes(32)), "alg": "EdDSA"},
    ],
)
def test_a_key_that_is_none_is_refused(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, key: dict[str, Any]
) -> None:
    body = {**approval_body(consent_request, vault), "approval_key": key}
    assert decide(owner, consent_request, body)[:2] == (400, "approval_mismatch")
    root = {"signing_public_key": key, "signing_jwe": "a.b.c.d.e"}
    assert signed_in(give_rootless()).put("/vault/signing-key", root).json()["code"] == "approval_mismatch"


def give_rootless() -> Any:
    """Somebody with a vault that was made without a root."""
    from pkm.vault.models import VaultKey

    user = give_vault(PersonFactory()).user
    VaultKey.objects.filter(user=user).update(signing_public_key=None, signing_jwe="")
    return user


def test_what_was_signed_for_another_app_or_request_is_refused(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault
) -> None:
    elsewhere = ConsentRequestFactory(user=vault.user, app=AppFactory())
    again = ConsentRequestFactory(user=vault.user, app=consent_request.app, scope="attr.lifestyle.*")
    body, other = approval_body(consent_request, vault), approval_body(elsewhere, vault)

    of_other_app = {**body, **{name: other[name] for name in SIGNED}}
    of_other_request = {**approval_body(again, vault, [CUISINE]), "approval": body["approval"]}
    assert decide(owner, consent_request, of_other_app) == (400, "approval_mismatch", "approval_key_certificate")
    assert decide(owner, again, of_other_request)[:2] == (400, "approval_mismatch")
    assert not Grant.objects.exists()


def test_a_vault_without_a_root_sets_it_first(vault: Vault) -> None:
    user = give_rootless()
    request = ConsentRequestFactory(user=user)
    own_vault = Vault(user, vault.key, "", None, vault.segments, vault.root)
    answer = decide(signed_in(user), request, approval_body(request, own_vault))

    assert answer == (400, "approval_mismatch", "approval_key_certificate")


def test_the_first_root_is_set_once_told_and_written_down(db: None) -> None:
    from pkm.vault.models import VaultKey

    user = give_rootless()
    key_id = VaultKey.objects.get(user=user).key_id
    _, members = sealed.new_root(bytes(32), key_id, user.public_id)
    owner = signed_in(user)

    first = owner.put("/vault/signing-key", members)
    again = owner.put("/vault/signing-key", members)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["signing_public_key"] == members["signing_public_key"]
    assert SecurityChange.objects.filter(user=user, kind="signing_key_set").count() == 1
    entry = AuditEntry.objects.select_related("kept").get(kind="signing_key_set")
    assert entry.facts["new"] == signatures.thumbprint(members["signing_public_key"])


def test_a_refresh_keeps_the_end_and_approves_no_more(owner: JsonClient, grant: Grant, vault: Vault) -> None:
    address = f"/consent/grants/{grant.grant_id}/export"
    later = refreshed(vault, grant, ends_at=int(grant.expires_at.timestamp()) + 60)
    widened = refreshed(vault, grant)
    claims = {"approved_attributes": [*sorted(grant.approved_attributes), "lifestyle.food.own_dish"]}
    widened["approval"] = resigned(widened, app_key(vault, grant.request), **claims)
    first = {**refreshed(vault, grant), "approval": Export.objects.get().approval}

    problems = [owner.put(address, body).json() for body in (later, widened, first)]
    assert [one["code"] for one in problems] == ["approval_mismatch"] * 3
    assert [one["member"] for one in problems[:2]] == ["ends_at", "approved_attributes"]
    assert owner.put(address, refreshed(vault, grant, approved_attributes=[CUISINE])).status_code == 200
    assert Export.objects.get(revision=2).approved_attributes == [CUISINE]
    assert AuditEntry.objects.filter(kind="export_updated").count() == 2


def test_resuming_takes_a_signature_over_a_nonce_that_is_good_once(
    owner: JsonClient, grant: Grant, vault: Vault
) -> None:
    grant_actions.pause(grant_id=grant.grant_id, by=vault.user)
    address = f"/consent/grants/{grant.grant_id}"
    nonce = owner.get(f"{address}/nonce").json()["nonce"]
    thief = Vault(vault.user, vault.key, "", None, {}, sealed.generate_root())

    refused = [{}, resumption(vault, grant, "made-up"), resumption(thief, grant, nonce)]
    assert [owner.post(f"{address}/resume", body).json()["code"] for body in refused] == ["approval_mismatch"] * 3
    assert Grant.objects.get().status == "paused"
    body = resumption(vault, grant, nonce)
    assert owner.post(f"{address}/resume", body).status_code == 200
    grant_actions.pause(grant_id=grant.grant_id, by=vault.user)
    assert owner.post(f"{address}/resume", body).json()["member"] == "nonce"
    assert Grant.objects.get().status == "paused"
    assert AuditEntry.objects.filter(kind="resumed").count() == 2


def test_a_new_root_carries_every_app_over(owner: JsonClient, grant: Grant, vault: Vault) -> None:
    new, members = sealed.new_root(vault.key.secret, vault.key.key_id, vault.user.public_id)
    apps = {grant.app.app_id: (grant.request.pairwise_id, 1)}
    names = {"issuer": settings.ISSUER, "user_id": vault.user.public_id, "root_seq": 1}
    without = signed_rotation(vault.root, new, **names, apps={})
    stranger = signed_rotation(sealed.generate_root(), new, **names, apps=apps)
    rotation = signed_rotation(vault.root, new, **names, apps=apps)

    for unfit in (without, stranger, rotation[::-1]):
        assert owner.put("/vault/signing-key", {**members, "rotation": unfit}).json()["code"] == "approval_mismatch"
    assert owner.put("/vault/signing-key", {**members, "rotation": rotation}).status_code == 200
    known = ApprovalKey.objects.get()
    assert (known.public_key, known.history) == (new.app_key(settings.ISSUER, grant.app.app_id).public, rotation[1:])
    old_key = refreshed(vault, grant)
    assert owner.put(f"/consent/grants/{grant.grant_id}/export", old_key).json()["code"] == "approval_mismatch"
    renewed = Vault(vault.user, vault.key, "", None, vault.segments, new)
    assert owner.put(f"/consent/grants/{grant.grant_id}/export", refreshed(renewed, grant)).status_code == 200
    assert not Export.objects.get(revision=2).owner_key_reset


def test_another_vault_tells_apps_that_its_key_is_new(grant: Grant, vault: Vault) -> None:
    from pkm.vault.models import VaultKey

    VaultKey.objects.filter(user=vault.user).delete()  # as at the end of a reset
    new = give_vault(vault.user, {})
    vault_now = Vault(new.user, new.key, "", None, vault.segments, new.root)
    newer = ConsentRequestFactory(user=vault.user, app=grant.app)
    decision_actions.approve(request_id=newer.request_id, by=vault.user, body=approval(newer, vault_now))

    assert Export.objects.get(grant__request=newer).owner_key_reset
    assert ApprovalKey.objects.get().history == []


def test_at_another_address_of_the_service_each_app_gets_another_key(
    owner: JsonClient, consent_request: ConsentRequest, vault: Vault, settings: Any
) -> None:
    assert (
        owner.post(
            f"/consent/requests/{consent_request.request_id}/decision", approval_body(consent_request, vault)
        ).status_code
        == 200
    )
    before = ApprovalKey.objects.get()
    settings.ISSUER = "https://moved.example"
    again = ConsentRequestFactory(app=consent_request.app, user=vault.user, connector_key_id="key-2")

    answer = owner.post(f"/consent/requests/{again.request_id}/decision", approval_body(again, vault))

    assert answer.status_code == 200, answer.content
    now = ApprovalKey.objects.get()
    assert (now.issuer, now.root, now.history, now.is_reset) == (settings.ISSUER, before.root, [], False)
    assert now.public_key != before.public_key
