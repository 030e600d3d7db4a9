// @ts-check
// Connector keys: made, checked and named. A key is checked before anything is asked for with it or opened with it.

import { calculateJwkThumbprint } from "../jose.js";
import { decodeBase64url, toBase64url } from "./bytes.js";
import { KeyRefused, Refused, shown } from "./errors.js";
import { isObject } from "./json.js";

/** @typedef {import("../jose.js").CryptoKey} CryptoKey */
/** @typedef {{publicKey: CryptoKey, privateKey: CryptoKey}} Pair */
/** @typedef {{kty: "OKP" | "EC", crv: "X25519" | "P-256", x: string, y?: string}} PublicKey */
/** @typedef {PublicKey & {d: string}} PrivateKey */

/** @type {Record<string, {kty: string, coordinates: string[], algorithm: {name: string, namedCurve?: string}}>} */
const CURVES = {
  X25519: { kty: "OKP", coordinates: ["x"], algorithm: { name: "X25519" } },
  "P-256": { kty: "EC", coordinates: ["x", "y"], algorithm: { name: "ECDH", namedCurve: "P-256" } },
};
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const COORDINATE_BYTES = 32;

/** @param {string} message @param {string | null} [member] */
const badKey = (message, member = null) => new KeyRefused(message, member, "connector_key");

/**
 * A fresh private JWK for one app or one machine.
 * @param {"X25519" | "P-256"} [curve]
 * @returns {Promise<PrivateKey>}
 */
export async function generateConnectorKey(curve = "X25519") {
  const { coordinates, algorithm } = curveOf({ kty: CURVES[curve]?.kty, crv: curve });
  const pair = /** @type {Pair} */ (await crypto.subtle.generateKey(algorithm, true, ["deriveBits"]));
  const jwk = /** @type {any} */ (await crypto.subtle.exportKey("jwk", pair.privateKey));
  const members = ["kty", "crv", ...coordinates, "d"];
  return /** @type {PrivateKey} */ (Object.fromEntries(members.map((name) => [name, jwk[name]])));
}

/**
 * The public JWK of an app, reduced to the members that count; what is not understood is ignored (RFC 7517, 4). Refuses
 * private members, another curve, coordinates that are not strict base64url, a point off the curve and one of low order.
 * @param {unknown} jwk @param {{tolerate?: boolean}} [options] false for the `epk` of a header: other members are refused
 * @returns {Promise<PublicKey>}
 */
export async function checkConnectorKey(jwk, { tolerate = true } = {}) {
  if (!isObject(jwk)) throw badKey("the key is not a JSON object");
  const curve = curveOf(jwk);
  const stray = PRIVATE.find((name) => Object.hasOwn(jwk, name));
  if (stray) throw badKey(`the key has a private member: ${stray}`, stray);
  const members = ["kty", "crv", ...curve.coordinates];
  const unknown = tolerate ? undefined : Object.keys(jwk).find((name) => !members.includes(name));
  if (unknown !== undefined) throw badKey(`the key has an unknown member: ${shown(unknown)}`, unknown);
  for (const name of curve.coordinates) coordinate(jwk, name);
  const key = /** @type {PublicKey} */ (Object.fromEntries(members.map((name) => [name, jwk[name]])));
  await tryAgreement(key, curve.algorithm);
  return key;
}

/**
 * A private JWK with its public members; refuses one whose halves do not belong together.
 * @param {unknown} jwk @returns {Promise<PrivateKey>}
 */
export async function checkPrivateKey(jwk) {
  if (!isObject(jwk)) throw badKey("the key is not a JSON object");
  if (!Object.hasOwn(jwk, "d")) throw badKey("the key is not private: it has no d", "d");
  const { d, ...rest } = jwk;
  const key = await checkConnectorKey(rest);
  coordinate(jwk, "d");
  await checkHalves({ ...key, d });
  return { ...key, d };
}

/** The public half of a private key. @param {unknown} jwk @returns {Promise<PublicKey>} */
export async function publicHalf(jwk) {
  const { d, ...key } = await checkPrivateKey(jwk);
  return /** @type {PublicKey} */ (key);
}

/** The RFC 7638 thumbprint (SHA-256, base64url), of either half. @param {unknown} jwk @returns {Promise<string>} */
export async function thumbprint(jwk) {
  const { d, ...rest } = isObject(jwk) ? jwk : {};
  return calculateJwkThumbprint(await checkConnectorKey(isObject(jwk) ? rest : jwk), "sha256");
}

/** @param {Record<string, any>} jwk */
function curveOf(jwk) {
  if (jwk.kty !== "OKP" && jwk.kty !== "EC") {
    throw badKey(`kty ${shown(jwk.kty)} is not a key agreement key that we take`, "kty");
  }
  const curve = Object.hasOwn(CURVES, String(jwk.crv)) ? CURVES[jwk.crv] : null;
  if (!curve || curve.kty !== jwk.kty) {
    throw badKey(`crv ${shown(jwk.crv)} of kty ${jwk.kty} is not X25519 or P-256`, "crv");
  }
  return curve;
}

/** @param {Record<string, any>} jwk @param {string} name */
function coordinate(jwk, name) {
  if (!Object.hasOwn(jwk, name)) throw badKey(`the key has no ${name}`, name);
  let bytes;
  try {
    bytes = decodeBase64url(jwk[name], name);
  } catch (error) {
    throw badKey(`the key's ${/** @type {Refused} */ (error).message}`, name);
  }
  if (bytes.length !== COORDINATE_BYTES) {
    throw badKey(`the key's ${name} has ${bytes.length} bytes, not ${COORDINATE_BYTES}`, name);
  }
}

/** What a point off the curve or of low order does not survive. @param {any} key @param {any} algorithm */
async function tryAgreement(key, algorithm) {
  const reason =
    key.kty === "OKP" ? "the key is a low-order point: a trial agreement failed" : "the key's point is not on the curve P-256";
  let shared;
  try {
    const theirs = await crypto.subtle.importKey("jwk", key, algorithm, true, []);
    const ours = /** @type {Pair} */ (await crypto.subtle.generateKey(algorithm, false, ["deriveBits"]));
    shared = await crypto.subtle.deriveBits({ name: algorithm.name, public: theirs }, ours.privateKey, 256);
  } catch {
    throw badKey(reason, "x");
  }
  if (new Uint8Array(shared).every((byte) => byte === 0)) throw badKey(reason, "x");
}

/** Two strangers agree only if the private half is the public one's. @param {any} key */
async function checkHalves(key) {
  const { algorithm } = curveOf(key);
  const { d, ...open } = key;
  try {
    const own = await crypto.subtle.importKey("jwk", key, algorithm, false, ["deriveBits"]);
    const named = await crypto.subtle.importKey("jwk", open, algorithm, true, []);
    const other = /** @type {Pair} */ (await crypto.subtle.generateKey(algorithm, false, ["deriveBits"]));
    const agreed = await Promise.all([
      crypto.subtle.deriveBits({ name: algorithm.name, public: other.publicKey }, own, 256),
      crypto.subtle.deriveBits({ name: algorithm.name, public: named }, other.privateKey, 256),
    ]);
    const [one, two] = agreed.map((bits) => toBase64url(new Uint8Array(bits)));
    if (one === two) return;
  } catch {
    throw badKey("the key's d is not a private key of its curve", "d");
  }
  throw badKey("the key's d does not belong to its public members", "d");
}
