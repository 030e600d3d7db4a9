"""What a person's own chain of entries says since it was read last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from consent_bridge.entries import ENDS, Entry, Head, next_entry
from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.records import without_records
from consent_bridge.vault_notes import Notes, NotesKeeper, RolledBack
from consent_bridge.wrappers import VaultKey

Page = Callable[[int], Mapping[str, Any]]
"""{"head", "entries"} after a sequence, as the service answers."""


def head_of(notes: Mapping[str, Any]) -> Head:
    """How far a vault's notes say that the chain was read."""
    return Head(**notes.get("history", {"chain": "", "sequence": 0, "entry_hash": ""}))


def entries_after(before: Head, page: Page) -> tuple[Head, list[str]]:
    """Where the chain stands now, and the digests of the requests whose grants ended since.

    `RolledBack` where it does not go on from `before`.
    """
    last, ended = before, list[str]()
    while True:
        answer = page(last.sequence)
        head, entries = answer.get("head"), answer.get("entries")
        if not isinstance(head, Mapping) or not isinstance(entries, list):
            raise BadAnswer("the answer is no part of a history")
        for told in entries:
            entry = _followed(told, last)
            if entry.kind in ENDS:
                ended.append(_ended_by(entry))
            last = entry.head
        further = int(head.get("sequence", 0)) - last.sequence
        if entries and further > 0:
            continue
        # what was appended between two answers is no fault; a head that nothing leads to is
        if not (entries and further < 0) and (further or head.get("entry_hash") != last.entry_hash):
            raise RolledBack(f"your history ends before what was read of it ({before.sequence} entries)", member="head")
        return last, ended


def _followed(told: object, last: Head) -> Entry:
    try:
        entry = next_entry(told, last)
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


def take_out_ended(keeper: NotesKeeper, key: VaultKey, user_id: str, page: Page) -> None:
    """Let the notes forget what the person's own chain says has ended, and remember how far it was read.

    `RolledBack` where the chain does not go on from where it was read last.
    """
    before = head_of(keeper.read(key, user_id)[0])
    head, ended = entries_after(before, page)
    if head == before:
        return

    def change(now: Notes) -> Notes:
        further = head_of(now).sequence > head.sequence
        records = without_records(now.get("approvals"), ended, time.time())
        return {**now, "approvals": records, "history": now["history"] if further else asdict(head)}

    keeper.write(key, user_id, change)
