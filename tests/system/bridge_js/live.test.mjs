// The whole way against the real application. A person decides when asked to at PERSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, generateConnectorKey, Problem, thumbprint, verifyReceipt } from "../../../bridge-js/src/index.js";

const { SERVICE, TOKEN, USER_ID, PERSON } = process.env;
const SCOPE = "attr.lifestyle.food.*";
const CUISINE = "lifestyle.food.favorite_cuisine";
const PURPOSE = "Suggest restaurants that you would like";
const client = new Client(`${SERVICE}/api/v1`, TOKEN);

async function person(wish, request_id, more = {}) {
  const answer = await fetch(`${PERSON}/${wish}`, { method: "POST", body: JSON.stringify({ request_id, ...more }) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}
const ask = async (key, more = {}) => client.requestConsent({ userId: USER_ID, scope: SCOPE, purpose: PURPOSE, key, ...more });
const refused = (call, code, status) =>
  assert.rejects(call, (error) => error instanceof Problem && error.code === code && error.status === status);

for (const curve of ["X25519", "P-256"]) {
  test(`a whole trip with a key on ${curve}`, async () => {
    const key = await generateConnectorKey(curve);
    assert.ok((await client.discover(USER_ID)).scopes.includes(SCOPE));
    assert.ok((await client.catalog()).some((entry) => entry.scope === SCOPE));
    const request = await ask(key, { accessDuration: 3600 });
    assert.equal(request.connector_fingerprint, await thumbprint(key));
    await refused(client.read(request, key), "authorization_pending", 409);
    const waiting = client.waitForDecision(request.request_id, { timeoutSeconds: 30 });
    await person("approve", request.request_id, { attributes: [CUISINE] });
    const status = await waiting;
    assert.deepEqual([status.status, status.grant.approved_attributes], ["approved", [CUISINE]]);
    const slice = await client.read(request, key);
    assert.deepEqual(slice.data, { lifestyle: { food: { favorite_cuisine: "Thai" } } });
    assert.equal(await client.readNewer(request, key, slice), null);
    assert.equal((await client.newestStatus(USER_ID, SCOPE)).grant.reads, 1);
    assert.equal((await client.end(request.request_id)).grant.status, "released");
    await refused(client.read(request, key), "grant_ended", 410);
  });
}

test("a continuous grant is refreshed and read anew", async () => {
  const key = await generateConnectorKey();
  const request = await ask(key, { refreshPolicy: "continuous" });
  await person("approve", request.request_id, { attributes: [CUISINE] });
  const first = await client.read(request, key);
  await person("refresh", request.request_id, { food: { favorite_cuisine: "Korean" } });
  const second = await client.readNewer(request, key, first);
  assert.deepEqual([second.revision, second.data.lifestyle.food.favorite_cuisine], [2, "Korean"]);
  await person("pause", request.request_id);
  await refused(client.readNewer(request, key, second), "grant_paused", 403);
  await person("resume", request.request_id);
  await person("revoke", request.request_id);
  await refused(client.read(request, key), "grant_ended", 410);
});

test("receipts verify, also without the service", async () => {
  const { value } = await client.allRequests({ status: "approved" }).next();
  const receipt = await client.receipt(value.receipt_id);
  assert.match(value.user_id, /^usr_/);
  assert.equal(receipt.claims.pii_principal_id, value.user_id);
  const jwks = await client.verificationKeys();
  assert.deepEqual(await verifyReceipt(receipt.jws, jwks, { "event.type": "revoked" }), receipt.claims);
  await refused(client.receipt("rct_unknown"), "unknown_receipt", 404);
});

test("events come in order and resume", async () => {
  const seen = [];
  for await (const event of client.events({ lastEventId: 0 })) {
    seen.push(event);
    if (event.status.grant?.status === "paused") break;
  }
  assert.deepEqual(seen.map((event) => event.id), seen.map((_, index) => index + 1));
  assert.equal(seen.at(-1).webhookType, "consent.paused");
  const resumed = client.events({ lastEventId: seen.at(-2).id });
  assert.deepEqual((await resumed.next()).value, seen.at(-1));
  await resumed.return();
});

test("refusals are the service's own", async () => {
  const key = await generateConnectorKey();
  await refused(client.discover("usr_unknown"), "unknown_user", 404);
  await refused(ask(key, { scope: "attr.nowhere.*" }), "invalid_scope", 400);
  await refused(ask(key, { bindingMessage: "x".repeat(65) }), "invalid_request", 400);
  await refused(new Client(`${SERVICE}/api/v1`, "cr_live_nobody").catalog(), "invalid_token", 401);
});
