// Whose key the client takes: the one that it met first, kept from one export to the next.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { checkApproval, KeyPins, OwnerKeyChanged } from "../../../bridge-js/src/approvals.js";
import { KeyRefused } from "../../../bridge-js/src/formats/errors.js";
import { requestDigest } from "../../../bridge-js/src/formats/canonical.js";
import { signByAll } from "../../../bridge-js/src/formats/jws.js";
import { appKey, newRoot, signApproval } from "../../../bridge-js/src/formats/signing.js";

const ISSUER = "https://consent.example";
const { exports } = JSON.parse(readFileSync(new URL("../../../bridge/conformance/vectors/sealed.json", import.meta.url), "utf8"));
const request = { ...exports[0].request, request_id: "req_a", app_id: "app_a", user_id: "usr_a" };
const request_digest = requestDigest(request);
const madeRequest = { request_id: "req_a", app_id: "app_a", user_id: "usr_a", access_duration: 86400, request, request_digest };
const members = { iss: ISSUER, sub: "usr_a", aud: "app_a", request_id: "req_a", request_digest, revision: 1 };
const root = newRoot();

async function envelope(by = root, jwe = "a.b.c.d.e") {
  const signed = await signApproval(by, members, { attributes: ["lifestyle.food.diet"], accessDuration: 3600, jwe });
  return { jwe, revision: 1, approved_attributes: ["lifestyle.food.diet"], approval: signed.approval, owner_key: signed.approval_key, key_history: [], owner_key_reset: false };
}

const check = (body, pins = new KeyPins()) => checkApproval(body, madeRequest, ISSUER, { pins });

test("what the vault signed is taken, and its key kept", async () => {
  const pins = new KeyPins();
  await check(await envelope(), pins);
  assert.equal(pins.find(ISSUER, "usr_a").key.x, (await appKey(root, ISSUER, "app_a")).jwk.x);
  assert.deepEqual(new KeyPins(pins.dump()).dump(), pins.dump());
});

test("a changed key is taken by steps that say nothing but their own", async () => {
  const [next, pins] = [newRoot(), new KeyPins()];
  await check(await envelope(), pins);
  const [old, key] = await Promise.all([root, next].map((by) => appKey(by, ISSUER, "app_a")));
  const moved = await envelope(next);
  const claims = { iss: ISSUER, sub: "usr_a", aud: "app_a", seq: 1, new: key.jwk, old: old.jwk, iat: 1795169100 };
  const { iat, ...timeless } = claims;
  const takes = async (statement) => check({ ...moved, key_history: [await signByAll([old, key], "approval-key-rotation+jwt", statement)] }, pins);
  await assert.rejects(takes({ ...claims, more: 1 }), { member: "more" });
  await assert.rejects(takes(timeless), { member: "iat" });
  await assert.rejects(takes({ ...claims, aud: "app_b" }), { member: "aud" });
  await takes({ ...claims, old: { x: old.jwk.x, crv: "Ed25519", kty: "OKP" } });
});

test("an export of the service's own making is refused", async () => {
  const body = await envelope();
  await assert.rejects(check({ ...body, jwe: "f.o.r.g.ed" }), { member: "export_sha256" });
  const pins = new KeyPins();
  await check(body, pins);
  await assert.rejects(async () => check(await envelope(newRoot()), pins), OwnerKeyChanged);
  await assert.rejects(async () => check({ ...(await envelope(newRoot())), owner_key_reset: true }), { reset: true });
});

const DAY = 86400_000;
const resetBy = async (by) => ({ ...(await envelope(by)), owner_key_reset: true });

/** Refused, and noted. */
async function changedKey(answer, pins) {
  const changed = await check(answer, pins).then(assert.fail, (error) => error);
  assert.ok(changed instanceof OwnerKeyChanged, String(changed));
  return changed;
}

for (const isKnown of [true, false]) {
  test(`a reset key can be accepted seven days after this client met it, ${isKnown ? "another" : "none"} being known`, async () => {
    let time = 1_800_000_000_500;
    const now = () => time;
    const answer = await resetBy(newRoot());
    let pins = new KeyPins({}, { now });
    if (isKnown) await check(await envelope(), pins);
    const { key, reset, message } = await changedKey(answer, pins);
    assert.ok(reset);
    assert.match(message, /from 2027-01-22T08:00:00Z on/);
    for (const later of [0, 6 * DAY, DAY - 1000]) {
      time += later;
      pins = new KeyPins(JSON.parse(JSON.stringify(pins.dump())), { now });
      await changedKey(answer, pins);
      assert.throws(() => pins.accept(ISSUER, "usr_a", key), { member: "owner_key", message: /from 2027-01-22T08:00:00Z on/ });
    }
    time += 1000;
    pins.accept(ISSUER, "usr_a", key);
    await check(answer, new KeyPins(pins.dump()));
  });
}

test("the seven days are of one key, and end where the kept one still signs", async () => {
  let time = 1_800_000_000_500;
  const pins = new KeyPins({}, { now: () => time });
  const [one, other] = [await resetBy(newRoot()), await resetBy(newRoot())];
  await check(await envelope(), pins);
  const { key } = await changedKey(one, pins);
  for (const between of [() => changedKey(other, pins), async () => check(await envelope(), pins)]) {
    await between();
    time += 8 * DAY;
    assert.throws(() => pins.accept(ISSUER, "usr_a", key), KeyRefused); // begins them where the key was never met, too
  }
  time += 8 * DAY;
  pins.accept(ISSUER, "usr_a", key);
  await check(one, pins);
});

test("a clock that was ahead, and was set right, keeps no key away", async () => {
  let time = 1_800_000_000_500 + 70 * 365 * DAY;
  const pins = new KeyPins({}, { now: () => time });
  const answer = await resetBy(newRoot());
  const { key } = await changedKey(answer, pins);
  time = 1_800_000_000_500;
  await changedKey(answer, pins);
  time += 7 * DAY;
  pins.accept(ISSUER, "usr_a", key);
  await check(answer, pins);
});
