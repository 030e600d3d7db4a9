"""The examples of the OpenAPI document and of the docs page: one story, told through all operations."""

from typing import Any

from consent.ledger.canonical import sha256_canonical
from consent.schemas import (
    LONGEST_ACCESS,
    SHORTEST_ACCESS,
    USUAL_ACCESS,
    WRAPPING_ALGORITHM,
    EndConsentBody,
    LeakedTokenBody,
    RequestConsentBody,
    example_of,
)

REQUEST_BODY = example_of(RequestConsentBody)
END_BODY = example_of(EndConsentBody)
LEAKED_BODY = example_of(LeakedTokenBody)
APP_ID = "app_o7w3vq5d2ykx6bq4m2nrzj5cfe"
USER_ID, SCOPE = REQUEST_BODY["user_id"], REQUEST_BODY["scope"]
REQUEST_ID = END_BODY["request_id"]
GRANT_ID = "grt_k6q5d5xkqv7wq3m7n2u2b4hjye"
RECEIPT_ID = "rct_y3hx5vqv5mzl2w6t4c7p2e3kka"
ATTRIBUTES = [*REQUEST_BODY["optional_attributes"], "lifestyle.food.coffee_or_tea"]

SCOPE_ENTRY: dict[str, Any] = {
    "scope": SCOPE,
    "scope_handle": "s_0f3a9c41d2be",
    "label": "Food and drink",
    "description": "What you like to eat and drink.",
    "domain": "lifestyle",
    "sensitivity_tier": "standard",
    "attributes": ATTRIBUTES,
    "max_access_duration": LONGEST_ACCESS,
    "updated_at": "2026-11-01T08:00:00Z",
}
USER_SCOPES: dict[str, Any] = {
    "user_id": USER_ID,
    "available_domains": ["lifestyle"],
    "scopes": [SCOPE],
    "scope_entries": [SCOPE_ENTRY],
    "runtime": {
        "can_approve": True,
        "wrapping_algorithms": [WRAPPING_ALGORITHM],
        "connector_curves": ["X25519", "P-256"],
        "refresh_policies": ["snapshot", "continuous"],
        "access_duration": {"default": USUAL_ACCESS, "min": SHORTEST_ACCESS, "max": LONGEST_ACCESS},
        "interval": 5,
    },
}
PEOPLE: dict[str, Any] = {
    "people": [
        {
            "handle": "zoe-q",
            "display_name": "Zoe Q",
            "headline": "Plans train journeys",
            "location_hint": "Near Turku",
        }
    ],
    "next_cursor": None,
}
SCOPE_CATALOG: dict[str, Any] = {"scope_entries": [SCOPE_ENTRY]}
THUMBPRINT = "giQqigT_IKcuzHl0FVJ3k5ts3_TWNAxvsC08UZsfcM8"
FROZEN: dict[str, Any] = {
    "request_id": REQUEST_ID,
    "app_id": APP_ID,
    "app_name": "Trip planner",
    "user_id": USER_ID,
    "scope": SCOPE,
    "attributes": ATTRIBUTES,
    "purpose": REQUEST_BODY["purpose"],
    "connector_thumbprint": THUMBPRINT,
    "access_duration": REQUEST_BODY["access_duration"],
    "expires_at": "2026-11-21T10:00:00Z",
    "required_attributes": None,
    "optional_attributes": REQUEST_BODY["optional_attributes"],
    "max_reads": None,
    "refresh_policy": "snapshot",
    "binding_message": None,
}
ASKED: dict[str, Any] = {
    "request_id": REQUEST_ID,
    "status": "pending",
    "app_id": APP_ID,
    "issuer": "https://consent.example",
    "user_id": USER_ID,
    "scope": SCOPE,
    "scope_label": "Food and drink",
    "approval_url": f"https://consent.example/consent/requests/{REQUEST_ID}/",
    "interval": 5,
    "expires_in": 86400,
    "expires_at": "2026-11-21T10:00:00Z",
    "access_duration": REQUEST_BODY["access_duration"],
    "connector_key_id": REQUEST_BODY["connector_key_id"],
    "connector_fingerprint": THUMBPRINT,
    "request": FROZEN,
    "request_digest": sha256_canonical(FROZEN),
    "created_at": "2026-11-20T10:00:00Z",
}
STATUS: dict[str, Any] = {
    "request_id": REQUEST_ID,
    "status": "approved",
    "user_id": USER_ID,
    "scope": SCOPE,
    "interval": 5,
    "created_at": "2026-11-20T10:00:00Z",
    "expires_at": "2026-11-21T10:00:00Z",
    "decided_at": "2026-11-20T10:02:10Z",
    "receipt_id": RECEIPT_ID,
    "sequence": 41,
    "grant": {
        "grant_id": GRANT_ID,
        "status": "active",
        "expires_at": "2026-11-27T10:02:10Z",
        "reads": 0,
        "reads_remaining": None,
        "approved_attributes": ATTRIBUTES[1:2],
        "export_revision": 1,
    },
}
OWNER_KEY = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
EXPORT: dict[str, Any] = {
    "request_id": REQUEST_ID,
    "grant_id": GRANT_ID,
    "export_id": "exp_m5a2c3kzj4v7y6t3q2w5n4b7ue",
    "revision": 1,
    "user_id": USER_ID,
    "scope": SCOPE,
    "approved_attributes": ATTRIBUTES[1:2],
    "connector_key_id": REQUEST_BODY["connector_key_id"],
    "sealed_at": "2026-11-20T10:02:10Z",
    "expires_at": "2026-11-27T10:02:10Z",
    "reads_remaining": None,
    "size_bytes": 812,
    "jwe": "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.bm9uY2U.c2VhbGVk.dGFn",
    "approval": "eyJhbGciOiJFZERTQSJ9.Y2xhaW1z.c2lnbmF0dXJl",
    "owner_key": OWNER_KEY,
    "key_history": [],
    "owner_key_reset": False,
}
ENDED: dict[str, Any] = {
    **STATUS,
    "sequence": 42,
    "grant": {**STATUS["grant"], "status": "released", "export_revision": 1},
}
REQUESTS: dict[str, Any] = {"requests": [STATUS], "next_cursor": None}
RECEIPT: dict[str, Any] = {
    "receipt_id": RECEIPT_ID,
    "jws": "eyJhbGciOiJFZERTQSJ9.eyJzY2hlbWFfdmVyc2lvbiI6IjEuMCJ9.c2lnbmF0dXJl",
    "claims": {
        "schema_version": "1.1",
        "receipt_id": RECEIPT_ID,
        "lawful_basis": "consent",
        "rights": ["withdraw_consent", "access", "erasure", "portability", "complaint"],
        "notice": {"version": "2026-11", "language": "en"},
        "recipients": "Our booking partner in Turku",
        "storage": {"location": "Data centre in Frankfurt, Germany", "retention": "30 days after the last visit"},
        "jurisdiction": "Finland",
        "event": {"type": "approved", "state": "active", "time": "2026-11-20T10:02:10Z"},
    },
}
UNPROVEN_RECEIPT: dict[str, Any] = {"receipt_id": RECEIPT_ID, "proof": None}
KEYS: dict[str, Any] = {
    "keys": [
        {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
            "use": "sig",
            "alg": "EdDSA",
        }
    ]
}
CHECKPOINT: dict[str, Any] = {
    "origin": "consent.example/log",
    "size": 20852163,
    "root": "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
    "note": "consent.example/log\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— consent.example/log …\n",
    "at": "2026-11-20T10:00:00Z",
    "cosignatures_missing": [],
    "jws": "eyJhbGciOiJFZERTQSJ9.eyJyb290IjoiLi4uIn0.c2lnbmF0dXJl",
    "claims": {"root": "…", "entries": 20852163, "at": "2026-11-20T10:00:00Z"},
}
