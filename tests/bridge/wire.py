"""The service's answers as the contract has them."""

import time

from consent_bridge.sealed import (
    ExportContent,
    ExportHeader,
    Source,
    generate_connector_key,
    generate_root,
    public_half,
    request_digest,
    seal_export,
    signed_approval,
    thumbprint,
)

TOKEN = "cr_live_abcdefgh_" + "s" * 43
KEY = generate_connector_key()
SCOPE = "attr.lifestyle.food.*"
ENTRY = {
    "scope": SCOPE,
    "scope_handle": "s_0f3a00000000",
    "label": "Food and drink",
    "description": "What you like to eat",
    "domain": "lifestyle",
    "sensitivity_tier": "standard",
    "attributes": ["lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"],
    "max_access_duration": 31536000,
    "updated_at": "2026-11-20T10:00:00Z",
}
DISCOVERY = {
    "next_cursor": None,
    "user_id": "usr_a",
    "available_domains": ["lifestyle"],
    "scopes": [SCOPE],
    "scope_entries": [ENTRY],
    "runtime": {
        "can_approve": True,
        "wrapping_algorithms": ["ECDH-ES+A256KW"],
        "connector_curves": ["X25519", "P-256"],
        "refresh_policies": ["snapshot", "continuous"],
        "access_duration": {"default": 86400, "min": 300, "max": 31536000},
        "interval": 5,
    },
}
ROOT = generate_root()
PURPOSE = "Suggest food"
FROZEN = {
    "request_id": "req_a",
    "app_id": "app_a",
    "app_name": "Food guide",
    "user_id": "usr_a",
    "scope": SCOPE,
    "attributes": ["lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"],
    "purpose": PURPOSE,
    "connector_thumbprint": thumbprint(KEY),
    "access_duration": 86400,
    "expires_at": "2026-11-21T10:00:00Z",
    "required_attributes": None,
    "optional_attributes": None,
    "max_reads": None,
    "refresh_policy": "snapshot",
    "binding_message": None,
}
DIGEST = request_digest(FROZEN)
MADE_REQUEST = {
    "request_id": "req_a",
    "status": "pending",
    "app_id": "app_a",
    "issuer": "https://consent.example",
    "user_id": "usr_a",
    "scope": SCOPE,
    "scope_label": "Food and drink",
    "approval_url": "https://consent.example/consent/requests/req_a/",
    "interval": 5,
    "expires_in": 86400,
    "expires_at": "2026-11-21T10:00:00Z",
    "access_duration": 86400,
    "connector_key_id": thumbprint(KEY),
    "connector_fingerprint": thumbprint(KEY),
    "request": FROZEN,
    "request_digest": DIGEST,
    "created_at": "2026-11-20T10:00:00Z",
}


def request_answer(**frozen):
    """The answer to a request, all of one piece: what `frozen` changes is changed in the digest too."""
    request = {**FROZEN, **frozen}
    stated = {member: request[member] for member in ("user_id", "scope", "access_duration")}
    return {**MADE_REQUEST, **stated, "request": request, "request_digest": request_digest(request)}


PENDING = {
    "request_id": "req_a",
    "status": "pending",
    "user_id": "usr_a",
    "scope": SCOPE,
    "interval": 5,
    "created_at": "2026-11-20T10:00:00Z",
    "expires_at": "2026-11-21T10:00:00Z",
    "decided_at": None,
    "receipt_id": None,
    "sequence": 40,
    "grant": None,
}
GRANT = {
    "grant_id": "grt_a",
    "status": "active",
    "expires_at": "2026-11-21T10:00:00Z",
    "reads": 0,
    "reads_remaining": None,
    "approved_attributes": ["lifestyle.food.favorite_cuisine"],
    "export_revision": 1,
}
APPROVED = {
    **PENDING,
    "status": "approved",
    "decided_at": "2026-11-20T10:05:00Z",
    "receipt_id": "rct_a",
    "sequence": 41,
    "grant": GRANT,
}
HEADER = ExportHeader(
    kid=thumbprint(KEY),
    iss="https://consent.example",
    sub="usr_a",
    aud="app_a",
    request_id="req_a",
    scope=SCOPE,
    revision=1,
    request_digest=DIGEST,
)
CONTENT = ExportContent(
    scope=SCOPE,
    approved_attributes=("lifestyle.food.favorite_cuisine",),
    data={"lifestyle": {"food": {"favorite_cuisine": "Thai"}}},
    sources=(Source("lifestyle", "food"),),
    sealed_at="2026-11-20T10:05:00Z",
)


def envelope(revision=1, *, header=None, content=CONTENT, **changes):
    sealed = seal_export(
        content,
        public_half(KEY),
        ExportHeader(**{**vars(HEADER), "revision": revision, **(header or {})}),
    )
    body = {
        "request_id": "req_a",
        "grant_id": "grt_a",
        "export_id": "exp_a",
        "revision": revision,
        "user_id": "usr_a",
        "scope": SCOPE,
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "connector_key_id": thumbprint(KEY),
        "sealed_at": "2026-11-20T10:05:00Z",
        "expires_at": "2026-11-21T10:00:00Z",
        "reads_remaining": None,
        "size_bytes": len(sealed),
        "jwe": sealed,
        **changes,
    }
    digest = (header or {}).get("request_digest", DIGEST)
    return {**signed(body, request_digest=digest), **changes}


def signed(body, root=ROOT, **claims):
    """The export with what the person's vault signed of it: as it was asked for, whatever else `body` says."""
    members = {**vars(HEADER), "revision": body["revision"], **claims}
    now = int(time.time())
    own = signed_approval(
        root,
        members,
        approved_attributes=body["approved_attributes"],
        access_duration=86400,
        ends_at=None if body["revision"] == 1 else now + 86400,
        sealed=body["jwe"],
    )
    key = {"owner_key": own["approval_key"], "key_history": [], "owner_key_reset": False}
    return {**body, "approval": own["approval"], **key}
