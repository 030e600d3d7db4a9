// Receipts, checkpoints and webhooks: signed here by other means, verified there.

import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { CannotOpen, KeyRefused, Refused, UnknownKey, verifyReceipt, verifyWebhook } from "../../../bridge-js/src/index.js";

const [OWN, OTHER] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
const jwkOf = ({ publicKey }, kid) => ({ ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "EdDSA" });
const JWKS = { keys: [{ kty: "RSA", n: "AQ", e: "AQAB" }, jwkOf(OWN, "own")] };
const CLAIMS = {
  receipt_id: "rct_a", event: { type: "approved" }, retention: { expires_at: null }, storage: { location: "Turku" }, iat: 7, purpose: "Vorschläge",
  lawful_basis: "consent", rights: ["access"], notice: { version: "1", language: "de" },
};
const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

function signed(claims = CLAIMS, { pair = OWN, header = {} } = {}) {
  const members = { alg: "EdDSA", typ: "consent-receipt+jwt", kid: "own", ...header };
  const text = `${encode(members)}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), pair.privateKey).toString("base64url")}`;
}

test("a receipt gives its claims", async () => {
  assert.deepEqual(await verifyReceipt(signed(), JWKS), CLAIMS);
  const expected = { receipt_id: "rct_a", "event.type": "approved", "retention.expires_at": null, "storage.location": "Turku", iat: 7 };
  assert.deepEqual(await verifyReceipt(signed(), JWKS, expected), CLAIMS);
});

for (const [member, value] of [["receipt_id", "rct_b"], ["event.type", "denied"], ["event.color", 1], ["iat", "7"], ["toString", 1]]) {
  test(`claim ${member} that differs is refused`, async () => {
    await assert.rejects(verifyReceipt(signed(), JWKS, { [member]: value }), (error) => error instanceof Refused && error.member === member);
  });
}

for (const member of ["lawful_basis", "rights", "notice"]) {
  test(`a receipt without ${member} is refused`, () => assert.rejects(verifyReceipt(signed({ ...CLAIMS, [member]: undefined }), JWKS), { member }));
}

for (const [header, member] of [
  [{ typ: "consent-checkpoint+jwt" }, "typ"], [{ typ: undefined }, "typ"], [{ alg: "HS256" }, "alg"], [{ alg: "none" }, "alg"],
  [{ kid: "other" }, "kid"], [{ kid: undefined }, "kid"], [{ jku: "https://a.example" }, "jku"], [{ crit: ["x"] }, "crit"],
]) {
  test(`header ${JSON.stringify(header)} is refused`, async () => {
    await assert.rejects(verifyReceipt(signed(CLAIMS, { header }), JWKS), (error) => error instanceof Refused && error.member === member);
  });
}

test("another signer is refused, and told apart from an unknown key", async () => {
  await assert.rejects(verifyReceipt(signed(CLAIMS, { pair: OTHER }), JWKS), CannotOpen);
  await assert.rejects(verifyReceipt(signed(CLAIMS, { pair: OTHER, header: { kid: "new" } }), JWKS), UnknownKey);
  const rotated = { keys: [...JWKS.keys, jwkOf(OTHER, "new")] };
  assert.deepEqual(await verifyReceipt(signed(CLAIMS, { pair: OTHER, header: { kid: "new" } }), rotated), CLAIMS);
});

test("every changed part is refused", async () => {
  const [one, other] = [signed().split("."), signed({ ...CLAIMS, receipt_id: "rct_b" }).split(".")];
  for (const parts of [[one[0], other[1], one[2]], [one[0], one[1], other[2]], [one[0], one[1], ""], [one[0], one[1], one[2].slice(2)]]) {
    await assert.rejects(verifyReceipt(parts.join("."), JWKS), CannotOpen);
  }
});

for (const text of ["", "a.b", "a.b.c.d", "!.b.c", "x".repeat(300_000), null]) {
  test(`no JWS: ${String(text).slice(0, 10)}`, () => assert.rejects(verifyReceipt(text, JWKS), Refused));
}

for (const jwks of [null, {}, { keys: [] }, { keys: [jwkOf(OWN, "own"), jwkOf(OWN, "own")] }, { keys: [{ ...OWN.privateKey.export({ format: "jwk" }), kid: "own" }] }, { keys: [{ ...jwkOf(OWN, "own"), use: "enc" }] }]) {
  test(`no key set: ${JSON.stringify(jwks)?.slice(0, 30)}`, () => assert.rejects(verifyReceipt(signed(), jwks), (error) => error instanceof KeyRefused || error instanceof UnknownKey));
}

test("content that is no object is no receipt", () => assert.rejects(verifyReceipt(signed("[]"), JWKS), Refused));

// -- webhooks

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const AT = 1795169100;
const STATUS = {
  request_id: "req_a", status: "approved", user_id: "usr_a", scope: "attr.a.*", interval: 5, created_at: "t", expires_at: "t",
  decided_at: "t", receipt_id: "rct_a", sequence: 41, grant: null,
};
const BODY = JSON.stringify({ type: "consent.approved", timestamp: "t", data: STATUS });

function headers({ body = BODY, secret = SECRET, id = "msg_1", at = AT } = {}) {
  const key = Buffer.from(secret.slice(6), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return { "Webhook-Id": id, "Webhook-Timestamp": String(at), "Webhook-Signature": `v1,${signature}` };
}
const check = (body = BODY, given = headers(), now = AT) => verifyWebhook(body, given, SECRET, { now: now * 1000 });

test("a signed webhook is read", () => {
  const expected = { webhookId: "msg_1", type: "consent.approved", timestamp: "t", status: STATUS };
  assert.deepEqual(check(), expected);
  assert.deepEqual(check(Buffer.from(BODY), new Headers(headers())), expected);
  const both = { ...headers(), "Webhook-Signature": `v1,AAAA v2,x ${headers()["Webhook-Signature"]}` };
  assert.deepEqual(check(BODY, both, AT + 300), expected);
});

test("what a webhook tells of agents is no status", () => {
  const told = { consent_id: "pcn_1", analysis_id: "ana_1", activation_id: null, deletion_id: null, status: "completed", sequence: 7 };
  const body = JSON.stringify({ type: "analysis.completed", timestamp: "t", data: told });
  assert.deepEqual(check(body, headers({ body })), { webhookId: "msg_1", type: "analysis.completed", timestamp: "t", processing: told });
  const odd = body.replace("consent_id", "consent");
  assert.throws(() => check(odd, headers({ body: odd })));
});

for (const [given, now, member] of [
  [headers(), AT + 301, "webhook-timestamp"], [headers(), AT - 301, "webhook-timestamp"],
  [{ ...headers(), "Webhook-Timestamp": "soon" }, AT, "webhook-timestamp"],
  [{ ...headers(), "Webhook-Id": "msg_2" }, AT, "webhook-signature"],
  [headers({ secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" }), AT, "webhook-signature"],
  [headers({ body: "{}" }), AT, "webhook-signature"], [{ ...headers(), "Webhook-Signature": "v1," }, AT, "webhook-signature"],
  [{ ...headers(), "Webhook-Id": undefined }, AT, "webhook-id"], [{}, AT, "webhook-id"],
]) {
  test(`refused webhook: ${member} ${now - AT}`, () => {
    assert.throws(() => check(BODY, given, now), (error) => error instanceof Refused && error.member === member);
  });
}

test("a signed body of another shape, and a secret that is none, are refused", () => {
  assert.throws(() => check("{}", headers({ body: "{}" })));
  assert.throws(() => verifyWebhook(BODY, headers(), "whsec_!", { now: AT * 1000 }), KeyRefused);
  assert.throws(() => verifyWebhook("x".repeat(300_000), {}, SECRET), Refused);
});
