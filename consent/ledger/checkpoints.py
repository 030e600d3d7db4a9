"""Signed statements of where all chains stood.

The root is the Merkle tree hash of RFC 6962 over all chain heads in the order of their names; a leaf is the RFC 8785
form of [chain, sequence, entry_hash]. A checkpoint keeps only the heads that moved since the one before it: replayed
in order, they give the leaves of every root.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import rfc8785
from django.conf import settings
from django.db import transaction
from joserfc import jws

from common.clock import database_now, rfc3339
from common.sql.statements import lock_for_transaction
from consent.ledger import receipts
from consent.ledger.models import AuditCheckpoint, AuditEntry, AuditHead, CheckpointHead
from consent.ledger.verifying import Broken, subjects

TYPE = "consent-checkpoint+jwt"
Head = tuple[int, str]  # sequence and entry hash


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1: leaves and nodes are hashed under different prefixes."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + merkle_root(leaves[:split]) + merkle_root(leaves[split:])).digest()


def root_of(heads: dict[str, Head]) -> str:
    """The root over these heads, base64url."""
    leaves = [rfc8785.dumps([chain, *heads[chain]]) for chain in sorted(heads)]
    return base64.urlsafe_b64encode(merkle_root(leaves)).decode().rstrip("=")


def sign_checkpoint() -> bool:
    """Sign and keep a checkpoint; False where no chain moved since the last one."""
    with transaction.atomic():
        lock_for_transaction("sign-checkpoint")
        # one statement is one snapshot of all heads, and holds up nobody who appends
        heads = {head.chain: (head.sequence, head.entry_hash) for head in AuditHead.objects.filter(sequence__gt=0)}
        known = _replayed()
        moved = {chain: head for chain, head in heads.items() if known.get(chain) != head}
        if not moved:
            return False
        now = database_now().replace(microsecond=0)
        claims: dict[str, Any] = {
            "iss": settings.ISSUER,
            "iat": int(now.timestamp()),
            "at": rfc3339(now),
            "root": root_of(heads),
            "head_count": len(heads),
            "entries": sum(sequence for sequence, _ in heads.values()),
        }
        kept = AuditCheckpoint.objects.create(
            root=claims["root"], head_count=len(heads), jws=receipts.sign(claims, TYPE), at=now
        )
        CheckpointHead.objects.bulk_create(
            CheckpointHead(checkpoint=kept, chain=chain, sequence=sequence, entry_hash=digest)
            for chain, (sequence, digest) in sorted(moved.items())
        )
    return True


def _replayed() -> dict[str, Head]:
    """The heads as the newest checkpoint saw them."""
    rows = CheckpointHead.objects.order_by("checkpoint_id").values_list("chain", "sequence", "entry_hash")
    return {chain: (sequence, digest) for chain, sequence, digest in rows.iterator(chunk_size=2000)}


def verify_checkpoints() -> Iterator[Broken]:
    """What the checkpoints swear to and the chains do not hold: the first of each checkpoint, or nothing."""
    heads: dict[str, Head] = {}
    names = subjects()
    for checkpoint in AuditCheckpoint.objects.order_by("pk").prefetch_related("moved").iterator(chunk_size=100):
        name = f"checkpoint:{checkpoint.pk}"
        moved = {head.chain: (head.sequence, head.entry_hash) for head in checkpoint.moved.all()}
        heads |= moved
        claims = _signed_claims(checkpoint.jws)
        if claims is None or claims.get("root") != checkpoint.root:
            yield Broken(name, checkpoint.pk, "its signature does not hold")
            continue
        if root_of(heads) != checkpoint.root or len(heads) != checkpoint.head_count:
            yield Broken(name, checkpoint.pk, "its heads are not those that were signed")
            continue
        yield from _missing(moved, names)


def _missing(moved: dict[str, Head], names: dict[str, str]) -> Iterator[Broken]:
    """Entries that a checkpoint saw and that are no longer there as they were."""
    for chain, (sequence, digest) in sorted(moved.items()):
        found = AuditEntry.objects.filter(chain=chain, sequence=sequence).values_list("entry_hash", flat=True).first()
        if found != digest:
            yield Broken(names.get(chain, chain), sequence, "it is not the entry that a checkpoint was signed over")
            return


def _signed_claims(token: str) -> dict[str, Any] | None:
    for key in receipts.signing_keys():
        try:
            return receipts.claims_of(jws.deserialize_compact(token, key, algorithms=["EdDSA"]).payload)
        except Exception:  # noqa: S112  # any failure means that this key did not sign it
            continue
    return None


def newest_checkpoint() -> dict[str, Any] | None:
    """{"jws", "claims"} of the newest checkpoint; None before the first."""
    newest = AuditCheckpoint.objects.order_by("-pk").first()
    if newest is None:
        return None
    return {"jws": newest.jws, "claims": _signed_claims(newest.jws)}
