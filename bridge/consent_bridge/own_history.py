"""What a person's own chain of entries says since it was read last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from consent_bridge.entries import ENDS, Entry, Head, next_entry, read_entry
from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.logs import LATE_SECONDS, Memory, Trust, memory_of, read_consistency, read_keys
from consent_bridge.notes import Proof
from consent_bridge.records import without_records
from consent_bridge.review import Review
from consent_bridge.transport import Answer
from consent_bridge.vault_notes import Notes, NotesKeeper, NotesState, RolledBack, with_paused
from consent_bridge.wrappers import VaultKey

Page = Callable[[int], Mapping[str, Any]]
"""{"head", "entries"} after a sequence, as the service answers."""
Log = Callable[[str, Mapping[str, str]], Answer]
"""What the service answers under /log/: a path below it, and a query."""
_MOST_PROOFS = 200
_VAULT_STATE = "vault_state"
_MATURE_SECONDS = 24 * 3600 - 1  # an entry's time is cut to the second


def head_of(notes: Mapping[str, Any]) -> Head:
    """How far a vault's notes say that the chain was read."""
    return Head(**notes.get("history", {"chain": "", "sequence": 0, "entry_hash": ""}))


def _proved_head_of(notes: Mapping[str, Any]) -> Head:
    return Head(**notes["proved"]) if "proved" in notes else head_of(notes)


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


def read_history(
    keeper: NotesKeeper, key: VaultKey, user_id: str, page: Page, begin: Callable[[Notes], Head]
) -> tuple[Notes, Head, list[str], list[Entry]]:
    """The notes, and what `entries_after` tells from where `begin` says.

    `RolledBack` where that is of a later state of the vault.
    """
    before = keeper.read_state(key, user_id)
    head, ended, entries = entries_after(begin(before.notes), page)
    # another program may have written in between
    if show_later_state(entries, before) and show_later_state(entries, keeper.read_state(key, user_id)):
        raise RolledBack("your history tells of a later state of your vault; nothing was sent", member="notes")
    return before.notes, head, ended, entries


def show_later_state(entries: Sequence[Entry], state: NotesState) -> bool:
    """Whether these entries tell of newer notes, of others of the same revision, or of a later key of the vault.

    The vault signs none of them, so that they only stop what is older; what they lack shows nothing.
    """
    states = [entry.facts or {} for entry in entries if entry.kind == _VAULT_STATE]
    first = next((place for place, facts in enumerate(states) if facts.get("key_id") == state.key_id), None)
    if first is None and state.sha256 is None:  # a vault without notes never wrote one down
        return False
    # what comes before is of an earlier vault or key
    return any(_is_later(facts, state) for facts in states[first or 0 :])


def _is_later(facts: Mapping[str, Any], state: NotesState) -> bool:
    if facts.get("key_id") != state.key_id:
        return facts.get("key_id") not in state.notes.get("retired", [])
    revision = int(facts.get("revision", 0))
    return revision > state.revision or (revision == state.revision and facts.get("notes_sha256") != state.sha256)


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
    """Let the notes forget what the person's own chain says has ended, and remember what it says is paused.

    How far it was read is remembered too. The public log has each entry, but for those of the last ten minutes.
    `RolledBack` where it has not, or the chain does not go on from where it was read last.
    """
    notes, head, ended, entries = read_history(keeper, key, user_id, page, _proved_head_of)
    seen, start = head_of(notes), _proved_head_of(notes)
    if seen.sequence > start.sequence and seen not in [entry.head for entry in entries]:
        raise RolledBack("your history is not what was read of it", member="entry_hash")
    proved = _proved(start, entries, notes.get("log"), log)
    is_news = any(entry.sequence > seen.sequence and entry.kind != _VAULT_STATE for entry in entries)
    if not is_news and proved == start:
        return  # were a state news, each write of it would be to the next

    def change(now: Notes) -> Notes:
        records = without_records(now.get("approvals"), ended, time.time())
        reached = {"history": _further(now, "history", head), "proved": _further(now, "proved", proved)}
        return {**with_paused(now, _paused(now, entries, ended)), "approvals": records, **reached}

    keeper.write(key, user_id, change)


def _paused(notes: Notes, entries: Sequence[Entry], ended: Sequence[str]) -> set[str]:
    """What is paused until the vault itself resumes it: an entry that tells of that is signed by no vault."""
    since = [one for one in entries if one.kind == "paused" and one.sequence > head_of(notes).sequence]
    return {*notes.get("paused", ()), *(str((one.facts or {}).get("request_digest")) for one in since)} - set(ended)


def check_registered(review: Review, notes: Notes, log: Log) -> None:
    """Refused unless the public log proves that the app registered the key of this request over 24 hours ago."""
    try:
        entry = read_entry(review.vouching.entry)
        facts = entry.facts or {}
        own_key = (review.app_id, review.request["connector_thumbprint"])
        of_key = (facts.get("app_id"), facts.get("thumbprint")) == own_key
        if entry.kind != "connector_key_registered" or not of_key:
            raise Refused("the entry is of another key")
        if time.time() - datetime.fromisoformat(entry.at).timestamp() < _MATURE_SECONDS:
            raise Refused("it was registered less than a day ago")
        known = notes.get("log")
        proof = _proof_of(entry, partial(_log_memory, known, log), log)  # of one that old it refuses what the log lacks
        if proof and known and _is_dated_back(entry, proof.index, known):
            raise Refused("it came into the log later than it says")
    except Refused as refused:
        message = f"the registration of the app's key is not proved: {refused.reason}; nothing was sent"
        raise Refused(message, member="vouching") from refused


def _is_dated_back(entry: Entry, index: int, known: Mapping[str, Any]) -> bool:
    """Whether a look at the log found it without what has this place, and later than the entry says it was made."""
    latest = known.get("at", 0) - LATE_SECONDS  # of what was in it then
    return bool(index >= known["size"] and datetime.fromisoformat(entry.at).timestamp() < latest)


def _log_memory(known: Mapping[str, Any] | None, log: Log) -> Memory:
    """What the notes remember of the log; where they do not, as it shows itself now."""
    if known is not None:
        return memory_of({**known, "checkpoint": known.get("note")})
    first = Memory(Trust(read_keys(_text(log("/key", {})))))
    return replace(first, checkpoint=first.read(_text(log("/checkpoint", {}))))


def _further(notes: Notes, name: str, head: Head) -> dict[str, Any]:
    known: dict[str, Any] = notes.get(name, {})
    return known if known.get("sequence", 0) > head.sequence else asdict(head)


def _proved(start: Head, entries: Sequence[Entry], known: Mapping[str, Any] | None, log: Log) -> Head:
    """Up to where the log has all. A vault's state needs no proof: it restricts."""
    memory = cache(partial(_log_memory, known, log))
    last, is_whole = start, True
    decided = [entry for entry in entries if entry.kind != _VAULT_STATE]
    for entry in decided[-_MOST_PROOFS:]:  # of a long history that is read for the first time
        try:
            is_whole = _proof_of(entry, memory, log) is not None and is_whole
        except Refused as refused:
            message = f"the public log has another history than yours: {refused.reason}"
            raise RolledBack(message, member=refused.member) from refused
        last = entry.head if is_whole else last
    return last


def _proof_of(entry: Entry, memory_of_log: Callable[[], Memory], log: Log) -> Proof | None:
    """None where the log does not have it yet; Refused where it should, or has another."""
    answer = log(f"/proof/{entry.entry_hash}", {})
    if answer.status != 200:
        if abs(time.time() - datetime.fromisoformat(entry.at).timestamp()) >= LATE_SECONDS:
            raise Refused(f"it does not have entry {entry.sequence}", member="proof")
        return None
    memory = memory_of_log()
    proof = memory.read_proof(_text(answer), tied=True)
    proof.check(entry.leaf)
    gap = memory.gap(proof.checkpoint)
    sizes = {"old": str(gap[0]), "new": str(gap[1])} if gap else {}
    memory.tie(proof.checkpoint, read_consistency(_text(log("/consistency", sizes))) if gap else ())
    return proof


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")
