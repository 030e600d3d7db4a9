"""The hot read of a proof: where a leaf stands, the log, and the checkpoint to prove it by, as one statement.

It stands for three reads by the ORM (the leaf, `LogState`, the first checkpoint with the cosignatures required over
it), and `tiles` for one; tests/consent/log/test_proof_read.py compares them. With both a proof takes 0.36 of
the time (docs/adr/0019).
"""

from collections.abc import Collection
from typing import Any

from common.sql.statements import rows

_WHERE = {"entry_hash": "l.entry_hash", "entry": "l.entry_id"}
_FOUND = """
SELECT l.log_index, s.epoch, s.size, s.frontier, c.size AS proved_by, c.note, c.cosignatures
  FROM consent_log_leaves l
  JOIN consent_log_state s ON s.id = 1
  JOIN consent_audit_checkpoints c ON c.epoch = s.epoch AND c.size = (
       SELECT min(n.size) FROM consent_audit_checkpoints n
        WHERE n.epoch = s.epoch AND n.size > l.log_index AND n.cosigned_at IS NOT NULL)
 WHERE {} = %s ORDER BY l.log_index LIMIT 1
"""
_STATEMENTS = {name: _FOUND.format(column) for name, column in _WHERE.items()}
_TILES = "SELECT level, number, hashes FROM consent_log_tiles WHERE "


def find(by: str, value: Any) -> dict[str, Any] | None:
    """The row of a leaf that is found by `entry_hash` or `entry` (its key); None until it can be proved."""
    found = rows(_STATEMENTS[by], [value])
    return found[0] if found else None


def tiles(places: Collection[tuple[int, int]]) -> list[dict[str, Any]]:
    """The full tiles at these levels and numbers that are there."""
    if not places:
        return []
    wanted = " OR ".join(["(level = %s AND number = %s)"] * len(places))
    return rows(_TILES + wanted, [each for place in places for each in place])
