"""What a person's browser would send, sealed by the bridge."""

from typing import Any

from django.conf import settings

from consent.requests.models import ConsentRequest
from consent.schemas import ApproveBody
from consent_bridge import sealed
from pkm.segments.queries import current_revisions
from tests.factories import Vault


def approval(request: ConsentRequest, vault: Vault, attributes: list[str] | None = None, **changes: Any) -> ApproveBody:
    """A decision to share `attributes` (all that is held, by default), with `changes` for what should not fit."""
    return ApproveBody.model_validate(approval_body(request, vault, attributes, **changes))


def approval_body(
    request: ConsentRequest,
    vault: Vault,
    attributes: list[str] | None = None,
    header: dict[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """The same as JSON; `header` changes members of the export's protected header."""
    held = [f"{domain}.{segment}.{name}" for (domain, segment), values in vault.segments.items() for name in values]
    chosen = [path for path in request.attributes if path in held] if attributes is None else attributes
    pairs = {(domain, segment) for domain, segment, _ in (path.split(".") for path in chosen if path in held)}
    revisions = current_revisions(vault.user, pairs)
    sources = [
        {"domain": domain, "segment_id": segment, "content_revision": revision}
        for (domain, segment), revision in sorted(revisions.items())
    ]
    content = sealed.ExportContent(
        scope=(header or {}).get("scope", request.scope),
        approved_attributes=tuple(chosen),
        data=sealed.pick(vault.segments, chosen),
        sources=tuple(sealed.Source(**source) for source in sources),
        sealed_at="2026-11-20T10:00:00Z",
    )
    members = {
        "kid": request.connector_key_id,
        "iss": settings.ISSUER,
        "sub": request.user.public_id,
        "aud": request.app.app_id,
        "request_id": request.request_id,
        "scope": request.scope,
        "revision": 1,
        "request_digest": request.request_digest,
        **(header or {}),
    }
    return {
        "decision": "approve",
        "request_digest": request.request_digest,
        "access_duration": request.access_duration,
        "approved_attributes": chosen,
        "sources": sources,
        "jwe": sealed.seal_export(content, request.connector_public_key, sealed.ExportHeader(**members)),
        **changes,
    }
