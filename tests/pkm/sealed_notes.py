"""The vault's own notes as a browser seals them."""

from typing import Any

from consent_bridge import jwe
from consent_bridge.encoding import dump_json, parse_object
from tests.factories import Vault

PROFILE = jwe.Profile(
    name="notes",
    alg=jwe.ALG_VAULT,
    members={
        "typ": jwe.exactly("vault-notes+jwe"),
        "kid": jwe.vault_key_name,
        "sub": jwe.text,
        "revision": jwe.counter,
    },
)


def sealed_notes(vault: Vault, revision: int, content: dict[str, Any], /, **header: Any) -> str:
    """Under the key of `vault`; `header` overrides members of the protected header."""
    members = {"kid": vault.key.key_id, "sub": vault.user.public_id, "revision": revision, **header}
    named = {"typ": "vault-notes+jwe", **members}
    return jwe.seal(named, dump_json(content, "the notes"), jwe.symmetric(vault.key.secret), PROFILE)


def opened_notes(text: str, secret: bytes) -> dict[str, Any]:
    """What is in them."""
    return parse_object(jwe.open_sealed(text, jwe.symmetric(secret), "notes"), "the notes")
