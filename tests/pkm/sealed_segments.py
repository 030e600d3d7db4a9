"""What a browser would send: sealed by the bridge, so that the server's checks meet another's work."""

from typing import Any

from accounts.models import User
from consent_bridge import sealed
from tests.factories import Vault


def wrapper(user: User, key: sealed.VaultKey, kind: str = "recovery", *, label: str = "A way in") -> dict[str, Any]:
    """The body of a wrapper that really opens."""
    secret = {"recovery": sealed.generate_recovery_code(), "passkey": "ab" * 32, "passphrase": "correct horse battery"}
    body = {"kind": kind, "label": label, "jwe": sealed.wrap(key, kind, secret[kind], user.public_id)}
    return body | {"credential_id": "Y3JlZGVudGlhbA"} if kind == "passkey" else body


def segment(
    vault: Vault,
    domain: str,
    segment_id: str,
    values: dict[str, Any],
    *,
    base: int = 0,
    header: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of a write; `header` overrides members of the protected header."""
    members = {
        "kid": vault.key.key_id,
        "sub": vault.user.public_id,
        "domain": domain,
        "segment_id": segment_id,
        "content_revision": base + 1,
    } | (header or {})
    jwe = sealed.seal_segment(values, vault.key.secret, sealed.SegmentHeader(**members))
    return {"jwe": jwe, "base_content_revision": base, "attributes": list(values)}
