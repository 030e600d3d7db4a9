"""Did the person's vault sign exactly this: every question that raises `ApprovalMismatch`, by what differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from accounts.models import User
from common.problems import Problem
from consent.approvals.models import ApprovalKey
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.schemas import SignedBody
from pkm import sealed, signatures
from pkm import signing as signing_queries
from pkm.errors import ApprovalMismatch

APPROVAL, CERTIFICATE, RESUMPTION = "consent-approval+jwt", "approval-key+jwt", "consent-resume+jwt"
LEEWAY = 300  # seconds that a browser's clock may be off


@dataclass(frozen=True)
class Approval:
    """What was signed, as it is kept with the export. `sha256` is what the audit binds."""

    jws: str
    claims: dict[str, Any]
    key: ApprovalKey

    @property
    def sha256(self) -> str:
        return signatures.sha256(self.jws)


def check_approval(
    *, request: ConsentRequest, by: User, body: SignedBody, terms: dict[str, Any], jwe: str, at: datetime
) -> Approval:
    """The approval of an export: it says what the rows say. `terms` are the claims that the caller knows of.

    Without `ends_at` among them it is `iat` plus `access_duration`; without `approved_attributes` any list will do.
    """
    for member in ("approval", "approval_key", "approval_key_certificate"):
        if getattr(body, member) is None:
            raise ApprovalMismatch(f"{member}: is missing.", member=member)
    jws, key = signed_by_vault(request=request, by=by, body=body)
    try:
        claims = signatures.verified(jws, typ=APPROVAL, key=key.public_key)
        iat = _recent(claims, at)
        expected = {
            "iss": settings.ISSUER,
            "sub": request.pairwise_id,
            "aud": request.app.app_id,
            "iat": iat,
            "request_id": request.request_id,
            "request_digest": request.request_digest,
            "export_sha256": signatures.sha256(jwe),
            "approved_attributes": claims.get("approved_attributes", []),
            **terms,
        }
        expected.setdefault("ends_at", iat + expected["access_duration"])
        signatures.check_claims(claims, expected)
        if claims["ends_at"] <= at.timestamp():
            raise sealed.InvalidHeader("is over already", "ends_at")
    except sealed.InvalidHeader as unfit:
        raise _refusal(unfit) from None
    return Approval(jws, claims, key)


def check_subset(claims: dict[str, Any], approved: Sequence[str]) -> list[str]:
    """The attributes of a refreshed export: some of those that were approved, sorted."""
    named = claims["approved_attributes"]
    fits = isinstance(named, list) and named and all(isinstance(path, str) for path in named)
    if not fits or named != sorted(set(named)) or not set(named) <= set(approved):
        message = "approved_attributes: is not a sorted part of what was approved."
        raise ApprovalMismatch(message, member="approved_attributes")
    return list(named)


def check_resumption(*, grant: Grant, by: User, body: SignedBody, at: datetime) -> str:
    """What lets a paused grant go on: it names the nonce that was given out for it. Returns its SHA-256."""
    request = grant.request
    jws, key = signed_by_vault(request=request, by=by, body=body)
    nonce = grant.resume_nonce
    if not nonce or grant.resume_nonce_until is None or grant.resume_nonce_until <= at:
        raise ApprovalMismatch("nonce: ask for a new one, and sign that.", member="nonce")
    try:
        claims = signatures.verified(jws, typ=RESUMPTION, key=key.public_key)
        expected = {
            "iss": settings.ISSUER,
            "sub": request.pairwise_id,
            "aud": request.app.app_id,
            "grant_id": grant.grant_id,
            "request_digest": request.request_digest,
            "nonce": nonce,
            "iat": _recent(claims, at),
        }
        signatures.check_claims(claims, expected)
    except sealed.InvalidHeader as unfit:
        raise _refusal(unfit) from None
    return signatures.sha256(jws)


def signed_by_vault(*, request: ConsentRequest, by: User, body: SignedBody) -> tuple[str, ApprovalKey]:
    """The JWS, and the key that its signature is to be checked with: one that the vault's root certified for this app.

    Whoever has a session alone can set neither. Nothing is written here; the caller saves the key with what it signed.
    """
    root = signing_queries.root_of(by)
    if root is None:
        raise ApprovalMismatch("Set the approval root of your vault first.", member="approval_key_certificate")
    if body.approval is None:
        raise ApprovalMismatch("approval: is missing.", member="approval")
    known = ApprovalKey.objects.filter(user=by, app_id=request.app_id).first()
    if body.approval_key is None and known is not None and _is_of(known, signatures.thumbprint(root)):
        return body.approval, known
    return body.approval, _certified(request=request, by=by, body=body, root=root, known=known)


def _certified(
    *, request: ConsentRequest, by: User, body: SignedBody, root: signatures.Jwk, known: ApprovalKey | None
) -> ApprovalKey:
    for member in ("approval_key", "approval_key_certificate"):
        if getattr(body, member) is None:
            raise ApprovalMismatch(f"{member}: is missing.", member=member)
    try:
        public = signatures.check_public_key(body.approval_key, "approval_key")
        claims = signatures.verified(str(body.approval_key_certificate), typ=CERTIFICATE, key=root)
        names = {"iss": settings.ISSUER, "sub": request.pairwise_id, "aud": request.app.app_id, "jwk": public}
        signatures.check_claims(claims, {**names, "iat": signatures.number_of(claims, "iat")})
    except sealed.InvalidHeader as unfit:
        of_certificate = unfit.member not in ("approval_key",)
        detail = f"approval_key_certificate: {unfit}." if of_certificate else f"{unfit}."
        member = "approval_key_certificate" if of_certificate else "approval_key"
        raise ApprovalMismatch(detail, member=member, claim=unfit.member) from None
    return _as_known(known, public, signatures.thumbprint(root), request=request, by=by)


def _as_known(
    known: ApprovalKey | None, public: signatures.Jwk, root: str, *, request: ConsentRequest, by: User
) -> ApprovalKey:
    """The row of this key, not saved: another key than before comes only of another root, and then by a reset.

    A root that was replaced carried every app's key over (`approvals.actions`), so that there is none left to differ.
    Where the service's own address changed, each app gets another key of the same root, and knows none for it yet.
    """
    if known is None:
        return ApprovalKey(user=by, app_id=request.app_id, public_key=public, root=root, issuer=settings.ISSUER)
    if known.public_key == public:
        known.root, known.issuer = root, settings.ISSUER
        return known
    if _is_of(known, root):
        raise ApprovalMismatch("approval_key: is not the key of this app.", member="approval_key")
    known.is_reset = known.issuer == settings.ISSUER
    known.public_key, known.root, known.issuer, known.history = public, root, settings.ISSUER, []
    return known


def _is_of(known: ApprovalKey, root: str) -> bool:
    """Whether this root certified it for this service's address."""
    return known.root == root and known.issuer == settings.ISSUER


def _recent(claims: dict[str, Any], at: datetime) -> int:
    iat = signatures.number_of(claims, "iat")
    if abs(iat - at.timestamp()) > LEEWAY:
        raise sealed.InvalidHeader("is more than five minutes off", "iat")
    return iat


def _refusal(unfit: sealed.InvalidHeader) -> Problem:
    return ApprovalMismatch(f"{unfit}.", member=unfit.member)
