"""The examples of the sandbox's operations: the document's story, played by the app itself."""

from typing import Any

from consent.api import samples

LABEL = "Ada, who likes Thai"
KEY_ID = "vk_4f8sZk2mQ1x7Yp0c"
WRAPPER_ID = "wrp_2h6wq4n7c5b3zj5yk6q2m4t7ue"
_JWE = "eyJhbGciOiJBMjU2S1cifQ.a2V5.bm9uY2U.c2VhbGVk.dGFn"
_AT = "2026-11-20T10:00:00Z"

PERSON: dict[str, Any] = {"user_id": samples.USER_ID, "label": LABEL}
PEOPLE: dict[str, Any] = {"people": [PERSON]}
NEW_WRAPPER: dict[str, Any] = {"kind": "passphrase", "label": "Passphrase", "jwe": _JWE}
WRAPPER: dict[str, Any] = {
    "wrapper_id": WRAPPER_ID,
    "kind": "passphrase",
    "label": "Passphrase",
    "credential_id": None,
    "jwe": _JWE,
    "created_at": _AT,
    "last_used_at": None,
}
NEW_ROOT: dict[str, Any] = {"signing_public_key": samples.OWNER_KEY, "signing_jwe": _JWE}
NEW_KEYS: dict[str, Any] = {"key_id": KEY_ID, "wrappers": [NEW_WRAPPER], **NEW_ROOT}
KEYS: dict[str, Any] = {
    "user_id": samples.USER_ID,
    "key_id": KEY_ID,
    "vault_status": "active",
    "primary_wrapper_id": WRAPPER_ID,
    "wrappers": [WRAPPER],
    **NEW_ROOT,
    "rotation": None,
}
NEW_SEGMENT: dict[str, Any] = {"jwe": _JWE, "base_content_revision": 0, "attributes": ["favorite_cuisine"]}
REVISIONS: dict[str, Any] = {
    "domain": "lifestyle",
    "segment_id": "food",
    "content_revision": 1,
    "manifest_revision": 1,
    "attributes": ["favorite_cuisine"],
    "size_bytes": len(_JWE),
    "updated_at": _AT,
}
SEGMENTS: dict[str, Any] = {"segments": [{**REVISIONS, "jwe": _JWE}]}
_TERMS = {name: samples.REQUEST_BODY[name] for name in ("scope", "purpose", "access_duration", "optional_attributes")}
DATA: dict[str, Any] = {
    "request": {
        **_TERMS,
        "request_id": samples.REQUEST_ID,
        "app_id": samples.APP_ID,
        "app_name": "Trip Planner (test)",
        "user_id": samples.USER_ID,
        "attributes": samples.ATTRIBUTES,
        "connector_thumbprint": samples.ASKED["connector_fingerprint"],
        "expires_at": samples.ASKED["expires_at"],
        "required_attributes": None,
        "max_reads": None,
        "refresh_policy": "snapshot",
        "binding_message": None,
    },
    "request_digest": samples.ASKED["request_digest"],
    "status": "pending",
    "connector_public_key": samples.REQUEST_BODY["connector_public_key"],
    "connector_key_id": samples.REQUEST_BODY["connector_key_id"],
    "app": {
        "app_id": samples.APP_ID,
        "name": "Trip Planner (test)",
        "legal_name": "",
        "verified": False,
        "website": "",
        "privacy_policy": "",
    },
    "scope_entry": samples.SCOPE_ENTRY,
    "issuer": samples.ASKED["issuer"],
    "export_revision": 1,
    "known_connector_key": False,
    "vouching": {"by": "sandbox", "domain": None, "since": None},
}
_SOURCES = [{"domain": "lifestyle", "segment_id": "food", "content_revision": 1}]
_SIGNED = {
    "approval": samples.EXPORT["approval"],
    "approval_key": samples.OWNER_KEY,
    "approval_key_certificate": samples.EXPORT["approval"],
}
APPROVAL: dict[str, Any] = {
    "decision": "approve",
    "request_digest": samples.ASKED["request_digest"],
    "access_duration": 86400,
    "approved_attributes": samples.ATTRIBUTES[1:2],
    "sources": _SOURCES,
    "jwe": samples.EXPORT["jwe"],
    **_SIGNED,
}
NEW_EXPORT: dict[str, Any] = {"revision": 2, "sources": _SOURCES, "jwe": samples.EXPORT["jwe"], **_SIGNED}
RESUMPTION: dict[str, Any] = {"approval": samples.EXPORT["approval"]}
STANDING: dict[str, Any] = {
    "request_id": samples.REQUEST_ID,
    "approval": samples.EXPORT["approval"],
    "access_duration": 86400,
    "ends_at": 1795774930,
}
NONCE: dict[str, Any] = {"nonce": "q8Zb1yq0m3nW7hJt5sVx2kLc9dRf4gPe"}
CLOCK: dict[str, Any] = {"seconds": 86400}
