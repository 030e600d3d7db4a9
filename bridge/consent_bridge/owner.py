"""A person without a browser: their vault and their decisions, over the addresses that the consent app's pages use.

The passphrase, the recovery code and the vault key never leave this process; what is sent is sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from consent_bridge.errors import BadAnswer, KeyRefused, Refused
from consent_bridge.holder import VaultHolder
from consent_bridge.own_history import check_registered, entries_after, head_of, read_history, take_out_ended
from consent_bridge.records import without_records
from consent_bridge.results import Status, build
from consent_bridge.review import Review
from consent_bridge.signatures import thumbprint
from consent_bridge.signin import LOGIN_PATH, REAUTHENTICATE_PATH, SiteSession
from consent_bridge.signing import new_root
from consent_bridge.transport import Answer
from consent_bridge.vault import SealedSegment, VaultState, unwrap_any
from consent_bridge.vault_notes import AppMemory, Notes, NotesMemory, RolledBack, memory_of, with_paused, with_revisions
from consent_bridge.wrappers import Kind, generate_recovery_code, generate_vault_key, possession_digest, wrap

HISTORY_PATH = "/consent/history/chain"


class _OwnAddresses:
    """The owner's addresses at the consent app: the vault's in one folder, all others in the other."""

    def __init__(self, site: SiteSession) -> None:
        self._site = site

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self._site.get(_in_folder(path), params)

    def send(self, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None) -> Answer:
        return self._site.send(method, _in_folder(path), body, params)


def _in_folder(path: str) -> str:
    return f"/consent{path}" if path.startswith(("/requests/", "/grants/", "/history/")) else f"/vault{path}"


class Owner(VaultHolder):
    """One person at one consent app. Sign in, unlock, then read, write and decide.

    Errors beside those of a `VaultHolder`: SignInRefused.
    """

    def __init__(self, site_url: str, *, memory: NotesMemory | None = None, **limits: Any) -> None:
        """`memory` outlives the process where it is a file's; `limits` are those of Transport: connect_timeout,
        read_timeout, attempts, pause."""
        self._site = SiteSession(site_url, **limits)
        super().__init__(_OwnAddresses(self._site), memory)

    def __enter__(self) -> Owner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget the vault key and the session."""
        self.lock()
        self._site.close()

    # -- who

    def sign_in(self, login: str, password: str) -> VaultState:
        """Sign in with the account's e-mail address and password."""
        self._site.submit(LOGIN_PATH, {"login": login, "password": password})
        return self.vault()

    def reauthenticate(self, password: str) -> None:
        """Give the password again, where an answer was `reauthentication_required`."""
        self._site.submit(REAUTHENTICATE_PATH, {"password": password})

    # -- the vault

    def create_vault(self, passphrase: str) -> str:
        """Make the vault, unlocked; the recovery code, which exists nowhere else."""
        user_id = self.vault().user_id
        key, code = replace(generate_vault_key(), has_notes=True), generate_recovery_code()
        wrappers = [
            {"kind": "passphrase", "label": "Passphrase", "jwe": wrap(key, "passphrase", passphrase, user_id)},
            {"kind": "recovery", "label": "Recovery code", "jwe": wrap(key, "recovery", code, user_id)},
        ]
        root, members = new_root(key.secret, key.key_id, user_id)
        vault = {"key_id": key.key_id, "wrappers": wrappers, "possession_sha256": possession_digest(key), **members}

        def send(notes: str) -> Answer:
            return self._addresses.send("POST", "/keys", {**vault, "notes": notes})

        self._notes.begin(key, user_id, thumbprint(root.key.public), send)
        self._key, self._root = key, root
        return code

    def unlock(self, *, passphrase: str | None = None, recovery_code: str | None = None) -> None:
        """Open the vault with one of its secrets; the server does not learn of it."""
        kind: Kind = "passphrase" if passphrase is not None else "recovery"
        secret = passphrase if passphrase is not None else recovery_code
        if secret is None:
            raise KeyRefused("give a passphrase or a recovery code")
        state = self.vault()
        candidates = [wrapper for wrapper in state.wrappers if wrapper.kind == kind]
        if not candidates or state.key_id is None:
            raise KeyRefused(f"the vault has no {kind} wrapper")
        self._key, self._root = unwrap_any(candidates, kind, secret, state.user_id, state.key_id), None
        if state.signing_jwe is not None or self._key.has_notes:
            with suppress(RolledBack):  # what is kept can be read; nothing is sealed before `check_state` is in order
                self._approval_root()  # a root that the service changed is found out now

    # -- an older state

    def check_state(self) -> None:
        """`RolledBack`, saying what went back, where the service shows an older state than was seen here.

        Nothing is sealed then until the person has said `take_older_state`.
        """
        seen, since = self._notes.revisions(self._user_id), self._notes.seen_on(self._user_id)
        before = f"was seen here on {since}" if since else "there was"
        older: list[str] = []
        try:
            notes, _ = self._notes.read(self._unlocked(), self._user_id)
            seen = with_revisions(seen, notes.get("segments", {}))
            read_history(self._notes, self._unlocked(), self._user_id, self._history_page, head_of)
        except RolledBack as refused:
            older.append(refused.reason)
        back = [f"{place} went back from revision {old} to {new}" for place, old, new in self._older_than(seen)]
        if back or older:
            raise RolledBack(
                f"the service shows an older state than {before}: {'; '.join(back + older)}. That is so after "
                "a restore from a backup, and where somebody brings back what you stopped: ask the operator",
                member="revision",
            )

    def take_older_state(self) -> None:
        """Go on with what is there, by the person's word; what was approved is asked about again.

        `RolledBack` where the notes are gone from a vault that was made with them: only a new vault helps then.
        """
        head, *_ = entries_after(head_of({}), self._history_page)
        segments = self._stored_revisions()

        def change(notes: Notes) -> Notes:
            records = without_records(notes.get("approvals"), None, 0)
            return {
                **notes,
                "approvals": records,
                "history": asdict(head),
                "proved": asdict(head),
                "segments": segments,
            }

        self._notes.take_older(self._unlocked(), self._user_id, change)
        self._seen.clear()

    def _take_out_ended(self) -> None:
        take_out_ended(self._notes, self._unlocked(), self._user_id, self._history_page, self._log)

    def _note_resumed(self, digest: str) -> None:
        self._take_out_ended()  # else a pause that is read later would stand after it
        notes, _ = self._notes.read(self._unlocked(), self._user_id)
        if digest in notes.get("paused", ()):
            self._notes.write(
                self._unlocked(), self._user_id, lambda now: with_paused(now, {*now.get("paused", ())} - {digest})
            )

    def _history_page(self, after: int) -> dict[str, Any]:
        return self._site.get(HISTORY_PATH, {"after": str(after)})

    def _log(self, path: str, params: Mapping[str, str]) -> Answer:
        return self._site.read(f"/log{path}", params)

    def _older_than(self, seen: Mapping[str, int]) -> list[tuple[str, int, int]]:
        """Segments that are there in an older revision than was seen before: place, then, now."""
        now = self._stored_revisions()
        return [(place, seen[place], now[place]) for place in sorted(seen.keys() & now) if now[place] < seen[place]]

    def _stored_revisions(self) -> dict[str, int]:
        listed = self._addresses.get("/segments").get("segments")
        sealed = [build(SealedSegment, item) for item in (listed if isinstance(listed, list) else [])]
        return {f"{item.domain}.{item.segment_id}": item.content_revision for item in sealed}

    # -- decisions

    def history(self) -> dict[str, Any]:
        """{"entries": every entry of this person's own chain}, as `consent-bridge verify-history` takes it."""
        entries: list[Any] = []
        while True:
            page = self._site.get(HISTORY_PATH, {"after": str(len(entries))}).get("entries")
            if not isinstance(page, list):
                raise BadAnswer("the answer has no entries")
            if not page:
                return {"entries": entries}
            entries += page

    def memory_of(self, review: Review) -> AppMemory:
        """What the vault's notes have of the app that asks, whatever the service says of it."""
        notes, _ = self._notes.read(self._unlocked(), self._user_id)
        thumbprint, domain = review.request["connector_thumbprint"], review.vouching.domain
        return memory_of(notes, review.app_id, thumbprint, domain, review.sources)

    def knows_invitation(self, review: Review) -> bool:
        """Whether the sharing ID that the app used is the person's by the vault's notes; True where it used none."""
        used = review.request.get("invitation_sha256")
        return used is None or used in self._notes.read(self._unlocked(), self._user_id)[0].get("invitations", [])

    def approve(
        self,
        review: Review,
        *,
        attributes: Iterable[str] | None = None,
        access_duration: int | None = None,
        despite_unvouched: bool = False,
        invited: bool = False,
    ) -> Status:
        """Seal the slice to the app's key and approve: `attributes` of those asked for, or all that the vault has.

        Where nobody vouches for the key, restricted data is Refused, and confidential data unless `despite_unvouched`;
        where the app used a sharing ID that the notes do not know, unless the person says that they `invited` it.
        """
        if not invited and not self.knows_invitation(review):
            raise Refused("your vault does not know the sharing ID that the app used", member="invitation_sha256")
        if review.vouching.by == "registered":
            check_registered(review, self._notes.read(self._unlocked(), self._user_id)[0], self._log)
        self._take_out_ended()
        return self._approve(review, attributes, access_duration, despite_unvouched)
