"""What seals are made of: content keys, nonces, ephemeral keys, salts of wrappers, vault keys, approval roots.

Chromium seals as the pages do, nine batches of ten; the Python client seals the tenth. Every sealed object is opened
here by an opener of its own, with the key that it was made for, so that what is counted is what was really used. Of
each, 16 octets of a digest are kept.
"""

import hashlib
from typing import Any

from consent_bridge import sealed
from consent_bridge.signing import ApprovalRoot
from tests.system.browser.sealing import opener
from tests.system.browser.sealing.chromium import Tab

BATCH = 100  # seals under one vault key
PASSPHRASE_EVERY = 100  # batches: deriving from a passphrase takes 0.1 s, by design
_BUCKETS = 256
_DIGEST = 16  # octets

SCRIPT = """async ([count, withPassphrase]) => {
  const module = (name) => import(`/static/js/formats/${name}.js`);
  const [vaults, exports, signing, wrappers, bytes] =
    await Promise.all(["vault", "exports", "signing", "wrappers", "bytes"].map(module));
  const { keyId, bytes: vaultKey } = wrappers.newVaultKey();
  const vault = { userId: "usr_a", keyId, key: await wrappers.sealingKey(vaultKey) };
  const code = wrappers.newRecoveryCode();
  const prf = bytes.random(32);
  const root = signing.newRoot();
  const passphrase = "a long enough passphrase";
  const pairs = await Promise.all([{ name: "X25519" }, { name: "ECDH", namedCurve: "P-256" }].map(async (algorithm) => {
    const pair = await crypto.subtle.generateKey(algorithm, true, ["deriveBits"]);
    const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
    return { open: y ? { kty, crv, x, y } : { kty, crv, x }, d };
  }));
  const members = { kid: "connector-1", iss: location.origin, sub: "usr_a", aud: "app_a", request_id: "req_a",
    scope: "attr.lifestyle.food.*", revision: 1, request_digest: "A".repeat(43) };
  const values = { favorite_cuisine: "Thai" };
  const place = { domain: "lifestyle", segment_id: "food" };
  const slice = { scope: members.scope, approved_attributes: [], data: {}, sources: [], sealed_at: "" };
  const kinds = {
    segment: (n) => vaults.sealSegment(values, vault, { ...place, content_revision: n + 1 }),
    X25519: () => exports.sealExport(slice, members, pairs[0].open),
    "P-256": () => exports.sealExport(slice, members, pairs[1].open),
    notes: (n) => vaults.sealNotes({ connectors: {} }, vault, n + 1),
    root: async () => (await vaults.rootMembers(root, vault)).signing_jwe,
    recovery: () => wrappers.wrap("recovery", vaultKey, code, vault),
    passkey: () => wrappers.wrap("passkey", vaultKey, prf, vault),
    passphrase: () => wrappers.wrap("passphrase", vaultKey, passphrase, vault),
  };
  const turns = [...Array(10).fill("segment"), ...Array(2).fill("X25519"), ...Array(2).fill("P-256"),
    ...Array(3).fill("notes"), "root", "recovery", "passkey"];
  const kindOf = (n) => (withPassphrase && n === 0 ? "passphrase" : turns[n % turns.length]);
  const chosen = Array.from({ length: count }, (_, n) => kindOf(n));
  const made = await Promise.all(chosen.map(async (kind, n) => [kind, await kinds[kind](n)]));
  const [vault_key, prf_output, root_octets] = [vaultKey, prf, root].map(bytes.toBase64url);
  return { vault_key, root: root_octets, code, prf: prf_output, passphrase,
    X25519: pairs[0].d, "P-256": pairs[1].d, made };
}"""


class Seen:
    """Digests of everything of one sort, by their first octet; 16 octets of memory for each."""

    def __init__(self) -> None:
        self.buckets = [bytearray() for _ in range(_BUCKETS)]

    def add(self, value: bytes) -> None:
        digest = hashlib.blake2b(value, digest_size=_DIGEST).digest()
        self.buckets[digest[0]] += digest

    def __len__(self) -> int:
        return sum(map(len, self.buckets)) // _DIGEST

    def repeats(self) -> int:
        """How many were there before."""
        return len(self) - sum(len(_distinct(bucket)) for bucket in self.buckets)


def _distinct(bucket: bytearray) -> set[bytes]:
    return {bytes(bucket[start : start + _DIGEST]) for start in range(0, len(bucket), _DIGEST)}


class Count:
    """What was used in all seals, by sort."""

    SORTS = ("content keys", "nonces", "ephemeral keys", "salts", "vault keys", "roots")

    def __init__(self) -> None:
        self.seen = {sort: Seen() for sort in self.SORTS}

    def add(self, jwe: str, wrapping_key: bytes) -> None:
        """Open it under this key, and note what it was sealed with."""
        content_key, nonce = opener.content_key_and_nonce(jwe, wrapping_key)
        self.seen["content keys"].add(content_key)
        self.seen["nonces"].add(nonce)
        header = opener.header_of(jwe)
        if "epk" in header:
            self.seen["ephemeral keys"].add(opener.unb64(header["epk"]["x"]))
        if salt := header.get("salt", header.get("p2s")):
            self.seen["salts"].add(opener.unb64(salt))

    def seals(self) -> int:
        return len(self.seen["content keys"])

    def repeats(self) -> dict[str, int]:
        """By sort, where anything was there before."""
        found = {sort: seen.repeats() for sort, seen in self.seen.items()}
        return {sort: number for sort, number in found.items() if number}


def by_browser(tab: Tab, count: Count, *, batch: int, with_passphrase: bool = False) -> None:
    """A batch that this page seals under a vault key of its own."""
    given = tab.run(SCRIPT, [batch, with_passphrase])
    vault_key, root = opener.unb64(given["vault_key"]), opener.unb64(given["root"])
    count.seen["vault keys"].add(vault_key)
    count.seen["roots"].add(root)
    for kind, jwe in given["made"]:
        count.add(jwe, _wrapping_key(kind, jwe, vault_key, given))


def _wrapping_key(kind: str, jwe: str, vault_key: bytes, given: dict[str, Any]) -> bytes:
    if kind in ("X25519", "P-256"):
        return opener.agreed(jwe, {"d": given[kind]})
    if kind == "passphrase":
        return opener.passphrase_key(jwe, given["passphrase"])
    if kind == "recovery":
        return opener.derived_key(jwe, opener.recovery_octets(given["code"]), b"consent-vault-recovery")
    if kind == "passkey":
        return opener.derived_key(jwe, opener.unb64(given["prf"]), b"consent-vault-passkey")
    return vault_key


def by_python(count: Count, *, batch: int) -> None:
    """A batch that the Python client seals: exports, recovery wrappers, roots, and segments for the most part."""
    key, root, code = sealed.generate_vault_key(), sealed.generate_root(), sealed.generate_recovery_code()
    count.seen["vault keys"].add(key.secret)
    count.seen["roots"].add(root.secret)
    connector = sealed.generate_connector_key()
    for number in range(batch):
        if number % 10 == 0:
            jwe = _export(connector)
            count.add(jwe, opener.agreed(jwe, connector))
        elif number % 10 == 1:
            jwe = sealed.wrap(key, "recovery", code, "usr_a")
            count.add(jwe, opener.derived_key(jwe, opener.recovery_octets(code), b"consent-vault-recovery"))
        else:
            count.add(_under_vault_key(number, key, root), key.secret)


def _export(connector: dict[str, str]) -> str:
    header = sealed.ExportHeader(
        "connector-1", "https://consent.example", "usr_a", "app_a", "req_a", "attr.lifestyle.food.*", 1, "A" * 43
    )
    content = sealed.ExportContent("attr.lifestyle.food.*", (), {}, (), "2026-11-20T10:00:00Z")
    return sealed.seal_export(content, sealed.public_half(connector), header)


def _under_vault_key(number: int, key: sealed.VaultKey, root: ApprovalRoot) -> str:
    if number % 10 == 2:  # one of ten
        return sealed.seal_root(root, key.secret, key.key_id, "usr_a")
    header = sealed.SegmentHeader(key.key_id, "usr_a", "lifestyle", "food", number + 1)
    return sealed.seal_segment({"favorite_cuisine": "Thai"}, key.secret, header)


def count_all(tab: Tab, seals: int) -> Count:
    count = Count()
    for number, start in enumerate(range(0, seals, BATCH)):
        batch = min(BATCH, seals - start)
        if number % 10 == 9:  # the tenth
            by_python(count, batch=batch)
        else:
            by_browser(tab, count, batch=batch, with_passphrase=number % PASSPHRASE_EVERY == 0)
    return count
