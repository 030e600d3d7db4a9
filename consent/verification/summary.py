"""What the entries of one chain tell, put together: where requests and grants stand, and which receipts there are."""

from dataclasses import dataclass, field
from typing import Any

from consent.event_types import EventType
from consent.states import GrantStatus, RequestStatus

_LIVE_AFTER = {
    EventType.APPROVED.value: GrantStatus.ACTIVE.value,
    EventType.PAUSED.value: GrantStatus.PAUSED.value,
    EventType.RESUMED.value: GrantStatus.ACTIVE.value,
}
_MOVES = {event.value for event in EventType if event.has_receipt} | _LIVE_AFTER.keys()


@dataclass
class Summary:
    """The newest word about every request of a chain, in members that JSON knows.

    `requests`: {request_id: [status, grant_id or None, grant's status or None, its end or None, sequence]}, where an
    end is [ended_at, ended_by]. `receipts`: their names, of a person's chain
    alone; `proven` is how many there are in any. `reads` are those that the batches hold, `forgotten` those of
    them that were kept long enough and are gone.
    """

    requests: dict[str, list[Any]] = field(default_factory=dict)
    receipts: list[str] = field(default_factory=list)
    proven: int = 0
    reads: int = 0
    forgotten: int = 0

    def take(
        self, *, kind: str, facts: dict[str, Any], sequence: int, is_person: bool, is_forgotten: bool = False
    ) -> None:
        """Take note of one more entry, in the order of the chain; `is_forgotten`: the reads that it holds are gone."""
        if facts.get("receipt_id"):
            self.proven += 1
        if not is_person:
            return  # where things stand is compared with the person's own chain; an app's is too long to remember
        if kind == EventType.READS:
            count = facts.get("count")
            count = count if isinstance(count, int) else 0
            self.reads += count
            self.forgotten += count if is_forgotten else 0
        if facts.get("receipt_id"):
            self.receipts.append(str(facts["receipt_id"]))
        if kind in _MOVES and facts.get("request_id"):
            self.requests[str(facts["request_id"])] = _status(kind, facts, sequence)


def _status(kind: str, facts: dict[str, Any], sequence: int) -> list[Any]:
    grant_id, grant = facts.get("grant_id"), facts.get("grant")
    if not grant_id:
        return [kind, None, None, None, sequence]
    end = [grant.get("ended_at"), grant.get("ended_by")] if isinstance(grant, dict) else [None, None]
    return [RequestStatus.APPROVED.value, grant_id, _LIVE_AFTER.get(kind, kind), end, sequence]
