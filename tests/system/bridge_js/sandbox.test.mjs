// Playing a person against the real application, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, generateConnectorKey, KeyRefused, Problem, Refused, SYNTHETIC_PROFILE } from "../../../bridge-js/src/index.js";

const { SERVICE, TOKEN, LIVE_TOKEN } = process.env;
const CUISINE = "lifestyle.food.favorite_cuisine";
const client = new Client(`${SERVICE}/api/v1`, TOKEN);
const ask = (userId, key, more = {}) =>
  client.requestConsent({ userId, scope: "attr.lifestyle.*", purpose: "Suggest restaurants that you would like", key, ...more });
const refused = (call, code) => assert.rejects(call, (error) => error instanceof Problem && error.code === code);

test("a whole profile is filled, and filled again", async () => {
  const person = await client.makeSandboxPerson("Ada");
  await person.fill();
  await person.fill();
  assert.ok((await client.discover(person.userId)).scopes.includes("attr.financial.*"));
  assert.deepEqual(await client.sandboxPeople(), [{ user_id: person.userId, label: "Ada" }]);
  await person.deletePerson();
  await refused(client.discover(person.userId), "unknown_user");
});

test("what is filled later is kept beside what was there", async () => {
  const [key, person] = [await generateConnectorKey(), await client.makeSandboxPerson()];
  await person.fill({ "lifestyle.food": { favorite_cuisine: "Thai", diet_preference: "Vegan" } });
  await person.fill({ "lifestyle.food": { favorite_cuisine: "Korean" } });
  const request = await ask(person.userId, key);
  await person.approve(request.request_id);
  const { data } = await client.read(request, key);
  assert.deepEqual(data, { lifestyle: { food: { favorite_cuisine: "Korean", diet_preference: "Vegan" } } });
  await person.deletePerson();
});

test("an app has itself told of an event of agents", async () => {
  const notice = await client.tellSandboxEvent("analysis.completed");
  assert.equal(notice.status, "completed");
  assert.match(notice.analysis_id, /^ana_/);
  await refused(client.tellSandboxEvent("consent.granted"), "invalid_request");
});

for (const curve of ["X25519", "P-256"]) {
  test(`a person approves, pauses, resumes and revokes what is sealed on ${curve}`, async () => {
    const [key, person] = [await generateConnectorKey(curve), await client.makeSandboxPerson()];
    await person.fill();
    const request = await ask(person.userId, key);
    const { grant } = await person.approve(request.request_id, { accessDuration: 600 });
    const { data } = await client.read(request, key);
    assert.deepEqual(data.lifestyle.food, SYNTHETIC_PROFILE["lifestyle.food"]);
    const moves = [person.pause, person.resume, person.revoke];
    const seen = [];
    for (const move of moves) seen.push((await move(grant.grant_id)).grant.status);
    assert.deepEqual(seen, ["paused", "active", "revoked"]);
    await person.deletePerson();
  });
}

test("a part is approved, and what is not held is not", async () => {
  const [key, person] = [await generateConnectorKey(), await client.makeSandboxPerson()];
  await person.fill({ "lifestyle.food": { favorite_cuisine: "Thai", diet_preference: "Vegan" } });
  const request = await ask(person.userId, key);
  await assert.rejects(person.approve(request.request_id, { attributes: ["lifestyle.food.coffee_or_tea"] }), Refused);
  await assert.rejects(client.sandboxPerson(person.userId).approve(request.request_id), KeyRefused);
  await client.sandboxPerson(person.userId, person.vaultKey).approve(request.request_id, { attributes: [CUISINE] });
  assert.deepEqual((await client.read(request, key)).data, { lifestyle: { food: { favorite_cuisine: "Thai" } } });
  await person.expire(2 * 86400);
  await refused(client.read(request, key), "grant_ended");
  assert.equal((await person.deny((await ask(person.userId, key)).request_id)).status, "denied");
});

test("a person connects, approves and comes back", async () => {
  const returnUrl = "http://localhost:8090/back";
  const [key, person] = [await generateConnectorKey(), await client.makeSandboxPerson()];
  await person.fill({ "lifestyle.food": { favorite_cuisine: "Thai" } });
  const words = { scope: "attr.lifestyle.food.*", purpose: "Suggest restaurants that you would like", key };
  const request = await client.requestAlong(words);
  const made = await client.beginConnection({ returnUrl, request, bindingMessage: "Order 4711" });
  const answered = await person.connect(made.connection_id);
  assert.equal((await client.connection(made.connection_id)).user_id, null);
  await person.approve(answered.request_id);
  const code = new URL(answered.return_to).searchParams.get("connection_code");
  const other = await client.requestAlong({ ...words, purpose: "Sell what you like to others" });
  await assert.rejects(client.completeConnection(made.connection_id, code, { request: other, returnUrl }), Refused);
  const done = await client.completeConnection(made.connection_id, code, { request, returnUrl });
  assert.equal(done.user_id, person.userId);
  assert.deepEqual((await client.read(done.request, key)).data, { lifestyle: { food: { favorite_cuisine: "Thai" } } });
  for await (const event of client.events({ lastEventId: 0 })) {
    if (event.type !== "connection.connected") continue;
    if (event.connection.connection_id === made.connection_id) break;
  }
  await client.endConnection(person.userId);
  await refused(client.discover(person.userId), "unknown_user");
  const declined = await client.beginConnection();
  assert.equal((await person.decline(declined.connection_id)).return_to, null);
  assert.equal((await client.connection(declined.connection_id, { waitSeconds: 1 })).status, "declined");
});

test("a live token makes nobody", async () => {
  await refused(new Client(`${SERVICE}/api/v1`, LIVE_TOKEN).makeSandboxPerson(), "test_mode_required");
});
