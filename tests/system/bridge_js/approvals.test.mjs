// What the client takes: an approval of the person's own vault, of exactly this export, by the key that it knows.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { checkApproval, KeyPins, OwnerKeyChanged } from "../../../bridge-js/src/approvals.js";
import { requestDigest } from "../../../bridge-js/src/formats/canonical.js";
import { sign } from "../../../bridge-js/src/formats/jws.js";
import { appKey, newRoot, signApproval } from "../../../bridge-js/src/formats/signing.js";

const ISSUER = "https://consent.example";
const { exports } = JSON.parse(readFileSync(new URL("../../vectors/sealed.json", import.meta.url), "utf8"));
const request = { ...exports[0].request, request_id: "req_a", app_id: "app_a", user_id: "usr_a" };
const request_digest = requestDigest(request);
const asked = { request_id: "req_a", app_id: "app_a", user_id: "usr_a", access_duration: 86400, request, request_digest };
const members = { iss: ISSUER, sub: "usr_a", aud: "app_a", request_id: "req_a", request_digest, revision: 1 };
const root = newRoot();

async function envelope(by = root, jwe = "a.b.c.d.e") {
  const signed = await signApproval(by, members, { attributes: ["lifestyle.food.diet"], accessDuration: 3600, jwe });
  return { jwe, revision: 1, approved_attributes: ["lifestyle.food.diet"], approval: signed.approval, owner_key: signed.approval_key, key_history: [], owner_key_reset: false };
}

const check = (told, pins = new KeyPins()) => checkApproval(told, asked, ISSUER, { pins });

test("what the vault signed is taken, and its key kept", async () => {
  const pins = new KeyPins();
  await check(await envelope(), pins);
  assert.equal(pins.find(ISSUER, "usr_a").key.x, (await appKey(root, ISSUER, "app_a")).jwk.x);
  assert.deepEqual(new KeyPins(pins.dump()).dump(), pins.dump());
});

const OTHERS = { iss: "https://elsewhere.example", sub: "usr_b", aud: "app_b", request_id: "req_b", request_digest: "A", revision: 2,
  approved_attributes: [], export_sha256: "A", ends_at: 2 ** 40, access_duration: 86401, more: 1 };
for (const [claim, value] of Object.entries(OTHERS)) {
  test(`another ${claim} is refused by name`, async () => {
    const told = await envelope();
    const claims = JSON.parse(Buffer.from(told.approval.split(".")[1], "base64url").toString());
    const approval = await sign(await appKey(root, ISSUER, "app_a"), "consent-approval+jwt", { ...claims, [claim]: value });
    await assert.rejects(check({ ...told, approval }), { member: claim });
  });
}

test("an export of the service's own making is refused", async () => {
  const told = await envelope();
  await assert.rejects(check({ ...told, jwe: "f.o.r.g.ed" }), { member: "export_sha256" });
  const pins = new KeyPins();
  await check(told, pins);
  await assert.rejects(async () => check(await envelope(newRoot()), pins), OwnerKeyChanged);
  await assert.rejects(async () => check({ ...(await envelope(newRoot())), owner_key_reset: true }), { reset: true });
});

for (const header of [{ alg: "none" }, { alg: "Ed25519" }, { typ: "JWT" }, { kid: "x" }, { jwk: {} }]) {
  test(`a header with ${JSON.stringify(header)} is refused`, async () => {
    const told = await envelope();
    const [head, payload, signature] = told.approval.split(".");
    const own = JSON.parse(Buffer.from(head, "base64url").toString());
    const changed = Buffer.from(JSON.stringify({ ...own, ...header })).toString("base64url");
    await assert.rejects(check({ ...told, approval: `${changed}.${payload}.${signature}` }), { member: Object.keys(header)[0] });
  });
}

for (const octets of [new Uint8Array(32), Uint8Array.from([1, ...new Uint8Array(31)])]) {
  test(`a point of low order is no key: ${octets[0]}`, async () => {
    const x = Buffer.from(octets).toString("base64url");
    await assert.rejects(async () => check({ ...(await envelope()), owner_key: { kty: "OKP", crv: "Ed25519", x } }), { member: "x" });
  });
}

