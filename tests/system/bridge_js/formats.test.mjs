// What Node and the pages share of octets and JSON, held against Node's own and against the standards' examples.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import * as bytes from "../../../bridge-js/src/formats/bytes.js";
import { canonical } from "../../../bridge-js/src/formats/canonical.js";
import { Refused } from "../../../bridge-js/src/formats/errors.js";
import { parseObject, strictJson } from "../../../bridge-js/src/formats/json.js";
import { sha256 } from "../../../bridge-js/src/formats/sha256.js";

const hash = (octets) => createHash("sha256").update(octets).digest("hex");

test("SHA-256 has the digests of FIPS 180-4", () => {
  const examples = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  };
  for (const [text, digest] of Object.entries(examples)) assert.equal(bytes.toHex(sha256(bytes.utf8(text))), digest);
});

test("SHA-256 is Node's for every length about a block, and for parts", () => {
  for (let length = 0; length <= 260; length += 1) {
    const octets = randomBytes(length);
    assert.equal(bytes.toHex(sha256(octets)), hash(octets));
    assert.equal(bytes.toHex(sha256(octets.subarray(0, length >> 1), octets.subarray(length >> 1))), hash(octets));
  }
  const large = randomBytes(1_000_003);
  assert.equal(bytes.toHex(sha256(large)), hash(large));
});

test("base64 and base64url are Node's, and have one spelling", () => {
  for (let length = 0; length <= 66; length += 1) {
    const octets = randomBytes(length);
    for (const [kind, to, from] of [["base64", bytes.toBase64, bytes.fromBase64], ["base64url", bytes.toBase64url, bytes.fromBase64url]]) {
      assert.equal(to(octets), octets.toString(kind));
      assert.deepEqual(Buffer.from(from(to(octets))), octets);
    }
  }
  const large = randomBytes(100_000);
  assert.equal(bytes.toBase64(large), large.toString("base64"));
  for (const text of ["A", "AB", "AA", "AA=", "AA==\n", " AAAA", "AAA_", "AAB="]) assert.equal(bytes.fromBase64(text), null);
  for (const text of ["A", "AB", "AAB", "AA==", "AA\n", " AAAA", "AAA+", "AAA/", 7, null]) assert.equal(bytes.fromBase64url(text), null);
});

test("base32 has the examples of RFC 4648", () => {
  for (const [text, encoded] of [["", ""], ["f", "my"], ["fo", "mzxq"], ["foo", "mzxw6"], ["foob", "mzxw6yq"], ["fooba", "mzxw6ytb"], ["foobar", "mzxw6ytboi"]]) {
    assert.equal(bytes.toBase32(bytes.utf8(text)), encoded);
    assert.deepEqual(bytes.fromBase32(encoded), bytes.utf8(text));
  }
  for (const text of ["m", "mz", "MY", "m1", "my======"]) assert.equal(bytes.fromBase32(text), null);
});

test("JSON that two readers could read in two ways is refused", () => {
  const reasonOf = (work) => {
    try {
      work();
      return null;
    } catch (error) {
      assert.ok(error instanceof Refused, error);
      return error.reason;
    }
  };
  const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);
  for (const [text, reason] of [["", "not_json"], ["{", "not_json"], ['{"a":1,"a":2}', "repeated_name"], ['[{"b":{"a":1,"\\u0061":2}}]', "repeated_name"],
    [deep(501), "too_deep"], [deep(500), null], ['{"a":{"a":1},"b":[{"a":1},{"a":1}]}', null], ['{"a":"{\\"a\\":1","b":"\\\\"}', null], ["1e999", null], ['"\\ud800"', null]]) {
    assert.equal(reasonOf(() => strictJson(text)), reason, text.slice(0, 40));
  }
  for (const [text, reason] of [["[]", "not_json"], ['{"a":1e999}', "not_json"], ['{"a":"\\ud800"}', "not_json"], ['{"\\udc00":1}', "not_json"],
    ['{"a":1,"a":2}', "repeated_name"], [Uint8Array.of(0x7b, 0xff, 0x7d), "not_json"], ['{"a":"\\ud83d\\ude00","b":-1.5e3}', null], [`{"a":${deep(600)}}`, null]]) {
    assert.equal(reasonOf(() => parseObject(text, "it")), reason, String(text).slice(0, 40));
  }
});

test("the canonical form is that of RFC 8785", () => {
  const value = { "\u20ac": "Euro", "\r": "CR", "\ufb33": "Hebrew", 1: "One", "\ud83d\ude00": "Smiley", "\u0080": "C", "\u00f6": "O" };
  const names = ['"\\r":"CR"', '"1":"One"', '"\u0080":"C"', '"\u00f6":"O"', '"\u20ac":"Euro"', '"\ud83d\ude00":"Smiley"', '"\ufb33":"Hebrew"'];
  assert.equal(canonical(value), `{${names.join(",")}}`);
  assert.equal(canonical([333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0, null, true]), "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,null,true]");
  for (const wrong of ["a\ud800b", NaN, undefined, 10n, new Date(0)]) assert.throws(() => canonical(wrong), TypeError);
});
