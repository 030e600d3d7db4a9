"""The half of RFC 9162, section 2.1, that a reader of a log needs: whether its proofs hold. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()
HASH_BYTES = 32


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def includes(entry: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a tree of this size and root has this entry as the leaf of this number (2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf_hash(entry)
    for digest in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = _node_hash(digest, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = _node_hash(found, digest)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the tree of the new size and root begins with all that the old one had (2.1.4.2)."""
    if not 0 <= old <= new or (old == 0 and old_root != EMPTY_ROOT):
        return False
    if old in (0, new):
        return not proof and (old == 0 or old_root == new_root)
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    before = after = path[0]
    for digest in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            before, after = _node_hash(digest, before), _node_hash(digest, after)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            after = _node_hash(after, digest)
        place, last = place >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root
