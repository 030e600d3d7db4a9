"""Whoever holds a vault key: what they keep, and what they decide, over the owner's addresses.

The vault key never leaves this process; what is sent is sealed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from consent_bridge import vault_notes
from consent_bridge.derived import Given, with_given
from consent_bridge.errors import BridgeError, KeyRefused, Problem, Refused
from consent_bridge.exports import ExportContent, origin_of
from consent_bridge.records import Approved, record_of, with_record, without_records
from consent_bridge.results import Status, build
from consent_bridge.review import Review, read_review
from consent_bridge.segments import SegmentHeader, open_segment, seal_segment
from consent_bridge.signatures import sha256, thumbprint, verified
from consent_bridge.signing import APPROVAL_TYP, ApprovalRoot, new_root, open_root, signed_approval, signed_resumption
from consent_bridge.slicing import answered, chosen_paths, export_members, repeated, sealed_slice, slice_of, values_at
from consent_bridge.transport import Answer
from consent_bridge.vault import Addresses, Revisions, SealedSegment, Segment, VaultState
from consent_bridge.wrappers import VaultKey

_ATTEMPTS_AT_A_SEGMENT = 3


class VaultHolder:
    """One person with their vault: read, write and decide, however their addresses are reached.

    Errors: Problem (the service said no), Unreachable, BadAnswer, Refused (something is not what it has to be; nothing
    was sent then).
    """

    _is_sandbox = False  # by a test app, which alone knows a person by their own ID

    def __init__(self, addresses: Addresses, memory: vault_notes.NotesMemory | None = None) -> None:
        self._addresses = addresses
        self._notes = vault_notes.NotesKeeper(addresses, memory or vault_notes.NotesMemory())
        self._key: VaultKey | None = None
        self._root: ApprovalRoot | None = None
        self._user_id = ""
        self._seen: dict[tuple[str, str], int] = {}

    # -- the vault

    def vault(self) -> VaultState:
        """The vault's state and its wrappers."""
        state = build(VaultState, self._addresses.get("/keys"))
        self._user_id = state.user_id
        return state

    def lock(self) -> None:
        self._key = self._root = None

    # -- segments

    def segments(self, *, scope: str | None = None, domain: str | None = None) -> list[Segment]:
        """The segments of a scope, of a domain, or all, opened and checked against their place."""
        params = {"scope": scope} if scope is not None else {"domain": domain} if domain is not None else {}
        listed = self._addresses.get("/segments", params).get("segments")
        sealed = [build(SealedSegment, item) for item in (listed if isinstance(listed, list) else [])]
        opened = [self._opened(segment) for segment in sealed]
        self._notes.note_revisions(
            self._user_id, {f"{one.domain}.{one.segment_id}": one.content_revision for one in opened}
        )
        return opened

    def write(self, domain: str, segment_id: str, values: Mapping[str, Any], *, base: int) -> Revisions:
        """Write a segment over revision `base` (0 for a new one); Problem `stale_revision` if someone was faster."""
        key = self._unlocked()
        header = SegmentHeader(key.key_id, self._user_id, domain, segment_id, base + 1)
        body = {
            "jwe": seal_segment(values, key.secret, header),
            "base_content_revision": base,
            "attributes": list(values),
        }
        send = partial(self._send_notes, "PUT", _segment_path(domain, segment_id), body)
        try:
            answer = self._send_with_revision(f"{domain}.{segment_id}", base + 1, send)
        except Problem as problem:
            if problem.code == "segment_mismatch" and problem.extra.get("member") == "kid":
                self._lock_if_changed(key, problem)
            raise
        revisions = build(Revisions, answer.json())
        self._seen[domain, segment_id] = revisions.content_revision
        self._notes.note_revisions(self._user_id, {f"{domain}.{segment_id}": revisions.content_revision})
        return revisions

    def update(self, domain: str, segment_id: str, changes: Mapping[str, Any]) -> Revisions:
        """Set attributes of a segment and keep the others, also those that someone else writes meanwhile."""
        least = 0
        for attempt in range(1, _ATTEMPTS_AT_A_SEGMENT + 1):
            current = self._segment(domain, segment_id)
            base = max(current.content_revision, least)
            try:
                return self.write(domain, segment_id, {**current.values, **changes}, base=base)
            except Problem as problem:
                is_behind = problem.code == "stale_revision" and problem.extra.get("member") != "notes"
                if not is_behind or attempt == _ATTEMPTS_AT_A_SEGMENT:
                    raise
                # A deleted segment is not listed, but its counting goes on: only the refusal tells how far.
                found = problem.extra.get("current_content_revision")
                least = found if isinstance(found, int) else 0
        raise AssertionError("unreachable: the last attempt returns or raises")

    def delete(self, domain: str, segment_id: str, *, base: int) -> None:
        """Delete a segment at revision `base`.

        That needs no key. An open vault remembers it: what is put back by somebody is older than its deletion.
        """
        path, params = _segment_path(domain, segment_id), {"base_content_revision": str(base)}
        if self._key is None:
            self._addresses.send("DELETE", path, params=params)
            return

        def send(notes: dict[str, Any]) -> Answer:
            return self._addresses.send("DELETE", path, _notes_member(notes) or None, params)

        self._send_with_revision(f"{domain}.{segment_id}", base + 1, send)

    def _segment(self, domain: str, segment_id: str) -> Segment:
        for segment in self.segments(domain=domain):
            if segment.segment_id == segment_id:
                return segment
        return Segment(domain, segment_id, 0, {})

    def _opened(self, sealed: SealedSegment) -> Segment:
        key = self._unlocked()
        place = (sealed.domain, sealed.segment_id)
        if sealed.content_revision < self._seen.get(place, 0):
            raise Refused(
                f"segment {'.'.join(place)} is revision {sealed.content_revision}, older than one seen before",
                member="content_revision",
            )
        header = SegmentHeader(key.key_id, self._user_id, *place, sealed.content_revision)
        try:
            values = open_segment(sealed.jwe, key.secret, header)
        except Refused as refused:
            if refused.member == "kid":
                self._lock_if_changed(key, refused)
            raise
        self._seen[place] = sealed.content_revision
        return Segment(*place, sealed.content_revision, values)

    def _lock_if_changed(self, key: VaultKey, cause: Exception) -> None:
        """While a vault's key is being changed the old one works on; afterwards it opens and seals nothing."""
        if self.vault().key_id != key.key_id:
            self.lock()
            raise KeyRefused("the vault's key was changed meanwhile; unlock the vault again") from cause

    def _unlocked(self) -> VaultKey:
        if self._key is None:
            raise KeyRefused("the vault is locked")
        return self._key

    # -- decisions

    def review(self, request_id: str) -> Review:
        """The request, recomputed: Refused if the digest or the key's thumbprint is not the frozen request's."""
        own_id = self._user_id or self.vault().user_id
        body = self._addresses.get(f"/requests/{quote(request_id, safe='')}/data")
        return read_review(body, request_id=request_id, own_id=own_id, is_sandbox=self._is_sandbox)

    def preview(self, review: Review) -> dict[str, Any]:
        """What would leave if everything asked for were approved: attribute path → value."""
        return values_at(self._segments_of(review), review.attributes)

    def _approval_root(self) -> ApprovalRoot:
        """The root that approvals are signed from, out of the vault; made and set where the vault has none yet.

        Refused where the service names another public key than the vault's own: somebody changed it.
        """
        if self._root is not None:
            return self._root
        key, state = self._unlocked(), self.vault()
        if key.has_notes:
            self._check_root(key, state)
        if state.signing_jwe is None:
            root, members = new_root(key.secret, key.key_id, self._user_id)
            self._addresses.send("PUT", "/signing-key", members)
        else:
            root = open_root(state.signing_jwe, key.secret, key.key_id, self._user_id)
            if state.signing_public_key != root.key.public:
                raise Refused("the service names another approval key than your vault's", member="signing_public_key")
        self._root = root
        return root

    def _check_root(self, key: VaultKey, state: VaultState) -> None:
        """A vault that was made with notes was made with a root, which they name."""
        notes, _ = self._notes.read(key, self._user_id)
        public = state.signing_public_key
        if (
            state.signing_jwe is None
            or public is None
            or thumbprint(public) not in (notes["root"], notes.get("next_root"))
        ):
            raise Refused("the approval key is not the one that your vault's notes name", member="signing_public_key")

    def _approve(
        self, review: Review, attributes: Iterable[str] | None, access_duration: int | None, despite_unvouched: bool
    ) -> Status:
        review.check_vouched(despite=despite_unvouched)
        segments = self._segments_to_seal(review)
        approved = chosen_paths(review, segments, attributes)
        content = slice_of(review, approved, segments)
        duration = review.access_duration if access_duration is None else access_duration
        sealed = sealed_slice(review, content, review.export_revision)
        signed = signed_approval(
            self._approval_root(),
            export_members(review, review.export_revision),
            approved_attributes=approved,
            access_duration=duration,
            sealed=sealed["jwe"],
        )
        body = {
            "decision": "approve",
            "request_digest": review.request_digest,
            "access_duration": duration,
            "approved_attributes": approved,
            **sealed,
            **signed,
        }
        return self._send_remembered(review, content, signed, "POST", _decision_path(review.request_id), body)

    def deny(self, request_id: str, *, reason: str | None = None) -> Status:
        """Refuse; `reason` is the person's own note, which the app does not see."""
        body = {"decision": "deny", **({"reason": reason} if reason else {})}
        return build(Status, self._addresses.send("POST", _decision_path(request_id), body).json())

    def revoke(self, grant_id: str) -> Status:
        """End a grant; its ciphertext is deleted.

        That needs no key. An open vault forgets with it that it approved this; a locked one as it reads its history.
        """
        try:
            if self._key is not None:
                return self._revoke_remembered(grant_id)
        except BridgeError:
            pass  # a stop waits for nothing; one that is repeated is one stop
        return self._grant(grant_id, "revoke")

    def pause(self, grant_id: str) -> Status:
        """Let nobody read until `resume`."""
        return self._grant(grant_id, "pause")

    def resume(self, grant_id: str) -> Status:
        """End a pause. That opens reading again, so the vault signs it."""
        path = f"/grants/{quote(grant_id, safe='')}"
        review = self.review(str(self._addresses.get(f"{path}/approval").get("request_id")))
        body = signed_resumption(
            self._approval_root(),
            issuer=origin_of(review.issuer),
            user_id=review.user_id,
            app_id=review.app_id,
            grant_id=grant_id,
            request_digest=review.request_digest,
            nonce=str(self._addresses.get(f"{path}/nonce").get("nonce")),
        )
        self._note_resumed(review.request_digest)
        return build(Status, self._addresses.send("POST", f"{path}/resume", body).json())

    def refresh_grant(self, status: Status) -> Status:
        """Under a continuous grant: seal what the vault now holds of what it approved, as the next revision.

        `status` is the newest one of the request, as `approve`, `resume` or this returned it; Problem
        `stale_revision` where another revision, or a change of a segment, was faster.
        """
        grant = status.grant
        if grant is None or grant.export_revision is None:
            raise Refused("this request has no grant whose export could be refreshed")
        review = self.review(status.request_id)
        if review.request["refresh_policy"] != "continuous":
            raise Refused("this approval is a snapshot; it has no newer revisions", member="refresh_policy")
        attributes = list(grant.approved_attributes)
        revision = grant.export_revision + 1
        duration, ends_at = self._approved_terms(review, grant.grant_id, attributes, revision)
        segments = answered(review, self._segments_to_seal(review), repeated(review, attributes, self._given()))
        content = slice_of(review, attributes, segments)
        sealed = sealed_slice(review, content, revision)
        signed = signed_approval(
            self._approval_root(),
            export_members(review, revision),
            approved_attributes=attributes,
            access_duration=duration,
            ends_at=ends_at,
            sealed=sealed["jwe"],
        )
        body = {"revision": revision, **sealed, **signed}
        path = f"/grants/{quote(grant.grant_id, safe='')}/export"
        return self._send_remembered(review, content, signed, "PUT", path, body)

    def _approved_terms(self, review: Review, grant_id: str, attributes: list[str], revision: int) -> tuple[int, int]:
        """How many seconds this vault approved, and when they end (seconds since 1970).

        The vault's own notes alone are the authority, and what the service has of it is compared with them. Refused
        where they hold no such approval, or one of less.
        """
        approval = self._addresses.get(f"/grants/{quote(grant_id, safe='')}/approval").get("approval")
        # after the approval was read: another program's newer one is then in the notes
        self._take_out_ended()
        notes, _ = self._notes.read(self._unlocked(), self._user_id)
        record = record_of(notes.get("approvals"), review.request, review.request_digest)
        if record is None:
            raise Refused("your vault remembers no such approval; nothing was sent", member="approval")
        if record.revision >= revision:
            raise Problem("stale_revision", 409, f"your vault sealed revision {record.revision} already")
        if record.revision != revision - 1:
            raise Refused("your vault did not seal the revision before this; nothing was sent", member="revision")
        if review.request_digest in notes.get("paused", ()):
            raise Refused("this is paused, and your vault did not resume it; nothing was sent", member="paused")
        if record.ends_at <= time.time():
            raise Refused("what your vault approved is over; nothing was sent", member="ends_at")
        if not set(attributes) <= set(record.attributes):
            raise Refused("your vault approved less than this; nothing was sent", member="approved_attributes")
        if not isinstance(approval, str) or sha256(approval) != record.approval_sha256:
            raise Refused("your vault remembers another approval; nothing was sent", member="approval")
        key = self._approval_root().app_key(origin_of(review.issuer), review.app_id).public
        return verified(approval, APPROVAL_TYP, key, "the approval")["access_duration"], record.ends_at

    def _segments_of(self, review: Review) -> dict[tuple[str, str], Segment]:
        return answered(review, {(one.domain, one.segment_id): one for one in self.segments(scope=review.scope)})

    def _segments_to_seal(self, review: Review) -> dict[tuple[str, str], Segment]:
        """The same, none older than it was seen here, or than what was sealed of it before; `RolledBack` else."""
        seen = self._notes.revisions(self._user_id)
        notes, _ = self._notes.read(self._unlocked(), self._user_id)
        known, found = vault_notes.with_revisions(seen, notes.get("segments", {})), self._segments_of(review)
        for place, segment in found.items():
            if segment.content_revision < known.get(".".join(place), 0):
                reason = f"{'.'.join(place)} is revision {segment.content_revision}, older than one seen before"
                raise vault_notes.RolledBack(f"{reason}; nothing was sent", member="content_revision")
        return found

    # -- what the vault remembers

    def _given(self) -> Given | None:
        """The answers that apps have."""
        notes, _ = self._notes.read(self._unlocked(), self._user_id)
        return notes.get("answers")

    def _send_remembered(
        self,
        review: Review,
        content: ExportContent,
        signed: Mapping[str, Any],
        method: str,
        path: str,
        body: Mapping[str, Any],
    ) -> Status:
        """Send what the vault approved together with notes that remember it."""
        claims = verified(signed["approval"], APPROVAL_TYP, signed["approval_key"], "the approval")
        hashed = sha256(signed["approval"])
        approved = Approved(tuple(claims["approved_attributes"]), claims["ends_at"], claims["revision"], hashed)

        def change(notes: vault_notes.Notes) -> vault_notes.Notes:
            known = vault_notes.with_connector(notes, review.app_id, review.request["connector_thumbprint"])
            if method == "POST":  # a decision, made with the domain in view
                known = vault_notes.with_domain(known, review.app_id, review.vouching.domain)
            if content.derived:
                given, at = known.get("answers"), content.sealed_at
                known = {**known, "answers": with_given(given, review.app_id, content.derived, content.data, at)}
            records = with_record(known.get("approvals"), review.request, review.request_digest, approved, time.time())
            sealed_from = {f"{one['domain']}.{one['segment_id']}": one["content_revision"] for one in body["sources"]}
            return vault_notes.with_segments(sealed_from, {**known, "approvals": records})

        send = partial(self._send_notes, method, path, body)
        return build(Status, self._notes.change(self._unlocked(), self._user_id, change, send).json())

    def _send_notes(self, method: str, path: str, body: Mapping[str, Any], notes: dict[str, Any]) -> Answer:
        return self._addresses.send(method, path, {**body, **_notes_member(notes)})

    def _revoke_remembered(self, grant_id: str) -> Status:
        path = f"/grants/{quote(grant_id, safe='')}"
        digest = self.review(str(self._addresses.get(f"{path}/approval").get("request_id"))).request_digest

        def change(notes: vault_notes.Notes) -> vault_notes.Notes:
            return {**notes, "approvals": without_records(notes.get("approvals"), [digest], time.time())}

        send = partial(self._send_notes, "POST", f"{path}/revoke", {})
        return build(Status, self._notes.change(self._unlocked(), self._user_id, change, send).json())

    def _send_with_revision(self, place: str, revision: int, send: vault_notes.Send) -> Answer:
        """Send a change of a segment together with notes that remember the revision that it makes."""
        return self._notes.change(
            self._unlocked(), self._user_id, partial(vault_notes.with_segments, {place: revision}), send
        )

    def _take_out_ended(self) -> None:
        """Let the notes forget what ended since, by the person's own history; one who is played has none."""

    def _note_resumed(self, digest: str) -> None:
        """Let the notes know first, whose word alone counts for that; one who is played has none."""

    def _grant(self, grant_id: str, verb: str) -> Status:
        path = f"/grants/{quote(grant_id, safe='')}/{verb}"
        return build(Status, self._addresses.send("POST", path, {}).json())


def _notes_member(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The member of a body; none of a vault that keeps no notes."""
    return {"notes": notes} if notes else {}


def _segment_path(domain: str, segment_id: str) -> str:
    return f"/segments/{quote(domain, safe='')}/{quote(segment_id, safe='')}"


def _decision_path(request_id: str) -> str:
    return f"/requests/{quote(request_id, safe='')}/decision"
