// @ts-check
// Receipts: who signed them, and whether they say what one expects. The public keys are enough.

import { decodeBase64url } from "./bytes.js";
import { KeyRefused, Refused, shown, UnknownKey } from "./errors.js";
import { isObject } from "./json.js";
import { readHeader, signedContent } from "./jws.js";

/** @typedef {Record<string, any>} Claims */
/** @typedef {{keys: Record<string, any>[]}} KeySet */

const ALG = "EdDSA";
const TYPE = "consent-receipt+jwt";

/**
 * The claims of a receipt; `expected` maps members, dotted where nested, to their values.
 * @param {string} jws @param {KeySet} jwks @param {Record<string, unknown>} [expected] @returns {Promise<Claims>}
 */
export async function verifyReceipt(jws, jwks, expected = {}) {
  const { kid } = readReceiptHeader(jws);
  const claims = await signedContent(jws, publicKeyOf(kid, jwks), "the receipt");
  checkReceipt(claims);
  for (const [member, value] of Object.entries(expected)) compare(claims, member, value);
  return claims;
}

/** @param {unknown} jws */
export const readReceiptHeader = (jws) => readHeader(jws, { typ: TYPE, alg: ALG }, "the receipt");

/** What a receipt says has the form in which it says it. @param {Claims} claims */
export function checkReceipt({ lawful_basis: basis, rights, notice }) {
  if (typeof basis !== "string") throw new Refused("member lawful_basis is no text", "lawful_basis");
  if (!Array.isArray(rights) || !rights.every((right) => typeof right === "string")) {
    throw new Refused("member rights is no list of texts", "rights");
  }
  if (!isObject(notice) || typeof notice.version !== "string" || typeof notice.language !== "string") {
    throw new Refused("member notice has no version and language", "notice");
  }
}

/** The one of this name among the keys; UnknownKey where a newer set may have it. @param {unknown} kid @param {KeySet} jwks @returns {import("./jws.js").OwnerKey} */
export function publicKeyOf(kid, jwks) {
  if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new KeyRefused("the key set has no list of keys");
  const named = jwks.keys.filter((jwk) => isObject(jwk) && verifies(jwk) && jwk.kid === kid);
  const [found, another] = named;
  if (typeof kid !== "string" || !found) throw new UnknownKey(`kid ${shown(kid)} is not among the known keys`, "kid");
  if (another) throw new KeyRefused("the key set holds two keys of one name", "kid");
  const { x, d } = found;
  if (d !== undefined) throw new KeyRefused("the key set holds something that is no public key", "keys");
  if (decodeBase64url(x, "x").length !== 32) throw new KeyRefused("the key's x is not 32 bytes long", "x");
  return { kty: "OKP", crv: "Ed25519", x };
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
