// What an independent implementation sealed has to open here, and what it broke has to be refused for that reason.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as bridge from "../../../bridge-js/src/index.js";

const vectors = JSON.parse(readFileSync(new URL("../../vectors/sealed.json", import.meta.url), "utf8"));
const NOT_EXPECTED = ["alg", "enc", "typ", "cty"];
const headerOf = (vector) =>
  Object.fromEntries(Object.entries(vector.header).filter(([name]) => !NOT_EXPECTED.includes(name) && name !== "epk"));

const REJECTED = {
  "export part 1 has one bit flipped": [bridge.CannotOpen, null, /does not open/],
  "export part 2 has one bit flipped": [bridge.CannotOpen, null, /does not open/],
  "export part 3 has one bit flipped": [bridge.CannotOpen, null, /does not open/],
  "export part 4 has one bit flipped": [bridge.CannotOpen, null, /does not open/],
  "export header names another app": [bridge.Refused, "aud", /aud is "app_other"/],
  "export header names another revision": [bridge.Refused, "revision", /revision is 2, not 1/],
};
const BAD_KEYS = {
  "all-zero X25519 point": ["x", /low-order point/],
  "low-order X25519 point of order 8": ["x", /low-order point/],
  "31 bytes": ["x", /x has 31 bytes, not 32/],
  "private member present": ["d", /private member/],
  "Ed25519 is a signing curve": ["crv", /crv "Ed25519"/],
  "P-256 point off the curve": ["x", /not on the curve/],
  "standard base64 with padding": ["x", /not base64url without padding/],
  RSA: ["kty", /kty "RSA"/],
};

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

for (const [index, vector] of vectors.exports.entries()) {
  test(`export ${index} opens`, async () => {
    assert.deepEqual(
      await bridge.openExport(vector.jwe, vector.connector_private_key, headerOf(vector)),
      vector.plaintext,
    );
  });

  test(`key ${index} has its thumbprint and its public half`, async () => {
    assert.equal(await bridge.thumbprint(vector.connector_private_key), vector.thumbprint);
    assert.deepEqual(await bridge.publicHalf(vector.connector_private_key), vector.connector_public_key);
    assert.deepEqual(await bridge.checkConnectorKey(vector.connector_public_key), vector.connector_public_key);
  });

  for (const member of Object.keys(headerOf(vector))) {
    test(`export ${index} is refused where ${member} was asked for otherwise`, async () => {
      const other = member === "revision" ? 7 : "other";
      const opening = bridge.openExport(vector.jwe, vector.connector_private_key, { ...headerOf(vector), [member]: other });
      await assert.rejects(opening, (error) => error instanceof bridge.Refused && error.member === member);
    });
  }
}

test("every vector that is about exports is tested", () => {
  const exports = vectors.rejects.filter((reject) => reject.kind === "export");
  assert.deepEqual(exports.map((reject) => reject.why).sort(), Object.keys(REJECTED).sort());
  assert.deepEqual(vectors.bad_connector_keys.map((bad) => bad.why).sort(), Object.keys(BAD_KEYS).sort());
});

for (const [why, [kind, member, reason]] of Object.entries(REJECTED)) {
  test(`refused: ${why}`, async () => {
    const { jwe } = vectors.rejects.find((reject) => reject.why === why);
    const [vector] = vectors.exports;
    await assert.rejects(bridge.openExport(jwe, vector.connector_private_key, headerOf(vector)), (error) => {
      assert.equal(error.constructor, kind);
      assert.equal(error.member, member);
      assert.match(error.message, reason);
      return true;
    });
  });
}

for (const [why, [member, reason]] of Object.entries(BAD_KEYS)) {
  test(`refused key: ${why}`, async () => {
    const { jwk } = vectors.bad_connector_keys.find((bad) => bad.why === why);
    await assert.rejects(bridge.checkConnectorKey(jwk), (error) => {
      assert.equal(error.constructor, bridge.KeyRefused);
      assert.equal(error.member, member);
      assert.match(error.message, reason);
      return true;
    });
  });
}

test("another key does not open", async () => {
  const [vector] = vectors.exports;
  const other = await bridge.generateConnectorKey("X25519");
  await assert.rejects(bridge.openExport(vector.jwe, other, headerOf(vector)), bridge.CannotOpen);
  const elsewhere = await bridge.generateConnectorKey("P-256");
  await assert.rejects(bridge.openExport(vector.jwe, elsewhere, headerOf(vector)), (error) => error.member === "epk");
});

test("halves that do not belong together are refused", async () => {
  for (const curve of ["X25519", "P-256"]) {
    const [one, two] = [await bridge.generateConnectorKey(curve), await bridge.generateConnectorKey(curve)];
    await assert.rejects(bridge.checkPrivateKey({ ...one, d: two.d }), (error) => error.member === "d");
    await assert.rejects(bridge.checkPrivateKey(await bridge.publicHalf(one)), (error) => error.member === "d");
  }
});
