"""Whoever approves signs: the root that a vault holds, the key of each app that comes of it, and what these say."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from consent_bridge import jwe
from consent_bridge.errors import Refused
from consent_bridge.segments import check_vault_key
from consent_bridge.signatures import Jwk, SigningKey, sha256, sign_by_both

APPROVAL_TYP, CERTIFICATE_TYP = "consent-approval+jwt", "approval-key+jwt"
RESUME_TYP, ROTATION_TYP = "consent-resume+jwt", "approval-key-rotation+jwt"
_ROOT_BYTES = 32
_TYP = "vault-signing-root+jwe"

PROFILE = jwe.Profile(
    name="approval root",
    alg=jwe.ALG_VAULT,
    members={"typ": jwe.exactly(_TYP), "kid": jwe.vault_key_name, "sub": jwe.text},
)


@dataclass(frozen=True)
class ApprovalRoot:
    """32 random bytes, from which all of a person's approval keys come; it lies sealed in the vault."""

    secret: bytes

    @property
    def key(self) -> SigningKey:
        """The root key, which certifies the keys of the apps and which the service knows."""
        return SigningKey(self._derived(b"consent-approval-root"))

    def app_key(self, issuer: str, app_id: str) -> SigningKey:
        """The key of one app: no two of them share one."""
        return SigningKey(self._derived(b"\0".join([b"consent-approval-app", issuer.encode(), app_id.encode()])))

    def _derived(self, info: bytes) -> bytes:
        return HKDF(SHA256(), _ROOT_BYTES, salt=None, info=info).derive(self.secret)


def generate_root() -> ApprovalRoot:
    """A fresh one."""
    return ApprovalRoot(secrets.token_bytes(_ROOT_BYTES))


def seal_root(root: ApprovalRoot, vault_key: bytes, key_id: str, user_id: str) -> str:
    """The root under the vault key: `signing_jwe`."""
    header = {"typ": _TYP, "kid": key_id, "sub": user_id}
    return jwe.seal(header, root.secret, jwe.symmetric(check_vault_key(vault_key)), PROFILE)


def open_root(sealed: str, vault_key: bytes, key_id: str, user_id: str) -> ApprovalRoot:
    """The root that the vault holds; refuses one of another vault or person."""
    jwe.equal({"kid": key_id, "sub": user_id})(jwe.read_header(sealed, PROFILE))
    secret = jwe.open_sealed(sealed, jwe.symmetric(check_vault_key(vault_key)), "approval root")
    if len(secret) != _ROOT_BYTES:
        raise Refused(f"the approval root has {len(secret)} bytes, not {_ROOT_BYTES}")
    return ApprovalRoot(secret)


def new_root(vault_key: bytes, key_id: str, user_id: str) -> tuple[ApprovalRoot, dict[str, Any]]:
    """A fresh root, and the two members that tell the service of it."""
    root = generate_root()
    sealed = seal_root(root, vault_key, key_id, user_id)
    return root, {"signing_public_key": root.key.public, "signing_jwe": sealed}


def certificate(root: ApprovalRoot, issuer: str, user_id: str, app_id: str) -> str:
    """That the app's key is this person's, for the service alone."""
    public = root.app_key(issuer, app_id).public
    claims = {"iss": issuer, "sub": user_id, "aud": app_id, "jwk": public, "iat": int(time.time())}
    return root.key.sign(CERTIFICATE_TYP, claims)


def signed_approval(
    root: ApprovalRoot,
    header: Mapping[str, Any],
    *,
    approved_attributes: list[str],
    access_duration: int,
    sealed: str,
    ends_at: int | None = None,
) -> dict[str, Any]:
    """`approval`, `approval_key` and `approval_key_certificate` of an export, `header` being its protected members.

    `ends_at` (seconds since 1970) is that of the first revision; without it this is the first.
    """
    issuer, user_id, app_id = header["iss"], header["sub"], header["aud"]
    key, now = root.app_key(issuer, app_id), int(time.time())
    claims = {
        "iss": issuer,
        "sub": user_id,
        "aud": app_id,
        "iat": now,
        "ends_at": now + access_duration if ends_at is None else ends_at,
        "request_id": header["request_id"],
        "request_digest": header["request_digest"],
        "revision": header["revision"],
        "access_duration": access_duration,
        "approved_attributes": sorted(approved_attributes),
        "export_sha256": sha256(sealed),
    }
    return {
        "approval": key.sign(APPROVAL_TYP, claims),
        "approval_key": key.public,
        "approval_key_certificate": certificate(root, issuer, user_id, app_id),
    }


def signed_resumption(
    root: ApprovalRoot, *, issuer: str, user_id: str, app_id: str, grant_id: str, request_digest: str, nonce: str
) -> dict[str, Any]:
    """The same three members, of letting a paused grant go on; `nonce` is the service's, good once."""
    key = root.app_key(issuer, app_id)
    names = {"iss": issuer, "sub": user_id, "aud": app_id, "grant_id": grant_id, "request_digest": request_digest}
    claims = {**names, "nonce": nonce, "iat": int(time.time())}
    return {
        "approval": key.sign(RESUME_TYP, claims),
        "approval_key": key.public,
        "approval_key_certificate": certificate(root, issuer, user_id, app_id),
    }


def signed_rotation(
    old: ApprovalRoot,
    new: ApprovalRoot,
    *,
    issuer: str,
    user_id: str,
    root_seq: int,
    apps: Mapping[str, tuple[str, int]],
) -> list[dict[str, Any]]:
    """What lets `new` take the place of `old`: a step for the root, then one for each app.

    `apps` says of each what it calls the person, and the number of its step; the root's step alone has their own ID.
    """
    steps = [(user_id, issuer, root_seq, old.key, new.key)]
    steps += [(name, app, seq, old.app_key(issuer, app), new.app_key(issuer, app)) for app, (name, seq) in apps.items()]
    return [_step(issuer, *step) for step in steps]


def _step(issuer: str, user_id: str, audience: str, seq: int, old: SigningKey, new: SigningKey) -> dict[str, Any]:
    names: dict[str, Any] = {"iss": issuer, "sub": user_id, "aud": audience, "seq": seq}
    keys: dict[str, Jwk] = {"old": old.public, "new": new.public}
    return sign_by_both(ROTATION_TYP, {**names, **keys, "iat": int(time.time())}, (old, new))
