// @ts-check
// The slice that leaves: sealed to the asking app's own public key. Opening one is here for the developers' sandbox
// and for tests.

import { calculateJwkThumbprint, importJWK } from "../../vendor/jose.js";
import { fromBase64url } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { jsonBytes, jsonObject, open, seal } from "./compact.js";
import { PROFILES } from "./profile.js";

/** @typedef {import("./types.js").ExportMembers} ExportMembers */
/** @typedef {import("./types.js").ExportPlaintext} ExportPlaintext */
/** @typedef {{kty: string, crv: string, x: string, y?: string}} ConnectorKey */

const DROPPED = ["kid", "use", "alg", "key_ops"];
/** @type {Record<string, {kty: string, coordinates: string[], webcrypto: {name: string, namedCurve?: string}}>} */
const CURVES = {
  X25519: { kty: "OKP", coordinates: ["x"], webcrypto: { name: "X25519" } },
  "P-256": { kty: "EC", coordinates: ["x", "y"], webcrypto: { name: "ECDH", namedCurve: "P-256" } },
};

/** @param {string | null} member @param {string} detail */
const badKey = (member, detail) => new Refused(detail, member, "connector_key");

/**
 * Refuses what could not be sealed to, or could be sealed to by anyone: shape first, then a trial agreement with a
 * throw-away key, which a point off the curve or of low order does not survive.
 * @param {unknown} jwk
 * @returns {Promise<ConnectorKey>} its public members alone
 */
export async function checkConnectorKey(jwk) {
  if (jwk === null || typeof jwk !== "object" || Array.isArray(jwk)) throw badKey(null, "a key is a JSON object");
  const given = /** @type {Record<string, unknown>} */ (jwk);
  const curve = CURVES[String(given.crv)];
  if (!curve || !Object.hasOwn(CURVES, String(given.crv))) throw badKey("crv", "only X25519 and P-256 are allowed");
  if (given.kty !== curve.kty) throw badKey("kty", `a key on ${given.crv} is of type ${curve.kty}`);
  const members = ["kty", "crv", ...curve.coordinates];
  const strange = Object.keys(given).find((name) => !members.includes(name) && !DROPPED.includes(name));
  if (strange) throw badKey(strange, "does not belong in a public key");
  for (const name of curve.coordinates) {
    if (fromBase64url(given[name])?.length !== 32) throw badKey(name, "is not 32 octets in base64url");
  }
  const key = /** @type {ConnectorKey} */ (Object.fromEntries(members.map((name) => [name, given[name]])));
  await tryAgreement(key, curve.webcrypto);
  return key;
}

/** @param {ConnectorKey} key @param {{name: string, namedCurve?: string}} algorithm */
async function tryAgreement(key, algorithm) {
  let shared;
  try {
    const theirs = await crypto.subtle.importKey("jwk", key, algorithm, true, []);
    const ours = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(algorithm, false, ["deriveBits"]));
    shared = new Uint8Array(
      await crypto.subtle.deriveBits({ name: algorithm.name, public: theirs }, ours.privateKey, 256),
    );
  } catch {
    throw badKey(key.kty === "OKP" ? "x" : null, "no secret can be agreed with this point");
  }
  if (shared.every((byte) => byte === 0)) throw badKey("x", "the agreed secret is all zeros");
}

/** RFC 7638, SHA-256. @param {ConnectorKey} key @returns {Promise<string>} */
export const thumbprint = (key) => calculateJwkThumbprint(key, "sha256");

/**
 * @param {ExportPlaintext} plaintext
 * @param {ExportMembers} members
 * @param {unknown} connectorPublicKey
 * @returns {Promise<string>} compact JWE
 */
export async function sealExport(plaintext, members, connectorPublicKey) {
  const key = await importJWK(await checkConnectorKey(connectorPublicKey), PROFILES.export.alg);
  const { kid, iss, sub, aud, request_id, scope, revision, request_digest } = members;
  const header = { cty: "application/json", kid, iss, sub, aud, request_id, scope, revision, request_digest };
  return seal("export", header, await jsonBytes(plaintext), key);
}

/**
 * @param {string} jwe
 * @param {JsonWebKey} connectorPrivateKey
 * @param {ExportMembers} expected every header member, as the receiver asked for it
 * @returns {Promise<ExportPlaintext>}
 */
export async function openExport(jwe, connectorPrivateKey, expected) {
  const key = await importJWK(connectorPrivateKey, PROFILES.export.alg);
  const wanted = { cty: "application/json", ...expected };
  const { plaintext } = await open("export", jwe, key, wanted, connectorPrivateKey.crv);
  const slice = /** @type {any} */ (await jsonObject(plaintext));
  checkSlice(slice, expected.scope);
  return slice;
}

/** @param {any} slice @param {string} scope */
function checkSlice(slice, scope) {
  if (slice.scope !== scope) throw new Refused("the sealed slice is of another scope", "scope", "mismatch");
  if (!Array.isArray(slice.approved_attributes)) throw new Refused("is not a list", "approved_attributes", "plaintext");
  const extra = pathsOf(slice.data).find((path) => !slice.approved_attributes.includes(path));
  if (extra !== undefined) throw new Refused(`${extra} was not approved`, "data", "plaintext");
}

/** @param {any} data domain → segment → attribute → value @returns {string[]} */
function pathsOf(data) {
  return branches(data).flatMap(([domain, segments]) =>
    branches(segments).flatMap(([segment, values]) => branches(values).map(([name]) => `${domain}.${segment}.${name}`)),
  );
}

/** @param {any} value @returns {[string, any][]} */
function branches(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Refused("is not domain, segment, attribute", "data", "plaintext");
  }
  return Object.entries(value);
}
