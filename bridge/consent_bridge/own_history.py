"""What a person's own chain of entries says since it was read last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from consent_bridge.entries import ENDS, Entry, Head, next_entry
from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.logs import LATE_SECONDS, Memory, memory_of, read_consistency
from consent_bridge.records import without_records
from consent_bridge.transport import Answer
from consent_bridge.vault_notes import Notes, NotesKeeper, RolledBack
from consent_bridge.wrappers import VaultKey

Page = Callable[[int], Mapping[str, Any]]
"""{"head", "entries"} after a sequence, as the service answers."""
Log = Callable[[str, Mapping[str, str]], Answer]
"""What the service answers under /log/: a path below it, and a query."""
_MOST_PROOFS = 200


def head_of(notes: Mapping[str, Any]) -> Head:
    """How far a vault's notes say that the chain was read."""
    return Head(**notes.get("history", {"chain": "", "sequence": 0, "entry_hash": ""}))


def entries_after(before: Head, page: Page) -> tuple[Head, list[str], list[Entry]]:
    """Where the chain stands now, the digests of the requests whose grants ended since, and all entries since.

    `RolledBack` where it does not go on from `before`.
    """
    last, ended, read = before, list[str](), list[Entry]()
    while True:
        answer = page(last.sequence)
        head, entries = answer.get("head"), answer.get("entries")
        if not isinstance(head, Mapping) or not isinstance(entries, list):
            raise BadAnswer("the answer is no part of a history")
        for raw in entries:
            entry = _next_of_mine(raw, last)
            if entry.kind in ENDS:
                ended.append(_ended_by(entry))
            read.append(entry)
            last = entry.head
        further = int(head.get("sequence", 0)) - last.sequence
        if entries and further > 0:
            continue
        # what was appended between two answers is no fault; a head that nothing leads to is
        if not (entries and further < 0) and (further or head.get("entry_hash") != last.entry_hash):
            raise RolledBack(f"your history ends before what was read of it ({before.sequence} entries)", member="head")
        return last, ended, read


def _next_of_mine(raw: object, last: Head) -> Entry:
    try:
        entry = next_entry(raw, last)
    except Refused as refused:
        raise RolledBack(
            f"your history is not what was read of it: {refused.reason}", member=refused.member
        ) from refused
    if entry.facts is None:  # with the account alone are facts erased: somebody hides what ended
        raise RolledBack(f"the facts of entry {entry.sequence} of your history are gone", member="facts")
    return entry


def _ended_by(entry: Entry) -> str:
    digest = (entry.facts or {}).get("request_digest")
    if not isinstance(digest, str):
        raise RolledBack(f"entry {entry.sequence} of your history ends a request that it does not name", member="facts")
    return digest


def take_out_ended(keeper: NotesKeeper, key: VaultKey, user_id: str, page: Page, log: Log) -> None:
    """Let the notes forget what the person's own chain says has ended, and remember how far it was read.

    Where the notes hold the keys of the public log, that has each entry, but for those of the last ten minutes.
    `RolledBack` where it has not, or the chain does not go on from where it was read last.
    """
    notes, _ = keeper.read(key, user_id)
    seen = head_of(notes)
    start = Head(**notes["proved"]) if "proved" in notes else seen
    head, ended, entries = entries_after(start, page)
    if seen.sequence > start.sequence and seen not in [entry.head for entry in entries]:
        raise RolledBack("your history is not what was read of it", member="entry_hash")
    proved = _proved(start, entries, notes.get("log"), log)
    if head == seen and (proved is None or asdict(proved) == notes.get("proved")):
        return

    def change(now: Notes) -> Notes:
        records = without_records(now.get("approvals"), ended, time.time())
        changed = {**now, "approvals": records, "history": _further(now, "history", head)}
        return changed if proved is None else {**changed, "proved": _further(now, "proved", proved)}

    keeper.write(key, user_id, change)


def _further(notes: Notes, name: str, head: Head) -> dict[str, Any]:
    known: dict[str, Any] = notes.get(name, {})
    return known if known.get("sequence", 0) > head.sequence else asdict(head)


def _proved(start: Head, entries: Sequence[Entry], known: Mapping[str, Any] | None, log: Log) -> Head | None:
    """Up to where the log has all; None where the notes know no log."""
    if known is None:
        return None
    memory, last = memory_of({**known, "checkpoint": known.get("note")}), start
    is_whole = True
    for entry in entries[-_MOST_PROOFS:]:  # of a long history that is read for the first time
        try:
            is_whole = _is_proved(entry, memory, log) and is_whole
        except Refused as refused:
            said = f"the public log has another history than yours: {refused.reason}"
            raise RolledBack(said, member=refused.member) from refused
        last = entry.head if is_whole else last
    return last


def _is_proved(entry: Entry, memory: Memory, log: Log) -> bool:
    """False where the log does not have it yet; Refused where it should, or has another."""
    answer = log(f"/proof/{entry.entry_hash}", {})
    if answer.status != 200:
        if abs(time.time() - datetime.fromisoformat(entry.at).timestamp()) >= LATE_SECONDS:
            raise Refused(f"it does not have entry {entry.sequence}", member="proof")
        return False
    proof = memory.read_proof(_text(answer), tied=True)
    proof.check(entry.leaf)
    gap = memory.gap(proof.checkpoint)
    sizes = {"old": str(gap[0]), "new": str(gap[1])} if gap else {}
    memory.tie(proof.checkpoint, read_consistency(_text(log("/consistency", sizes))) if gap else ())
    return True


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")
