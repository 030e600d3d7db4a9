// Exports that a hostile sender could make with the right key: sealed by the JOSE library, and refused all the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompactEncrypt, importJWK } from "../../../bridge-js/node_modules/jose/dist/webapi/index.js";
import { CannotOpen, generateConnectorKey, openExport, publicHalf, Refused } from "../../../bridge-js/src/index.js";

const KEY = await generateConnectorKey("P-256");
const DIGEST = "dRKsJqS-4qKhHzI69mb3fHbDFRpVzS7WwqS8QT8VpiA";
const EXPECTED = {
  kid: "k1",
  iss: "https://consent.example",
  sub: "usr_a",
  aud: "app_a",
  request_id: "req_a",
  scope: "attr.lifestyle.food.*",
  revision: 1,
  request_digest: DIGEST,
};
const CONTENT = {
  scope: "attr.lifestyle.food.*",
  approved_attributes: ["lifestyle.food.favorite_cuisine"],
  data: { lifestyle: { food: { favorite_cuisine: "Thai" } } },
  sources: [{ domain: "lifestyle", segment_id: "food", content_revision: 7 }],
  sealed_at: "2026-11-20T10:05:00Z",
};

async function sealed({ header = {}, content = {}, text } = {}) {
  const members = { alg: "ECDH-ES+A256KW", enc: "A256GCM", typ: "consent-export+jwe", cty: "application/json", ...EXPECTED, ...header };
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const plaintext = new TextEncoder().encode(text ?? JSON.stringify({ ...CONTENT, ...content }));
  return new CompactEncrypt(plaintext)
    .setProtectedHeader(given)
    .encrypt(await importJWK(await publicHalf(KEY), "ECDH-ES+A256KW"), { crit: { "": true } });
}

const open = (jwe) => openExport(jwe, KEY, EXPECTED);
const refusedFor = (member) => (error) => {
  assert.ok(error instanceof Refused, error);
  assert.equal(error.member, member, error.message);
  assert.ok(!error.message.includes("\n"));
  return true;
};

test("what the contract says is opened", async () => {
  assert.deepEqual(await open(await sealed()), CONTENT);
});

for (const [member, value] of [
  ["typ", "vault-key+jwe"], ["typ", undefined], ["cty", "text/plain"], ["kid", "a b"], ["kid", "k".repeat(129)],
  ["iss", ""], ["sub", "x".repeat(513)], ["aud", 7], ["scope", null], ["revision", 0], ["revision", "1"],
  ["revision", 1.5], ["request_digest", DIGEST.slice(1)], ["request_digest", `${DIGEST}=`], ["request_digest", undefined],
  ["jku", "https://elsewhere.example"], ["x5u", "https://elsewhere.example"], ["x5t#S256", "a"], ["color", "red"],
  ["apu", "YQ"], ["apv", "YQ"],
]) {
  test(`header: ${member} ${JSON.stringify(value)?.slice(0, 20)}`, async () => {
    let jwe;
    try {
      jwe = await sealed({ header: { [member]: value } });
    } catch {
      jwe = await forged({ [member]: value });
    }
    await assert.rejects(open(jwe), refusedFor(member));
  });
}

/** A header that the library would not write. */
async function forged(changes) {
  const parts = (await sealed()).split(".");
  const header = { ...JSON.parse(Buffer.from(parts[0], "base64url").toString()), ...changes };
  parts[0] = Buffer.from(JSON.stringify(header)).toString("base64url");
  return parts.join(".");
}

for (const [changes, member] of [
  [{ crit: ["exp"] }, "crit"], [{ zip: "DEF" }, "zip"], [{ jwk: {} }, "jwk"], [{ alg: "dir" }, "alg"],
  [{ alg: "ECDH-ES" }, "alg"], [{ enc: "A128GCM" }, "enc"], [{ epk: {} }, "epk"],
  [{ epk: { kty: "OKP", crv: "X25519", x: "A".repeat(43) } }, "epk"], [{ epk: { ...KEY } }, "epk"],
]) {
  test(`forged header: ${JSON.stringify(changes).slice(0, 40)}`, async () => {
    await assert.rejects(open(await forged(changes)), refusedFor(member));
  });
}

test("a header that says something twice is refused", async () => {
  const parts = (await sealed()).split(".");
  const header = Buffer.from(parts[0], "base64url").toString().replace("{", '{"aud":"app_b",');
  parts[0] = Buffer.from(header).toString("base64url");
  await assert.rejects(open(parts.join(".")), /given twice/);
});

test("a header that was changed does not open", async () => {
  const jwe = await forged({ revision: 2 });
  await assert.rejects(openExport(jwe, KEY, { ...EXPECTED, revision: 2 }), CannotOpen);
});

for (const [content, member] of [
  [{ scope: "attr.contact.*" }, "scope"],
  [{ approved_attributes: "all" }, "approved_attributes"],
  [{ approved_attributes: ["a.b.c", "a.b.c"] }, "approved_attributes"],
  [{ approved_attributes: [7] }, "approved_attributes"],
  [{ data: [] }, "data"],
  [{ data: { lifestyle: [] } }, "data"],
  [{ data: { lifestyle: { food: { favorite_cuisine: "Thai", own_dish: "soup" } } } }, "data"],
  [{ data: { lifestyle: { food: {}, fitness: {} } } }, "data"],
  [{ data: { contact: {} } }, "data"],
  [{ sources: {} }, "sources"],
  [{ sources: [{}] }, "sources"],
  [{ sources: [{ domain: 1, segment_id: "food", content_revision: 7 }] }, "sources"],
  [{ sources: [{ domain: "lifestyle", segment_id: "food", content_revision: 0 }] }, "sources"],
  [{ sealed_at: "yesterday" }, "sealed_at"],
  [{ color: "red" }, "color"],
  [{ sealed_at: undefined }, "sealed_at"],
]) {
  test(`content: ${JSON.stringify(content).slice(0, 60)}`, async () => {
    await assert.rejects(open(await sealed({ content })), refusedFor(member));
  });
}

for (const text of ["", "[]", "7", "no JSON", '{"scope":1,"scope":1}', '{"a":1e999}', '{"a":"\\ud800"}']) {
  test(`plaintext: ${text}`, async () => {
    await assert.rejects(open(await sealed({ text })), Refused);
  });
}

for (const jwe of ["", ".", "a.b.c.d", "a.b.c.d.e", "....", "x".repeat(23_000_000), null, 7]) {
  test(`no JWE: ${String(jwe).slice(0, 10)}`, async () => {
    await assert.rejects(open(jwe), Refused);
  });
}

test("approved attributes that the vault no longer holds may be absent", async () => {
  const content = { approved_attributes: ["lifestyle.food.favorite_cuisine", "lifestyle.food.own_dish"] };
  assert.deepEqual((await open(await sealed({ content }))).data, CONTENT.data);
});

test("a value of 16 MiB is opened", async () => {
  const data = { lifestyle: { food: { favorite_cuisine: "x".repeat(16 * 1024 * 1024 - 400) } } };
  assert.deepEqual((await open(await sealed({ content: { data } }))).data, data);
});
