"""The members of a request that its digest is over."""

from typing import Any

from common.clock import rfc3339
from consent.requests.models import ConsentRequest
from consent.schemas import IN_DIGEST, RequestConsentBody

# always there, null where the app gave none
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

# There only where the app gave them: what the contract gained later, so that what was signed for before stays as it is.
# `derived` are the definitions of the answers that it named, as the registry had them.
OPTIONAL = (
    *(name for name, each in RequestConsentBody.model_fields.items() if each.json_schema_extra == IN_DIGEST),
    "derived",
)

# Two requests are the same question where everything but the request's own name and deadline is equal.
IDENTITY = tuple(member for member in (*MEMBERS, *OPTIONAL) if member not in ("request_id", "expires_at"))


def members_of(request: ConsentRequest, *, app_id: str) -> dict[str, Any]:
    """Exactly the members that the digest is over, from a request's row."""
    apart = {"app_id": app_id, "user_id": request.pairwise_id, "expires_at": rfc3339(request.expires_at)}
    own = {member: apart[member] if member in apart else getattr(request, member) for member in MEMBERS}
    return {**own, **optional_members_of(request)}


def optional_members_of(request: ConsentRequest) -> dict[str, Any]:
    """What there is of the members that the contract gained later."""
    given = {member: getattr(request, member) for member in OPTIONAL}
    return {member: value for member, value in given.items() if value is not None}
