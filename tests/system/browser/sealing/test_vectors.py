"""What an independent implementation sealed opens in Chromium; what is bad is refused there, with its reason."""

import json
from typing import Any

import pytest

from tests.system.browser.sealing.chromium import ROOT, Tab

pytestmark = pytest.mark.browser
VECTORS = json.loads((ROOT / "bridge" / "conformance" / "vectors" / "sealed.json").read_text())

PAGE = 'const { bytes, hex, refusal, vaultKey } = await import("/tests/system/browser/sealing/page.js");'


@pytest.mark.parametrize("kind", ["passphrase", "recovery", "passkey"])
def test_wrapper_of_the_vectors_yields_the_vault_key(sealing_page: Tab, vectors: dict[str, Any], kind: str) -> None:
    opened = sealing_page.run(
        f"""async ([v, kind]) => {{ {PAGE}
          const {{ unwrap }} = await import("/static/js/formats/wrappers.js");
          const w = v.wrappers[kind];
          const secret = kind === "passkey" ? bytes(w.prf_output_hex) : w.passphrase ?? w.code;
          const key = await unwrap(kind, w.jwe, secret, {{ userId: v.user_id, keyId: v.vault.key_id }});
          return hex(key);
        }}""",
        [vectors, kind],
    )
    assert opened == vectors["vault"]["vault_key_hex"]


@pytest.mark.parametrize("typed", ["as shown", "lower", "spaces", "joined", "long dashes"])
def test_recovery_code_may_be_typed_in_many_ways(sealing_page: Tab, vectors: dict[str, Any], typed: str) -> None:
    code = vectors["wrappers"]["recovery"]["code"]
    ways = {
        "as shown": code,
        "lower": code.lower(),
        "spaces": code.replace("-", "  "),
        "joined": code.replace("-", ""),
        "long dashes": code.replace("-", "\u2013"),
    }
    octets = sealing_page.run(
        f"""async (code) => {{ {PAGE}
          const {{ parseRecoveryCode }} = await import("/static/js/formats/wrappers.js");
          return hex(parseRecoveryCode(code));
        }}""",
        ways[typed],
    )
    assert octets == vectors["wrappers"]["recovery"]["code_hex"]


@pytest.mark.parametrize("number", range(len(VECTORS["segments"])))
def test_segment_of_the_vectors_opens(sealing_page: Tab, vectors: dict[str, Any], number: int) -> None:
    opened = sealing_page.run(
        f"""async ([v, number]) => {{ {PAGE}
          const {{ openSegment }} = await import("/static/js/formats/vault.js");
          const s = v.segments[number];
          return openSegment(s.jwe, await vaultKey(v.user_id, v.vault.key_id, v.vault.vault_key_hex), s);
        }}""",
        [vectors, number],
    )
    assert opened == vectors["segments"][number]["plaintext"]


@pytest.mark.parametrize("number", range(len(VECTORS["exports"])))
def test_export_of_the_vectors_opens(sealing_page: Tab, vectors: dict[str, Any], number: int) -> None:
    opened = sealing_page.run(
        """async (e) => {
          const { openExport } = await import("/static/js/formats/exports.js");
          const { alg, enc, typ, cty, ...expected } = e.header;
          return openExport(e.jwe, e.connector_private_key, expected);
        }""",
        vectors["exports"][number],
    )
    assert opened == vectors["exports"][number]["plaintext"]


@pytest.mark.parametrize("number", range(len(VECTORS["exports"])))
def test_digest_and_thumbprint_of_the_vectors(sealing_page: Tab, vectors: dict[str, Any], number: int) -> None:
    export = vectors["exports"][number]
    computed = sealing_page.run(
        """async (e) => {
          const { canonical, requestDigest } = await import("/static/js/formats/canonical.js");
          const { checkConnectorKey, thumbprint } = await import("/static/js/formats/keys.js");
          const tolerated = { kid: "mine", use: "enc", alg: "ECDH-ES", key_ops: [] };
          const key = await checkConnectorKey({ ...e.connector_public_key, ...tolerated });
          return [canonical(e.request), await requestDigest(e.request), await thumbprint(key), key];
        }""",
        export,
    )
    assert computed == [
        export["canonical"],
        export["request_digest"],
        export["thumbprint"],
        export["connector_public_key"],
    ]


REJECTS = {
    "export part 1 has one bit flipped": ["cannot_open", None],
    "export part 2 has one bit flipped": ["cannot_open", None],
    "export part 3 has one bit flipped": ["cannot_open", None],
    "export part 4 has one bit flipped": ["cannot_open", None],
    "export header names another app": ["mismatch", "aud"],
    "export header names another revision": ["mismatch", "revision"],
    "segment header names another segment": ["mismatch", "segment_id"],
    "segment is an older revision than was asked for": ["mismatch", "content_revision"],
    "segment is sealed under another vault key": ["cannot_open", None],
    "algorithm is not on the list (dir)": ["algorithm", "alg"],
    "passphrase wrapper asks for too few iterations": ["iterations", "p2c"],
}


@pytest.mark.parametrize("why", [reject["why"] for reject in VECTORS["rejects"]])
def test_reject_of_the_vectors_is_refused_with_its_reason(sealing_page: Tab, vectors: dict[str, Any], why: str) -> None:
    reject = next(reject for reject in vectors["rejects"] if reject["why"] == why)
    refused = sealing_page.run(
        f"""async ([v, reject]) => {{ {PAGE}
          const {{ openSegment }} = await import("/static/js/formats/vault.js");
          const {{ openExport }} = await import("/static/js/formats/exports.js");
          const {{ unwrap }} = await import("/static/js/formats/wrappers.js");
          const segment = {{ ...v.segments[0], content_revision: reject.expected_revision ?? 1 }};
          const {{ alg, enc, typ, cty, ...expected }} = v.exports[0].header;
          const owner = {{ userId: v.user_id, keyId: v.vault.key_id }};
          const key = await vaultKey(v.user_id, v.vault.key_id, v.vault.vault_key_hex);
          const ways = {{
            export: () => openExport(reject.jwe, v.exports[0].connector_private_key, expected),
            segment: () => openSegment(reject.jwe, key, segment),
            wrapper: () => unwrap("passphrase", reject.jwe, v.wrappers.passphrase.passphrase, owner),
          }};
          return refusal(ways[reject.kind]);
        }}""",
        [vectors, reject],
    )
    assert [refused.get("reason"), refused.get("member")] == REJECTS[why]


@pytest.mark.parametrize("why", [bad["why"] for bad in VECTORS["bad_connector_keys"]])
def test_bad_connector_key_of_the_vectors_is_refused(sealing_page: Tab, vectors: dict[str, Any], why: str) -> None:
    bad = next(bad for bad in vectors["bad_connector_keys"] if bad["why"] == why)
    refused = sealing_page.run(
        f"""async (jwk) => {{ {PAGE}
          const {{ checkConnectorKey }} = await import("/static/js/formats/keys.js");
          return refusal(() => checkConnectorKey(jwk));
        }}""",
        bad["jwk"],
    )
    assert refused == {"reason": "connector_key", "member": bad["member"]}
