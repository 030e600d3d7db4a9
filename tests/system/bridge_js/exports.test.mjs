// Keys and exports of one's own making. What others made, and what is refused, the conformance suite has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sealExport } from "../../../bridge-js/src/formats/exports.js";
import * as bridge from "../../../bridge-js/src/index.js";

const vectors = JSON.parse(readFileSync(new URL("../../../bridge/conformance/vectors/exports.json", import.meta.url), "utf8"));
const { key, expected } = vectors.input;
const { answer: content } = vectors.cases[0];
const [domain, segment, name] = content.approved_attributes[0].split(".");
const saying = (value) => ({ ...content, data: { [domain]: { [segment]: { [name]: value } } } });
const sealed = async (value) => sealExport(saying(value), expected, await bridge.publicHalf(key));

for (const curve of ["X25519", "P-256"]) {
  test(`a ${curve} key is taken as WebCrypto exports it`, async () => {
    const named = curve === "X25519" ? { name: curve } : { name: "ECDH", namedCurve: curve };
    const pair = await crypto.subtle.generateKey(named, true, ["deriveBits"]);
    const [open, secret] = await Promise.all(
      [pair.publicKey, pair.privateKey].map((key) => crypto.subtle.exportKey("jwk", key)),
    );
    assert.equal(open.ext, true);
    const public_ = await bridge.checkConnectorKey({ ...open, "x5t#S256": null });
    assert.deepEqual(Object.keys(public_).sort(), curve === "X25519" ? ["crv", "kty", "x"] : ["crv", "kty", "x", "y"]);
    assert.deepEqual(await bridge.publicHalf(secret), public_);
    assert.equal(await bridge.thumbprint(secret), await bridge.thumbprint(open));
    await assert.rejects(bridge.checkConnectorKey(secret), /private member/);
    await assert.rejects(bridge.checkConnectorKey(open, { tolerate: false }), /unknown member/);
  });
}

test("halves that do not belong together are refused", async () => {
  for (const curve of ["X25519", "P-256"]) {
    const [one, two] = [await bridge.generateConnectorKey(curve), await bridge.generateConnectorKey(curve)];
    await assert.rejects(bridge.checkPrivateKey({ ...one, d: two.d }), (error) => error.member === "d");
    await assert.rejects(bridge.checkPrivateKey(await bridge.publicHalf(one)), (error) => error.member === "d");
  }
});

test("every export is as long as others that say something else, and opens without its padding", async () => {
  for (let count = 0; count < 260; count++) {
    const text = "x".repeat(count);
    const jwe = await sealed(text);
    assert.equal(Buffer.from(jwe.split(".")[3], "base64url").length % 256, 0);
    if (count % 50 === 0) assert.deepEqual(await bridge.openExport(jwe, key, expected), saying(text));
  }
});

test("a value of 16 MiB is opened", async () => {
  const text = "x".repeat(16 * 1024 * 1024 - 600);
  assert.deepEqual(await bridge.openExport(await sealed(text), key, expected), saying(text));
});

for (const jwe of ["x".repeat(23_000_000), null, 7]) {
  test(`no JWE: ${String(jwe).slice(0, 10)}`, () => assert.rejects(bridge.openExport(jwe, key, expected), bridge.Refused));
}
