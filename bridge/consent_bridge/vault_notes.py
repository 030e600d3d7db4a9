"""A vault's own sealed notes: what it approved, and what no program of its person takes the service's word for.

One small record, written whole. Members that this program does not know stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from consent_bridge import jwe
from consent_bridge.derived import known_answers
from consent_bridge.encoding import dump_json, parse_object
from consent_bridge.errors import BadAnswer, Problem, Refused
from consent_bridge.signatures import sha256
from consent_bridge.transport import Answer
from consent_bridge.vault import Addresses
from consent_bridge.wrappers import VaultKey

Notes = dict[str, Any]
"""`approvals` is consent_bridge.records; `connectors` app → thumbprints; `domains` app → the one that it was last
approved with; `history` how far the person's chain was read; `segments` the highest revisions (of a deleted
one that of its deletion), `hidden` the scopes that the person keeps out of discovery, sorted;
`root` the thumbprint of the key that certifies approvals, `next_root` while it is replaced; `generation` counts the
vault's keys, from the second in which it was made, and `retired` names the earlier ones; `invitations` are the digests
of the person's sharing IDs; `answers` is consent_bridge.derived."""
Change = Callable[[Notes], Notes]
Send = Callable[[dict[str, Any]], Answer]
"""What is sent with the next revision of the notes, {"jwe", "base_revision"}; it may be done again."""
_ATTEMPTS = 5
_TYP = "vault-notes+jwe"

PROFILE = jwe.Profile(
    name="notes",
    alg=jwe.ALG_VAULT,
    members={"typ": jwe.exactly(_TYP), "kid": jwe.vault_key_name, "sub": jwe.text, "revision": jwe.counter},
)


def seal_notes(notes: Mapping[str, Any], key: VaultKey, user_id: str, revision: int) -> str:
    """The notes as a compact JWE."""
    members = {"typ": _TYP, "kid": key.key_id, "sub": user_id, "revision": revision}
    return jwe.seal(members, dump_json(dict(notes), "the notes"), jwe.symmetric(key.secret), PROFILE)


def open_notes(sealed: str, key: VaultKey, user_id: str, revision: int) -> Notes:
    """What they hold; refuses those of another vault, person or revision."""
    jwe.equal({"kid": key.key_id, "sub": user_id, "revision": revision})(jwe.read_header(sealed, PROFILE))
    return parse_object(jwe.open_sealed(sealed, jwe.symmetric(key.secret), "notes"), "the notes")


def _generation(notes: Notes) -> int:
    """Which of the vault's keys they are sealed under, by count."""
    return int(notes.get("generation", 1))


def with_revisions(known: Mapping[str, int], revisions: Mapping[str, int]) -> dict[str, int]:
    """ "domain.segment" → the higher of both revisions."""
    return {**known, **{place: number for place, number in revisions.items() if number > known.get(place, 0)}}


def with_segments(revisions: Mapping[str, int], notes: Notes) -> Notes:
    """With the higher of both revisions of each segment."""
    return {**notes, "segments": with_revisions(notes.get("segments", {}), revisions)}


def with_paused(notes: Notes, digests: Iterable[str]) -> Notes:
    """With these requests as what the history told paused and the vault did not resume."""
    others = {name: value for name, value in notes.items() if name != "paused"}
    paused = sorted(digests)
    return {**others, "paused": paused} if paused else others


def _with_hidden(notes: Notes, hidden: list[str]) -> Notes:
    """With what was hidden while the vault was locked: whoever hides only restricts."""
    return {**notes, "hidden": sorted(hidden)} if hidden else notes


def with_connector(notes: Notes, app_id: str, thumbprint: str) -> Notes:
    """With this key of the app among those that it used."""
    connectors = notes.get("connectors", {})
    known = connectors.get(app_id, [])
    return notes if thumbprint in known else {**notes, "connectors": {**connectors, app_id: [*known, thumbprint]}}


def with_domain(notes: Notes, app_id: str, domain: str | None) -> Notes:
    """With the domain that the app was approved with last."""
    return notes if domain is None else {**notes, "domains": {**notes.get("domains", {}), app_id: domain}}


@dataclass(frozen=True)
class AppMemory:
    """What the vault itself knows of an app: its key is the `first`, `known`, or `new` beside known ones.

    `domain_before` is the domain that it was approved with last, where it has another one now. `knows` are by path the
    answers that it has about the values that its request is about.
    """

    key: str
    domain_before: str | None
    knows: dict[str, Any] = field(default_factory=dict)


def memory_of(notes: Notes, app_id: str, thumbprint: str, domain: str | None, sources: Iterable[str] = ()) -> AppMemory:
    """What these notes have of the app that asks about these values with this key, and has this domain now."""
    known = notes.get("connectors", {}).get(app_id)
    before = notes.get("domains", {}).get(app_id)
    key = "first" if not known else "known" if thumbprint in known else "new"
    return AppMemory(key, before if before != domain else None, known_answers(notes.get("answers"), app_id, sources))


@dataclass(frozen=True)
class NotesState:
    """Notes as they are stored: under which key of the vault, and the digest of the JWE, None where there are none."""

    notes: Notes
    revision: int
    key_id: str
    sha256: str | None


class NotesMemory:
    """What was seen here of each person's vault: nothing older is believed. This one is kept for the process alone."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Any]] = {}

    def load(self, user_id: str) -> dict[str, Any]:
        """{"notes": {"revision", "key_id", "generation", "sha256", "at" (seconds since 1970)}, "segments":
        "domain.segment" → the highest revision}; members are absent where nothing was seen."""
        return self._seen.get(user_id, {})

    def keep(self, user_id: str, seen: dict[str, Any]) -> None:
        """Remember what is newer of it than what is remembered."""
        self._seen[user_id] = newest(self.load(user_id), seen)

    def replace(self, user_id: str, seen: dict[str, Any]) -> None:
        """Remember this alone, however old: by the person's word."""
        self._seen[user_id] = seen


def newest(known: Mapping[str, Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    """Of both the notes of the later key, and of the later revision under it, and the higher revisions of segments."""
    notes = [one["notes"] for one in (seen, known) if "notes" in one]
    segments = with_revisions(known.get("segments", {}), seen.get("segments", {}))
    later = {"notes": max(notes, key=lambda one: (one["generation"], one["revision"]))} if notes else {}
    return {**later, **({"segments": segments} if segments else {})}


class RolledBack(Refused):
    """The service shows an older state than was seen before; nothing was sent."""


class NotesKeeper:
    """The notes of one person's vault, over their addresses."""

    def __init__(self, addresses: Addresses, memory: NotesMemory) -> None:
        self._addresses, self._memory = addresses, memory

    def read(self, key: VaultKey, user_id: str) -> tuple[Notes, int]:
        """The notes and their revision, 0 where there are none; `RolledBack` where newer ones were seen here."""
        state = self.read_state(key, user_id)
        return state.notes, state.revision

    def read_state(self, key: VaultKey, user_id: str) -> NotesState:
        """The same with what an entry of the history names them by."""
        seen = self._memory.load(user_id).get("notes")  # before: what a faster program writes meanwhile makes no alarm
        sealed, revision, notes, hidden = self._stored(key, user_id)
        if seen is not None and _is_older(seen, key, sealed, revision, notes):
            since = self.seen_on(user_id)
            message = f"the service shows an older state of your vault than was seen here on {since}; nothing was sent"
            raise RolledBack(message, member="revision")
        if _are_gone(key, notes):
            raise RolledBack("your vault was made with notes, and they are gone; nothing was sent", member="notes")
        if sealed is None:
            return NotesState({}, 0, key.key_id, None)
        shown = set(notes.get("hidden", ())) - set(hidden)
        if shown:
            message = f"{min(shown)} was hidden, and the service shows it to apps again; nothing was sent"
            raise RolledBack(message, member="hidden_scopes")
        self._memory.keep(user_id, {"notes": _seen(key, sealed, revision, notes)})
        return NotesState(_with_hidden(notes, hidden), revision, key.key_id, sha256(sealed))

    def _read_older(self, key: VaultKey, user_id: str) -> tuple[Notes, int]:
        """The same however old they are; `RolledBack` where there is nothing to go on from."""
        _, revision, notes, hidden = self._stored(key, user_id)
        if _are_gone(key, notes):
            message = "your vault was made with notes, and they are gone: only a new vault helps; nothing was sent"
            raise RolledBack(message, member="notes")
        return {**notes, "hidden": sorted(hidden)}, revision

    def _stored(self, key: VaultKey, user_id: str) -> tuple[str | None, int, Notes, list[str]]:
        """The sealed notes, their revision, what they hold, and the scopes hidden at their moment."""
        answer = self._addresses.get("/notes")
        sealed, revision, hidden = answer.get("jwe"), answer.get("revision"), answer.get("hidden_scopes", [])
        if not isinstance(revision, int) or not isinstance(sealed, str | None):
            raise BadAnswer("the answer has no notes")
        if not isinstance(hidden, list) or not all(isinstance(scope, str) for scope in hidden):
            raise BadAnswer("the answer's hidden scopes are no list of texts")
        return sealed, revision, {} if sealed is None else open_notes(sealed, key, user_id, revision), hidden

    def begin(self, key: VaultKey, user_id: str, root: str, send: Callable[[str], Answer]) -> None:
        """Send a new vault along with its first notes, sealed, in the place of one that its person gave up.

        They count on from the keys of that one, by the time, since this program may have seen few of them or none: what
        any program saw of it is then no newer. What was seen here is forgotten with the answer.
        """
        seen = self._memory.load(user_id).get("notes", {}).get("generation", 0)
        notes = {"root": root, "approvals": {}, "generation": max(seen + 1, int(time.time()))}
        sealed = seal_notes(notes, key, user_id, 1)
        send(sealed)
        self._memory.replace(user_id, {"notes": _seen(key, sealed, 1, notes)})

    def change(self, key: VaultKey, user_id: str, change: Change, send: Send) -> Answer:
        """Send what `change` makes of the notes along with what they tell of, in one transaction.

        Another program or device that was faster is read again first.
        """
        answer, seen = _sent(self.read, key, user_id, change, send)
        self._memory.keep(user_id, {"notes": seen})
        return answer

    def write(self, key: VaultKey, user_id: str, change: Change) -> None:
        """The same of the notes alone."""
        self.change(key, user_id, change, self._put)

    def take_older(self, key: VaultKey, user_id: str, change: Change) -> None:
        """The same of what is there, however old, by the person's word: this goes on from it.

        What was seen here is forgotten once that is written, not before.
        """
        _, seen = _sent(self._read_older, key, user_id, change, self._put)
        self._memory.replace(user_id, {"notes": seen})

    def _put(self, notes: dict[str, Any]) -> Answer:
        return self._addresses.send("PUT", "/notes", notes)

    def revisions(self, user_id: str) -> dict[str, int]:
        """The highest revision of each segment that was seen here."""
        return dict(self._memory.load(user_id).get("segments", {}))

    def note_revisions(self, user_id: str, revisions: Mapping[str, int]) -> None:
        """Those that are higher than what was seen here."""
        self._memory.keep(user_id, {"segments": dict(revisions)})

    def seen_on(self, user_id: str) -> str:
        """When the newest notes were seen here, in words; "" where none were."""
        at = self._memory.load(user_id).get("notes", {}).get("at")
        return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _sent(
    read: Callable[[VaultKey, str], tuple[Notes, int]], key: VaultKey, user_id: str, change: Change, send: Send
) -> tuple[Answer, dict[str, Any]]:
    """The answer, and what is then seen of the notes."""
    for attempt in range(1, _ATTEMPTS + 1):
        notes, revision = read(key, user_id)
        changed = change(notes)
        sealed = seal_notes(changed, key, user_id, revision + 1)
        try:
            answer = send({"jwe": sealed, "base_revision": revision})
        except Problem as problem:
            behind = problem.code == "stale_revision" and problem.extra.get("member") == "notes"
            if not behind or attempt == _ATTEMPTS:
                raise
        else:
            return answer, _seen(key, sealed, revision + 1, changed)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _seen(key: VaultKey, sealed: str, revision: int, notes: Notes) -> dict[str, Any]:
    named = {"revision": revision, "key_id": key.key_id, "generation": _generation(notes)}
    return {**named, "sha256": sha256(sealed), "at": int(time.time())}


def _are_gone(key: VaultKey, notes: Notes) -> bool:
    return key.has_notes and "root" not in notes


def _is_older(seen: Mapping[str, Any], key: VaultKey, sealed: str | None, revision: int, notes: Notes) -> bool:
    """Whether these notes are older than what was seen, or others of the same revision."""
    if _generation(notes) != seen["generation"]:  # an older key may have been put back, notes and all
        return bool(_generation(notes) < seen["generation"])
    if revision > seen["revision"]:
        return False
    if revision < seen["revision"]:
        return True
    return bool(seen["key_id"] == key.key_id and (sealed is None or sha256(sealed) != seen["sha256"]))
