"""What a thief can make both clients take as a person's approval: nothing, from a session, the database or a key.

Everything runs on the real application. Whoever owns the database writes what they like into it; what the service then
hands out is what the clients judge.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.apps import apps
from django.conf import settings
from django.db import connection
from joserfc.jwk import OKPKey

from accounts.models import User
from common.sql.triggers import lifted
from consent.approvals.models import ApprovalKey
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import receipts
from consent.ledger.models import Receipt
from consent.log.keys import verifier_keys
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent.rules import RULES
from consent_bridge import sealed
from consent_bridge.approvals import KeyPins, OwnerKeyChanged
from consent_bridge.client import Client
from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.keys import Jwk
from consent_bridge.logs import Memory, Trust, check_receipt
from consent_bridge.notes import VerifierKey
from consent_bridge.opening import open_envelope
from consent_bridge.owner import Owner
from consent_bridge.proofs import read_keys, verify_receipt
from consent_bridge.results import Envelope, MadeRequest, as_json, build
from consent_bridge.signatures import SigningKey, thumbprint
from consent_bridge.signing import certificate, generate_root, signed_rotation
from pkm.vault.models import VaultKey
from tests.bridge.refusals import refused_for
from tests.callers import Developer, signed_in
from tests.consent.decisions import approval_body, refreshed, resumption
from tests.factories import Vault, invitation_of
from tests.system.bridge.steps import CUISINE, ask, refusal
from tests.system.bridge_js.node import run
from tests.system.bridge_js.test_bridge_js import HERE

INVENTED = {("lifestyle", "food"): {"favorite_cuisine": "Invented"}}
TAKEN = {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}


@dataclass
class Scene:
    """A person who approved once, the app that read it, and a thief with a root of their own making."""

    person: User
    owner: Owner
    client: Client
    api: Developer
    made_request: MadeRequest
    key: Jwk
    thief: Vault

    @property
    def grant(self) -> Grant:
        return Grant.objects.select_related("request", "app").get(request__request_id=self.made_request.request_id)

    def forged(self) -> dict[str, Any]:
        """Invented data, sealed to the app's own key, with everything right about it but who signed it."""
        return approval_body(self.grant.request, self.thief, [CUISINE])

    def own_key(self) -> Jwk:
        """The person's key for this app."""
        found: Jwk = ApprovalKey.objects.get().public_key
        return found


@pytest.fixture
def scene(owner: Owner, caller: Client, person: User, api: Developer) -> Scene:
    key = sealed.generate_connector_key()
    made_request = ask(caller, person, key, refresh_policy="continuous")
    owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)
    assert caller.read(made_request, key).data == TAKEN
    new_key = sealed.VaultKey(VaultKey.objects.get().key_id, sealed.generate_vault_key().secret)
    thief = Vault(person, new_key, "", None, INVENTED, generate_root())
    return Scene(person, owner, caller, api, made_request, key, thief)


# --- the database for writing -----------------------------------------------------------------------------------------


def by_nobody(scene: Scene) -> dict[str, Any]:
    return {"ciphertext": scene.forged()["jwe"], "approval": None, "owner_key": None}


def by_a_key_of_their_own(scene: Scene) -> dict[str, Any]:
    body = scene.forged()
    return {"ciphertext": body["jwe"], "approval": body["approval"], "owner_key": body["approval_key"]}


def by_a_key_said_to_be_of_a_reset(scene: Scene) -> dict[str, Any]:
    return {**by_a_key_of_their_own(scene), "owner_key_reset": True}


def under_the_persons_name(scene: Scene) -> dict[str, Any]:
    """Signed by the thief, with the person's key beside it."""
    return {**by_a_key_of_their_own(scene), "owner_key": Export.objects.get().owner_key}


def beside_the_old_approval(scene: Scene) -> dict[str, Any]:
    return {"ciphertext": scene.forged()["jwe"]}


def by_the_receipt_key(scene: Scene) -> dict[str, Any]:
    body = scene.forged()
    signed = receipts.sign(claims_of(body["approval"]), "consent-approval+jwt")
    public = OKPKey.import_key(dict(settings.RECEIPT_KEYS[0])).as_dict(private=False)
    return {
        "ciphertext": body["jwe"],
        "approval": signed,
        "owner_key": {name: public[name] for name in ("kty", "crv", "x")},
    }


def by_a_key_that_signs_everything(scene: Scene) -> dict[str, Any]:
    """A point of order 1: signatures of it are made without a private key."""
    key = {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(bytes([1]) + bytes(31))}
    return {**by_a_key_of_their_own(scene), "owner_key": key}


def with_steps_of_their_own(scene: Scene) -> dict[str, Any]:
    """A history that leads to the thief's key, from a key that nobody pinned."""
    ApprovalKey.objects.update(history=[step_of(scene, generate_root(), scene.thief.root)])
    return by_a_key_of_their_own(scene)


def with_a_step_from_the_persons_key(scene: Scene) -> dict[str, Any]:
    """The same from the person's own key, in whose name the thief signs."""
    step = step_of(scene, generate_root(), scene.thief.root)
    own = scene.own_key()
    payload = encoded({**json.loads(decode_base64url(step["payload"], "step")), "old": own})
    key = scene.thief.root.app_key(settings.ISSUER, scene.made_request.app_id)
    header = encoded({"alg": "EdDSA", "typ": "approval-key-rotation+jwt", "kid": thumbprint(own)})
    forged = {"protected": header, "signature": raw_signature(key, f"{header}.{payload}")}
    _, by_new = [key.sign_payload("approval-key-rotation+jwt", payload).split(".")] * 2
    signatures = [forged, {"protected": by_new[0], "signature": by_new[2]}]
    ApprovalKey.objects.update(history=[{"payload": payload, "signatures": signatures}])
    return by_a_key_of_their_own(scene)


def for_longer(scene: Scene) -> dict[str, Any]:
    """What the person signed, with another end."""
    header, payload, signature = str(Export.objects.get().approval).split(".")
    claims = json.dumps({**json.loads(decode_base64url(payload, "claims")), "ends_at": 2**40})
    return {"approval": f"{header}.{encode_base64url(claims.encode())}.{signature}"}


def of_another_request(scene: Scene) -> dict[str, Any]:
    """The person's own approval of something else."""
    other = scene.client.request_consent(
        invitation_of(scene.person), "attr.lifestyle.*", purpose="Suggest a way to spend the evening", key=scene.key
    )
    scene.owner.approve(scene.owner.review(other.request_id), attributes=[CUISINE], invited=True)
    theirs = Export.objects.get(grant__request__request_id=other.request_id)
    return {"ciphertext": theirs.ciphertext, "approval": theirs.approval}


FORGERIES = {  # what a client that knows the person, and one that meets them now, names as the reason
    by_a_key_of_their_own: ("owner_key", None),
    by_a_key_said_to_be_of_a_reset: ("reset", "reset"),
    under_the_persons_name: ("kid", "kid"),
    beside_the_old_approval: ("export_sha256", "export_sha256"),
    by_the_receipt_key: ("owner_key", None),
    by_a_key_that_signs_everything: ("x", "x"),
    with_steps_of_their_own: ("owner_key", None),
    with_a_step_from_the_persons_key: ("signature", None),
    for_longer: ("signature", "signature"),
    of_another_request: ("request_id", "request_id"),
}


def claims_of(jws: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(decode_base64url(jws.split(".")[1], "claims"))
    return found


def encoded(value: object) -> str:
    return encode_base64url(json.dumps(value).encode())


def raw_signature(key: SigningKey, text: str) -> str:
    return encode_base64url(Ed25519PrivateKey.from_private_bytes(key.seed).sign(text.encode()))


def step_of(scene: Scene, old: sealed.ApprovalRoot, new: sealed.ApprovalRoot) -> dict[str, Any]:
    """The app's step from one root to the other."""
    names = {"issuer": settings.ISSUER, "user_id": scene.person.public_id, "root_seq": 1}
    return signed_rotation(old, new, **names, apps={scene.made_request.app_id: (scene.made_request.user_id, 1)})[1]


def handed_out(scene: Scene, forge: Any) -> dict[str, Any]:
    """What the service answers once this was written into its database; afterwards all is as before."""
    there, known = Export.objects.values().get(grant=scene.grant), ApprovalKey.objects.values().get()
    write(scene, forge(scene))
    answer = scene.api.get("/consent-export", request_id=scene.made_request.request_id)
    assert answer.status_code == 200, answer.content
    write(scene, {name: there[name] for name in ("ciphertext", "approval", "owner_key", "owner_key_reset")})
    ApprovalKey.objects.update(history=known["history"])
    body: dict[str, Any] = answer.json()
    return body


def write(scene: Scene, columns: dict[str, Any]) -> None:
    rules = [rule for rule in RULES if rule.table == "consent_exports" and rule.statements(connection.vendor)]
    with lifted(connection, rules):
        Export.objects.filter(grant=scene.grant).update(**columns)


def opened(scene: Scene, body: dict[str, Any], pins: KeyPins) -> Any:
    """The data that the client for Python takes, or why it refuses."""
    try:
        return open_envelope(build(Envelope, body), scene.made_request, scene.key, pins=pins).data
    except OwnerKeyChanged as changed:
        return "reset" if changed.reset else changed.member
    except Refused as refused:
        return refused.member


def opened_in_node(scene: Scene, cases: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same by the client for Node, of all cases."""
    pins = scene.client.pins.dump()
    file = folder / "cases.json"
    file.write_text(
        json.dumps({"made_request": as_json(scene.made_request), "key": scene.key, "pins": pins, "envelopes": cases})
    )
    found: dict[str, Any] = json.loads(run(HERE / "opens.mjs", file))
    return found


def test_who_owns_the_database_makes_no_approval(package: Path, scene: Scene, tmp_path: Path) -> None:
    """A client that knows the person refuses every one. One that meets them now takes the key as it is: only what is
    signed by whoever that key belongs to."""
    stored = scene.client.pins.dump()
    cases, expected, found = {}, {}, {}
    for forge, (known, new) in FORGERIES.items():
        body = handed_out(scene, forge)
        invented = {"lifestyle": {"food": INVENTED["lifestyle", "food"]}}
        for name, reason, pins in (("known", known, KeyPins(stored)), ("new", new or invented, KeyPins())):
            case = f"{forge.__name__}, {name}"
            cases[case], expected[case] = {"envelope": body, "known": name == "known"}, reason
            found[case] = opened(scene, body, pins)

    assert found == expected
    assert opened_in_node(scene, cases, tmp_path) == expected
    assert scene.client.pins.dump() == stored
    assert scene.client.read(scene.made_request, scene.key).data == TAKEN


def test_an_export_that_nobody_signed_is_refused(package: Path, scene: Scene, tmp_path: Path) -> None:
    body = handed_out(scene, by_nobody)

    with suppress(BadAnswer):  # where the answer tells that there is none; else it is empty
        assert opened(scene, body, KeyPins()) is None
    assert opened_in_node(scene, {"new": {"envelope": body, "known": False}}, tmp_path) == {"new": None}


def test_who_met_the_thief_first_sees_the_change(scene: Scene) -> None:
    """What is pinned at first use may be the thief's: the person's own next approval then shows it."""
    now = 1_800_000_000
    pins = KeyPins(clock=lambda: now)
    assert opened(scene, handed_out(scene, by_a_key_of_their_own), pins) != TAKEN
    theirs = scene.api.get("/consent-export", request_id=scene.made_request.request_id).json()

    assert opened(scene, theirs, pins) == "owner_key"
    now += 7 * 86400
    pins.accept(scene.made_request.issuer, scene.made_request.user_id, scene.own_key())
    assert opened(scene, theirs, pins) == TAKEN


# --- a session --------------------------------------------------------------------------------------------------------


def test_a_stolen_session_makes_nothing_that_is_read(scene: Scene) -> None:
    """Even one of the last ten minutes, with everything but the vault."""
    thief = signed_in(scene.person)
    other = ask(scene.client, scene.person, scene.key, access_duration=7200)
    waiting = ConsentRequest.objects.get(request_id=other.request_id)
    body = approval_body(waiting, scene.thief, [CUISINE])
    own = {"issuer": settings.ISSUER, "user_id": scene.made_request.user_id, "app_id": scene.made_request.app_id}
    key_id = scene.thief.key.key_id
    root = {
        "signing_public_key": scene.thief.root.key.public,
        "signing_jwe": sealed.seal_root(scene.thief.root, scene.thief.key.secret, key_id, scene.person.public_id),
    }
    steps = [step_of(scene, generate_root(), scene.thief.root)]
    tries = [
        (thief.post, f"/consent/requests/{other.request_id}/decision", body),
        (thief.post, f"/consent/requests/{other.request_id}/decision", without(body, *SIGNED)),
        (thief.post, f"/consent/requests/{other.request_id}/decision",
         {**body, "approval_key_certificate": certificate(scene.thief.root, **own)}),
        (thief.put, "/vault/signing-key", root),
        (thief.put, "/vault/signing-key", {**root, "rotation": steps}),
        (thief.put, f"/consent/grants/{scene.grant.grant_id}/export", refreshed(scene.thief, scene.grant)),
        (thief.put, f"/consent/grants/{scene.grant.grant_id}/export",
         without(refreshed(scene.thief, scene.grant), *SIGNED)),
    ]  # fmt: skip

    assert [code_of(send(path, given)) for send, path, given in tries] == [
        (400, "approval_mismatch"),
        (400, "approval_mismatch"),
        (400, "approval_mismatch"),
        (403, "rotation_required"),
        (400, "approval_mismatch"),
        (400, "approval_mismatch"),
        (400, "approval_mismatch"),
    ]
    assert refusal(scene.client.read, other, scene.key) == ("authorization_pending", 409)
    assert scene.client.read(scene.made_request, scene.key).data == TAKEN
    assert Export.objects.count() == 1


def test_a_stolen_session_lets_no_paused_grant_go_on(scene: Scene) -> None:
    thief, grant = signed_in(scene.person), scene.grant
    scene.owner.pause(grant.grant_id)
    address = f"/consent/grants/{grant.grant_id}"
    nonce = thief.get(f"{address}/nonce").json()["nonce"]
    signed = resumption(scene.thief, grant, nonce)

    for body in ({}, signed, without(signed, "approval_key", "approval_key_certificate")):
        assert code_of(thief.post(f"{address}/resume", body)) == (400, "approval_mismatch")
    assert refusal(scene.client.read, scene.made_request, scene.key) == ("grant_paused", 403)
    assert scene.owner.resume(grant.grant_id).grant.status == "active"
    assert scene.client.read(scene.made_request, scene.key).data == TAKEN


SIGNED = ("approval", "approval_key", "approval_key_certificate")


def without(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# --- a copy of the database, and the receipt key ----------------------------------------------------------------------


def test_a_copy_of_the_database_holds_nothing_to_sign_with(scene: Scene) -> None:
    """The root lies there under the vault key alone; neither it nor a key of it is anywhere in any form."""
    root = scene.owner._approval_root()
    keys = [root.key, root.app_key(settings.ISSUER, scene.made_request.app_id)]
    copied = "\n".join(str(row) for model in apps.get_models() for row in model._base_manager.values_list().iterator())
    hidden = [root.secret, *(key.seed for key in keys)]

    assert VaultKey.objects.get().signing_jwe in copied  # so the search could find something
    assert keys[1].public["x"] in copied
    for secret in hidden:
        assert not [form for form in (encode_base64url(secret), secret.hex(), repr(secret)[2:-1]) if form in copied]
    with pytest.raises(Refused):
        sealed.open_root(
            VaultKey.objects.get().signing_jwe, scene.thief.key.secret, scene.thief.key.key_id, scene.person.public_id
        )


def test_the_receipt_key_alone_makes_a_receipt_without_a_proof(scene: Scene) -> None:
    """It says what was never approved, and verifies; what it tells of is in no log and has no approval."""
    sequence_and_sign()
    jws = Receipt.objects.get().app_jws
    claims = {**claims_of(jws), "pii_types": ["financial.income.bracket"]}
    forged = receipts.sign(claims, "consent-receipt+jwt")
    body = scene.api.get(f"/receipts/{claims['receipt_id']}?proof=1").json()
    keys = read_keys(receipts.public_keys())
    memory = Memory(Trust(tuple(VerifierKey.parse(str(key)) for key in verifier_keys())))

    assert verify_receipt(jws, keys) == check(jws, keys, body, memory)
    assert verify_receipt(forged, keys) == claims
    with refused_for("receipt_digest"):
        check(forged, keys, body, memory)


def check(jws: str, keys: Any, body: dict[str, Any], memory: Memory) -> dict[str, Any]:
    claims = verify_receipt(jws, keys)
    check_receipt(claims, body, memory)
    return claims
