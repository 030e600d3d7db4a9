// @ts-check
// JSON Web Signatures with Ed25519, made and checked: header and claims are decided before any key is touched, and only what
// was signed is parsed.

import { calculateJwkThumbprint, compactVerify, importJWK } from "../jose.js";
import { decodeBase64url, toBase64url, toHex, utf8 } from "./bytes.js";
import { CannotOpen, KeyRefused, Refused, shown } from "./errors.js";
import { isObject, parseObject } from "./json.js";

/** @typedef {{kty: "OKP", crv: "Ed25519", x: string}} OwnerKey exactly these members */
/** @typedef {import("../jose.js").CryptoKey} CryptoKey */
/** @typedef {{privateKey: CryptoKey, jwk: OwnerKey, kid: string}} SigningKey */
/** @typedef {{payload: string, signatures: {protected: string, signature: string}[]}} General a JWS in the general JSON form */

const ALG = "EdDSA";
const MAX_JWS_CHARS = 256 * 1024;
const P = 2n ** 255n - 19n;
const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** The y of the points whose order divides 8: with one of these, signatures are made without any private key. */
const LOW_ORDER = [0n, 1n, P - 1n, ORDER_8, P - ORDER_8];
/** What stands before the 32 octets of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Uint8Array.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]);

/**
 * A key that signs and cannot be read; the seed is zeroed.
 * @param {Uint8Array<ArrayBuffer>} seed 32 octets @returns {Promise<SigningKey>}
 */
export async function signingKey(seed) {
  const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
  try {
    // only a key that can be read tells its public half
    const readable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", readable);
    const jwk = /** @type {OwnerKey} */ ({ kty: "OKP", crv: "Ed25519", x: String(x) }); // WebCrypto adds alg, key_ops and ext
    const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
    return { privateKey, jwk, kid: await keyThumbprint(jwk) };
  } finally {
    seed.fill(0);
    pkcs8.fill(0);
  }
}

/** RFC 7638, SHA-256. @param {OwnerKey} key */
export const keyThumbprint = (key) => calculateJwkThumbprint({ ...key }, "sha256");

/** @param {unknown} value */
const encoded = (value) => toBase64url(utf8(JSON.stringify(value)));

/** @param {SigningKey} key @param {string} typ @param {string} payload base64url @returns {Promise<[string, string]>} header and signature */
async function signature({ privateKey, kid }, typ, payload) {
  const header = encoded({ alg: ALG, typ, kid });
  return [header, toBase64url(new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, utf8(`${header}.${payload}`))))];
}

/** @param {SigningKey} key @param {string} typ @param {Record<string, unknown>} claims @returns {Promise<string>} compact JWS */
export async function sign(key, typ, claims) {
  const payload = encoded(claims);
  const [header, octets] = await signature(key, typ, payload);
  return `${header}.${payload}.${octets}`;
}

/** @param {SigningKey[]} keys @param {string} typ @param {Record<string, unknown>} claims @returns {Promise<General>} */
export async function signByAll(keys, typ, claims) {
  const payload = encoded(claims);
  const all = await Promise.all(keys.map((key) => signature(key, typ, payload)));
  return { payload, signatures: all.map(([header, octets]) => ({ protected: header, signature: octets })) };
}

/**
 * An Ed25519 key that is exactly {"kty", "crv", "x"} and not of low order; KeyRefused else.
 * @param {any} jwk @param {string} what @returns {OwnerKey}
 */
export function checkOwnerKey(jwk, what = "the key") {
  if (!isObject(jwk) || Object.keys(jwk).sort().join() !== "crv,kty,x") {
    throw new KeyRefused(`${what} is not exactly {"kty", "crv", "x"}`);
  }
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519") throw new KeyRefused(`${what} is not an Ed25519 key`, "crv");
  let raw;
  try {
    raw = decodeBase64url(jwk.x, "x");
  } catch (error) {
    throw new KeyRefused(`${what}'s ${/** @type {Error} */ (error).message}`, "x");
  }
  const y = BigInt(`0x${toHex(raw.reverse()) || "0"}`) % 2n ** 255n;
  if (raw.length !== 32 || y >= P || LOW_ORDER.includes(y)) {
    throw new KeyRefused(`${what}'s x is not a point that signatures can be checked with`, "x");
  }
  return { kty: "OKP", crv: "Ed25519", x: jwk.x };
}

/**
 * The protected header of a compact JWS, which has these members and a `kid`, and no others; nothing of it is verified.
 * @param {unknown} jws @param {Record<string, string>} expected @param {string} what @returns {Record<string, any>}
 */
export function readHeader(jws, expected, what) {
  const parts = typeof jws === "string" && jws.length <= MAX_JWS_CHARS ? jws.split(".") : [];
  if (parts.length !== 3) throw new Refused(`${what} is no compact JWS`);
  const header = parseObject(decodeBase64url(parts[0], `${what}'s header`), `${what}'s header`);
  for (const [member, wanted] of Object.entries(expected)) {
    if (header[member] !== wanted) {
      throw new Refused(`${what}'s header member ${member} is ${shown(header[member])}, not ${shown(wanted)}`, member, "mismatch");
    }
  }
  const stray = Object.keys(header).find((member) => !Object.hasOwn(expected, member) && member !== "kid");
  if (stray !== undefined) throw new Refused(`${what}'s header member ${shown(stray)} is refused`, stray, "unexpected_member");
  return header;
}

/** What a key signed. @param {string} jws @param {OwnerKey} key @param {string} what @returns {Promise<Record<string, any>>} */
export async function signedContent(jws, key, what) {
  let payload;
  try {
    for (const part of jws.split(".")) decodeBase64url(part, what); // jose takes stray bits, padding and blanks
    ({ payload } = await compactVerify(jws, await importJWK({ ...key }, ALG), { algorithms: [ALG] }));
  } catch {
    throw new CannotOpen(`${what}'s signature does not hold: it was changed`, "signature");
  }
  return parseObject(payload, `${what}'s content`);
}

/**
 * The claims of a compact JWS of this type under this checked key; Refused, naming the member, else.
 * @param {unknown} jws @param {string} typ @param {OwnerKey} key @param {string} what @returns {Promise<Record<string, any>>}
 */
export async function verified(jws, typ, key, what) {
  readHeader(jws, { alg: ALG, typ, kid: await keyThumbprint(key) }, what);
  return signedContent(/** @type {string} */ (jws), key, what);
}

/**
 * The claims of a JWS in the general JSON form with exactly two signatures, of these keys in this order.
 * @param {any} signed @param {string} typ @param {OwnerKey[]} keys @param {string} what
 */
export async function verifiedByBoth(signed, typ, keys, what) {
  /** @type {Record<string, any>} */
  let claims = {};
  for (const [index, one] of general(signed, what).entries()) {
    claims = await verified(`${one.protected}.${signed.payload}.${one.signature}`, typ, /** @type {OwnerKey} */ (keys[index]), what);
  }
  return claims;
}

/** What such a JWS says, whoever made it: only to learn which keys to check it with. @param {any} signed @param {string} what */
export function uncheckedClaims(signed, what) {
  general(signed, what);
  return parseObject(decodeBase64url(signed.payload, what), what);
}

/** @param {any} signed @param {string} what @returns {{protected: string, signature: string}[]} */
function general(signed, what) {
  const fits = isObject(signed) && Object.keys(signed).sort().join() === "payload,signatures";
  const both = fits && typeof signed.payload === "string" && Array.isArray(signed.signatures) ? signed.signatures : [];
  const whole = both.every((/** @type {any} */ one) => isObject(one) && Object.keys(one).sort().join() === "protected,signature");
  if (both.length !== 2 || !whole) throw new Refused(`${what} is no JWS with two signatures`);
  return both;
}

/**
 * Refused where the claims are not exactly these, by the first that differs.
 * @param {Record<string, any>} claims @param {Record<string, unknown>} expected @param {string} what
 */
export function checkClaims(claims, expected, what) {
  for (const [name, wanted] of Object.entries(expected)) {
    if (!Object.hasOwn(claims, name) || JSON.stringify(claims[name]) !== JSON.stringify(wanted)) {
      throw new Refused(`${what}'s ${name} is ${shown(claims[name])}, not ${shown(wanted)}`, name);
    }
  }
  const stray = Object.keys(claims).find((name) => !Object.hasOwn(expected, name));
  if (stray !== undefined) throw new Refused(`${what} has an unknown claim ${shown(stray)}`, stray);
}

/** @param {Record<string, any>} claims @param {string} name @param {string} what @returns {number} */
export function numberOf(claims, name, what) {
  if (!Number.isSafeInteger(claims[name])) throw new Refused(`${what}'s ${name} is not a whole number`, name);
  return claims[name];
}
