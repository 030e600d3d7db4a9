// @ts-check
// Receipts: who signed them, and whether they say what one expects. The public keys are enough.

import { compactVerify, importJWK } from "./jose.js";
import { decodeBase64url } from "./formats/bytes.js";
import { CannotOpen, KeyRefused, Refused, shown, UnknownKey } from "./formats/errors.js";
import { isObject, parseObject } from "./formats/json.js";

/** @typedef {import("./index.js").Claims} Claims */
/** @typedef {import("./index.js").KeySet} KeySet */

const ALG = "EdDSA";
const TYPE = "consent-receipt+jwt";
const MEMBERS = ["typ", "alg", "kid"];
const MAX_JWS_CHARS = 256 * 1024;

/**
 * The claims of a receipt; `expected` maps members, dotted where nested, to their values.
 * @param {string} jws @param {KeySet} jwks @param {Record<string, unknown>} [expected] @returns {Promise<Claims>}
 */
export async function verifyReceipt(jws, jwks, expected = {}) {
  const parts = typeof jws === "string" && jws.length <= MAX_JWS_CHARS ? jws.split(".") : [];
  if (parts.length !== 3) throw new Refused("the receipt is no compact JWS");
  const header = parseObject(decodeBase64url(parts[0], "the header"), "the header");
  const key = await keyOf(header, jwks);
  // Only what was signed is parsed: the content comes after the signature.
  const payload = await checked(jws, key);
  const claims = parseObject(payload, "the receipt's content");
  checkReceipt(claims);
  for (const [member, value] of Object.entries(expected)) compare(claims, member, value);
  return claims;
}

/** What a receipt says has the form in which it says it. @param {Claims} claims */
function checkReceipt({ lawful_basis: basis, rights, notice }) {
  if (typeof basis !== "string") throw new Refused("member lawful_basis is no text", "lawful_basis");
  if (!Array.isArray(rights) || !rights.every((right) => typeof right === "string")) {
    throw new Refused("member rights is no list of texts", "rights");
  }
  if (!isObject(notice) || typeof notice.version !== "string" || typeof notice.language !== "string") {
    throw new Refused("member notice has no version and language", "notice");
  }
}

/** @param {string} jws @param {import("./jose.js").CryptoKey | Uint8Array} key */
async function checked(jws, key) {
  try {
    return (await compactVerify(jws, key, { algorithms: [ALG] })).payload;
  } catch {
    throw new CannotOpen("the receipt's signature does not hold: it was changed", "signature");
  }
}

/** @param {Record<string, any>} header @param {KeySet} jwks */
async function keyOf(header, jwks) {
  for (const [member, wanted] of Object.entries({ typ: TYPE, alg: ALG })) {
    if (header[member] !== wanted) {
      throw new Refused(`header member ${member} is ${shown(header[member])}, not ${shown(wanted)}`, member);
    }
  }
  const stray = Object.keys(header).find((member) => !MEMBERS.includes(member));
  if (stray !== undefined) throw new Refused(`header member ${shown(stray)} is refused`, stray);
  if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new KeyRefused("the key set has no list of keys");
  const named = jwks.keys.filter((jwk) => isObject(jwk) && verifies(jwk) && jwk.kid === header.kid);
  const [found, another] = named;
  if (typeof header.kid !== "string" || !found) {
    throw new UnknownKey(`kid ${shown(header.kid)} is not among the known keys`, "kid");
  }
  if (another) throw new KeyRefused("the key set holds two keys of one name", "kid");
  const { kty, crv, x, d } = found;
  if (d !== undefined) throw new KeyRefused("the key set holds something that is no public key", "keys");
  if (decodeBase64url(x, "x").length !== 32) throw new KeyRefused("the key's x is not 32 bytes long", "x");
  return importJWK({ kty, crv, x }, ALG);
}

/** @param {Record<string, any>} jwk */
function verifies({ kty, crv, use = "sig", alg = ALG }) {
  return kty === "OKP" && crv === "Ed25519" && use === "sig" && (alg === ALG || alg === "Ed25519");
}

/** @param {Claims} claims @param {string} path @param {unknown} wanted */
function compare(claims, path, wanted) {
  /** @type {any} */
  let found = claims;
  for (const name of path.split(".")) {
    if (!isObject(found) || !Object.hasOwn(found, name)) {
      throw new Refused(`the claims have no member ${shown(path)}`, path);
    }
    found = found[name];
  }
  if (found !== wanted) throw new Refused(`member ${path} is ${shown(found)}, not ${shown(wanted)}`, path);
}
