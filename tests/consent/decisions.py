"""What a person's browser would send, sealed by the bridge."""

from typing import Any

from django.conf import settings

from consent.grants.models import Grant
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
    stored = [f"{domain}.{segment}.{name}" for (domain, segment), values in vault.segments.items() for name in values]
    chosen = [path for path in request.attributes if path in stored] if attributes is None else attributes
    pairs = {(domain, segment) for domain, segment, _ in (path.split(".") for path in chosen if path in stored)}
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
        "sub": request.pairwise_id,
        "aud": request.app.app_id,
        "request_id": request.request_id,
        "scope": request.scope,
        "revision": 1,
        "request_digest": request.request_digest,
        **(header or {}),
    }
    body = {
        "decision": "approve",
        "request_digest": request.request_digest,
        "access_duration": request.access_duration,
        "approved_attributes": chosen,
        "sources": sources,
        "jwe": sealed.seal_export(content, request.connector_public_key, sealed.ExportHeader(**members)),
        **changes,
    }
    return {**signed(vault, members, body), **body}


def signed(vault: Vault, members: dict[str, Any], body: dict[str, Any], **terms: Any) -> dict[str, Any]:
    """What the vault signs of this decision: `members` are the export's protected ones."""
    return sealed.signed_approval(
        vault.root,
        members,
        approved_attributes=body["approved_attributes"],
        access_duration=body["access_duration"],
        sealed=body["jwe"],
        **terms,
    )


def refreshed(vault: Vault, grant: Grant, revision: int = 2, **changes: Any) -> dict[str, Any]:
    """A newer revision of a continuous grant's export, signed; `changes` are claims that should not fit."""
    attributes = changes.pop("approved_attributes", grant.approved_attributes)
    body = approval_body(grant.request, vault, attributes, header={"revision": revision})
    members = {
        "iss": settings.ISSUER,
        "sub": grant.request.pairwise_id,
        "aud": grant.app.app_id,
        "request_id": grant.request.request_id,
        "request_digest": grant.request.request_digest,
        "revision": revision,
    }
    duration = int((grant.expires_at - grant.starts_at).total_seconds())
    terms = {"access_duration": duration, "approved_attributes": attributes, "jwe": body["jwe"]}
    own = signed(vault, members, terms, ends_at=changes.pop("ends_at", int(grant.expires_at.timestamp())))
    return {"revision": revision, "sources": body["sources"], "jwe": body["jwe"], **own, **changes}


def resumption(vault: Vault, grant: Grant, nonce: str) -> dict[str, Any]:
    """What lets a paused grant go on."""
    return sealed.signed_resumption(
        vault.root,
        issuer=settings.ISSUER,
        user_id=grant.request.pairwise_id,
        app_id=grant.app.app_id,
        grant_id=grant.grant_id,
        request_digest=grant.request.request_digest,
        nonce=nonce,
    )
