"""The change of a vault's key as a browser makes it, with the bridge's own sealing."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from consent_bridge import sealed
from consent_bridge.wrappers import possession, possession_digest
from pkm.notes import notes_of
from pkm.rotation import actions as rotation_actions
from pkm.rotation.queries import read_back_mark, rotation
from pkm.segments.queries import sealed_segments
from pkm.vault.actions import NewWrapper
from tests.factories import Vault
from tests.pkm.sealed_notes import opened_notes, sealed_notes
from tests.pkm.sealed_segments import wrapper


@dataclass(frozen=True)
class Change:
    """A vault, and the key that is to come."""

    vault: Vault
    key: sealed.VaultKey

    def body(self, *kinds: str) -> dict[str, Any]:
        ways = [wrapper(self.vault.user, self.key, kind) for kind in kinds or ("recovery",)]
        signing_jwe = sealed.seal_root(self.vault.root, self.key.secret, self.key.key_id, self.vault.user.public_id)
        return {
            "key_id": self.key.key_id,
            "wrappers": ways,
            "signing_jwe": signing_jwe,
            "possession": possession(self.vault.key),
            "possession_sha256": possession_digest(self.key),
        }

    def start(self, *kinds: str) -> dict[str, Any]:
        body = self.body(*kinds)
        ways = [NewWrapper(**way) for way in body["wrappers"]]
        members = {name: body[name] for name in ("key_id", "signing_jwe", "possession", "possession_sha256")}
        return rotation_actions.start_rotation(by=self.vault.user, wrappers=ways, **members)

    def resealed(
        self, domain: str = "lifestyle", segment_id: str = "food", *, header: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The body for a segment as it is now, opened with the present key and sealed with the next."""
        found = sealed_segments(self.vault.user, domain=domain)
        (stored,) = [one for one in found if one["segment_id"] == segment_id]
        place = (self.vault.user.public_id, domain, segment_id, stored["content_revision"])
        values = sealed.open_segment(
            stored["jwe"], self.vault.key.secret, sealed.SegmentHeader(self.vault.key.key_id, *place)
        )
        members = dict(
            zip(("kid", "sub", "domain", "segment_id", "content_revision"), (self.key.key_id, *place), strict=True)
        )
        jwe = sealed.seal_segment(values, self.key.secret, sealed.SegmentHeader(**(members | (header or {}))))
        return {"jwe": jwe, "content_revision": stored["content_revision"]}

    def reseal(self, domain: str = "lifestyle", segment_id: str = "food") -> dict[str, Any]:
        body = self.resealed(domain, segment_id)
        return rotation_actions.keep_resealed(by=self.vault.user, domain=domain, segment_id=segment_id, **body)

    def reseal_all(self) -> None:
        for one in rotation(self.vault.user)["segments"]:
            if not one["resealed"]:
                self.reseal(one["domain"], one["segment_id"])

    def reseal_notes(self) -> None:
        """The vault's own notes, where there are any."""
        now = notes_of(self.vault.user)
        if now["jwe"] is not None:
            content = opened_notes(now["jwe"], self.vault.key.secret)
            jwe = sealed_notes(replace(self.vault, key=self.key), now["revision"], content)
            rotation_actions.keep_resealed_notes(by=self.vault.user, jwe=jwe, revision=now["revision"])

    def opened(self) -> dict[str, Any]:
        """What stands, opened with the new key."""
        return {
            f"{one['domain']}.{one['segment_id']}": sealed.open_segment(
                one["jwe"],
                self.key.secret,
                sealed.SegmentHeader(
                    self.key.key_id,
                    self.vault.user.public_id,
                    one["domain"],
                    one["segment_id"],
                    one["content_revision"],
                ),
            )
            for one in sealed_segments(self.vault.user)
        }


def change(vault: Vault) -> Change:
    return Change(vault, sealed.generate_vault_key())


def mark_of(*copies: tuple[str, str, int, str]) -> str:
    """`read_back_mark` of domain, segment, revision and what is re-sealed."""
    return read_back_mark(
        (domain, segment, revision, hashlib.sha256(jwe.encode()).hexdigest())
        for domain, segment, revision, jwe in copies
    )
