// Receipts and webhooks in the shapes that Node alone hands over. The rest the conformance suite has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KeyRefused, Refused, UnknownKey, verifyReceipt, verifyWebhook } from "../../../bridge-js/src/index.js";

const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../bridge/conformance/vectors/${name}.json`, import.meta.url), "utf8"));
const [receipts, webhooks] = [vectors("receipts"), vectors("webhooks")];
const { jws, jwks } = receipts.input;
const { body, headers, secret, now } = webhooks.input;

test("a claim may be expected to be null", async () => {
  assert.deepEqual(await verifyReceipt(jws, jwks, { "retention.expires_at": null }), receipts.cases[0].answer);
});

for (const text of ["x".repeat(300_000), null, 7]) {
  test(`no JWS: ${String(text).slice(0, 10)}`, () => assert.rejects(verifyReceipt(text, jwks), Refused));
}

for (const none of [null, {}, { keys: "own" }, { keys: [7] }]) {
  test(`no key set: ${JSON.stringify(none)}`, () =>
    assert.rejects(verifyReceipt(jws, none), (error) => error instanceof KeyRefused || error instanceof UnknownKey));
}

test("a webhook is read as Node and as fetch hand it over", () => {
  const at = { now: now * 1000 };
  const { webhook_id: webhookId, data: status, ...rest } = webhooks.cases[0].answer;
  for (const [octets, named] of [[Buffer.from(body), headers], [body, new Headers(headers)]]) {
    assert.deepEqual(verifyWebhook(octets, named, secret, at), { webhookId, status, ...rest });
  }
  assert.throws(() => verifyWebhook("x".repeat(300_000), {}, secret, at), /larger than/);
});
