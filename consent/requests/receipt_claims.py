"""What a receipt says of a request and its grant."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from accounts.language import language_for
from common.clock import rfc3339
from consent.requests.models import ConsentRequest

SCHEMA_VERSION = "1.1"
NOTICE_VERSION = "2026-11"  # of what the consent page tells before a decision; new wherever that means something else
LAWFUL_BASIS = "consent"  # nothing here rests on another
# What somebody may do about it, whatever the app says: stop it, see it, have it erased, take it along, complain.
RIGHTS = ("withdraw_consent", "access", "erasure", "portability", "complaint")


@dataclass(frozen=True)
class GrantFacts:
    """What the records of an event say of the grant. `requests` stands below `grants` and cannot import the model."""

    grant_id: str
    status: str
    approved_attributes: list[str] | None
    starts_at: datetime
    expires_at: datetime
    max_reads: int | None
    ended_at: datetime | None
    ended_by: str

    def as_facts(self) -> dict[str, Any]:
        """As the audit holds it: nothing of it changes without another entry."""
        return {
            "status": self.status,
            "approved_attributes": self.approved_attributes,
            "starts_at": rfc3339(self.starts_at),
            "expires_at": rfc3339(self.expires_at),
            "max_reads": self.max_reads,
            "ended_at": rfc3339(self.ended_at),
            "ended_by": self.ended_by,
        }


def claims_about(
    *, request: ConsentRequest, grant: GrantFacts | None, event: str, happened: datetime, at: datetime, receipt_id: str
) -> dict[str, Any]:
    """What a receipt says of an event that is written down at `at`; all but the audit entry, which is not there yet."""
    app = request.app
    seconds = (grant.expires_at - grant.starts_at).total_seconds() if grant else request.access_duration
    return {
        "schema_version": SCHEMA_VERSION,
        "record_id": grant.grant_id if grant else request.request_id,
        "receipt_id": receipt_id,
        "pii_principal_id": request.pairwise_id,
        "pii_controller": {
            "name": app.legal_name,
            "app_id": request.app.app_id,
            "contact": app.contact_email,
            "privacy_policy": app.privacy_policy,
        },
        "purpose": request.purpose,
        "pii_types": _types(request, grant),
        "sensitivity": request.scope_entry.sensitivity_tier,
        "retention": {
            "access_duration": int(seconds),
            "expires_at": rfc3339(grant.expires_at) if grant else None,
        },
        "event": {"type": event, "state": grant.status if grant else request.status, "time": rfc3339(happened)},
        "lawful_basis": LAWFUL_BASIS,
        "rights": list(RIGHTS),
        "notice": {"version": NOTICE_VERSION, "language": language_for(request.user)},
        **request.handling,
        "withdrawal_method": f"{settings.ISSUER}/consent/apps/",
        "request_digest": request.request_digest,
        "connector_fingerprint": request.connector_thumbprint,
        "iss": settings.ISSUER,
        "iat": int(at.timestamp()),
    }


def _types(request: ConsentRequest, grant: GrantFacts | None) -> list[str]:
    """What was approved, else what was asked for."""
    named = grant.approved_attributes if grant else request.named_attributes
    return request.attributes if named is None else named


def handling_of(*, recipients: str, location: str, retention: str, jurisdiction: str) -> dict[str, Any]:
    """The claims on what the app says becomes of the data, which a request has with it from the start.

    `recipients`, `storage` of `location` and `retention`, `jurisdiction`; no member for what is not said.
    """
    storage = _given_members(location=location, retention=retention)
    return _given_members(recipients=recipients, storage=storage, jurisdiction=jurisdiction)


def _given_members(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}
