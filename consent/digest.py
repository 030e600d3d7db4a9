"""What was asked, in one canonical form, and its digest (crypto.md, Export)."""

import base64
import hashlib
from typing import Any

import rfc8785

from accounts.database import rfc3339
from consent.models import ConsentRequest

MEMBERS = (
    "request_id",
    "app_id",
    "app_name",
    "user_id",
    "scope",
    "attributes",
    "purpose",
    "connector_thumbprint",
    "access_duration",
    "expires_at",
    "required_attributes",
    "optional_attributes",
    "max_reads",
    "refresh_policy",
    "binding_message",
)
# Two requests are the same question where everything but the request's own name and deadline is equal.
IDENTITY = tuple(member for member in MEMBERS if member not in ("request_id", "expires_at"))


def sha256_canonical(value: Any) -> str:
    """base64url SHA-256, without padding, of the RFC 8785 form of `value`."""
    return base64.urlsafe_b64encode(hashlib.sha256(rfc8785.dumps(value)).digest()).decode().rstrip("=")


def asked(request: ConsentRequest, *, app_id: str, user_id: str) -> dict[str, Any]:
    """Exactly the members that the digest is over, from a request's row."""
    own = {member: getattr(request, member) for member in MEMBERS if member not in ("app_id", "user_id", "expires_at")}
    return {**own, "app_id": app_id, "user_id": user_id, "expires_at": rfc3339(request.expires_at)}
