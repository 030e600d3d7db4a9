"""Somebody whose vault really opens: sealed with the bridge, as a browser would, and kept by the actions themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from consent_bridge import sealed
from consent_bridge.wrappers import Kind, possession_digest
from pkm.segments.actions import write_segment
from pkm.vault.actions import NewWrapper, create_vault
from pkm.vault.checks import checked_root
from pkm.vault.models import VaultKey

Segments = Mapping[tuple[str, str], Mapping[str, Any]]
FOOD: Segments = {
    ("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "Tea"}
}


@dataclass(frozen=True)
class Vault:
    """What only the owner has: the key, the recovery code that opens it, and the values."""

    user: User
    key: sealed.VaultKey
    recovery_code: str
    passphrase: str | None
    segments: Segments
    root: sealed.ApprovalRoot

    def write(self, domain: str, segment_id: str, values: Mapping[str, Any], *, base: int = 0) -> None:
        """Seal and keep the revision after `base` of one segment."""
        header = sealed.SegmentHeader(self.key.key_id, self.user.public_id, domain, segment_id, base + 1)
        write_segment(
            by=self.user,
            domain=domain,
            segment_id=segment_id,
            jwe=sealed.seal_segment(values, self.key.secret, header),
            base_content_revision=base,
            attributes=list(values),
        )


def give_vault(user: User, segments: Segments | None = None, *, passphrase: str | None = None) -> Vault:
    """`user` with an active vault that holds `segments`, (domain, segment) → name → value; by default some food.

    A recovery code always opens it; a passphrase costs a quarter of a second and so is made only where one is given.
    """
    key, code = sealed.generate_vault_key(), sealed.generate_recovery_code()
    secrets: dict[Kind, str] = {"recovery": code}
    if passphrase is not None:
        secrets["passphrase"] = passphrase
    wrappers = [
        NewWrapper(kind=kind, label=kind.title(), jwe=sealed.wrap(key, kind, secret, user.public_id))
        for kind, secret in secrets.items()
    ]
    root, members = sealed.new_root(key.secret, key.key_id, user.public_id)
    create_vault(by=user, key_id=key.key_id, wrappers=wrappers, possession_sha256=possession_digest(key))
    # kept without its entry and its mail: a test's chain and mail begin with what the test does
    public = checked_root(members["signing_public_key"], members["signing_jwe"], by=user, key_id=key.key_id)
    VaultKey.objects.filter(user=user).update(signing_public_key=public, signing_jwe=members["signing_jwe"])
    vault = Vault(user, key, code, passphrase, FOOD if segments is None else segments, root)
    for place, values in vault.segments.items():
        vault.write(*place, values)
    return vault
