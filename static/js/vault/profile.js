// @ts-check
// The profile of every sealed object: exactly the protected header members listed for its kind, and values in their
// bounds. A header is read here before any key touches the object; the library underneath is never asked about an
// unknown member.

import { Refused } from "../formats/errors.js";
import { fromBase64url, fromUtf8, isBase64url } from "../formats/bytes.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").SealedKind} SealedKind */

export const ENC = "A256GCM";
export const MIN_ITERATIONS = 210000;
export const MAX_ITERATIONS = 1000000;
const FORBIDDEN = /^(zip|crit|apu|apv|jku|jwk|x5.*)$/;
const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const HEADER_LIMIT = 8192;
const EPK_MEMBERS = { X25519: ["kty", "crv", "x"], "P-256": ["kty", "crv", "x", "y"] };

/** @type {Record<SealedKind, {alg: string, typ: string, members: string[]}>} */
export const PROFILES = {
  segment: {
    alg: "A256KW",
    typ: "pkm-segment+jwe",
    members: ["alg", "enc", "typ", "kid", "sub", "domain", "segment_id", "content_revision"],
  },
  export: {
    alg: "ECDH-ES+A256KW",
    typ: "consent-export+jwe",
    members: [
      "alg",
      "enc",
      "typ",
      "cty",
      "kid",
      "iss",
      "sub",
      "aud",
      "request_id",
      "scope",
      "revision",
      "request_digest",
      "epk",
    ],
  },
  passphrase: {
    alg: "PBES2-HS512+A256KW",
    typ: "vault-key+jwe",
    members: ["alg", "enc", "typ", "kid", "sub", "kind", "p2s", "p2c"],
  },
  root: { alg: "A256KW", typ: "vault-signing-root+jwe", members: ["alg", "enc", "typ", "kid", "sub"] },
  notes: { alg: "A256KW", typ: "vault-notes+jwe", members: ["alg", "enc", "typ", "kid", "sub", "revision"] },
  recovery: { alg: "A256KW", typ: "vault-key+jwe", members: ["alg", "enc", "typ", "kid", "sub", "kind", "salt"] },
  passkey: { alg: "A256KW", typ: "vault-key+jwe", members: ["alg", "enc", "typ", "kid", "sub", "kind", "salt"] },
};

/** What each member must look like, whatever it was asked to be. @type {Record<string, (value: any) => boolean>} */
const LOOKS = {
  kid: (value) => typeof value === "string" && KEY_ID.test(value),
  sub: isText,
  domain: isText,
  segment_id: isText,
  iss: isText,
  aud: isText,
  request_id: isText,
  scope: isText,
  request_digest: (value) => fromBase64url(value)?.length === 32,
  content_revision: isRevision,
  revision: isRevision,
  cty: (value) => value === "application/json",
  salt: (value) => fromBase64url(value)?.length === 32,
  p2s: (value) => fromBase64url(value)?.length === 16,
};

/** @param {unknown} value @returns {boolean} */
function isText(value) {
  return typeof value === "string" && value !== "";
}

/** @param {unknown} value @returns {boolean} */
function isRevision(value) {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

/**
 * Splits a compact JWE and reads its protected header, opening nothing.
 * @param {unknown} jwe
 * @returns {Json}
 */
export function readHeader(jwe) {
  const parts = typeof jwe === "string" ? jwe.split(".") : [];
  const [encoded = ""] = parts;
  if (parts.length !== 5 || !parts.every(isBase64url))
    throw new Refused("this is not a compact JWE", null, "malformed");
  if (encoded.length > HEADER_LIMIT) throw new Refused("the protected header is too long", null, "malformed");
  let header;
  let text;
  try {
    text = fromUtf8(/** @type {Uint8Array<ArrayBuffer>} */ (fromBase64url(encoded)));
    header = JSON.parse(text);
  } catch {
    throw new Refused("the protected header is not JSON", null, "malformed");
  }
  if (header === null || typeof header !== "object" || Array.isArray(header)) {
    throw new Refused("the protected header is not an object", null, "malformed");
  }
  refuseRepeated(text);
  return header;
}

/** JSON.parse keeps the last of two equal names; another reader may keep the first. @param {string} text */
function refuseRepeated(text) {
  const names = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)]
    .filter(([, , colon]) => colon)
    .map(([, name = ""]) => JSON.parse(name));
  const seen = new Set();
  for (const name of names) {
    if (seen.has(name)) throw new Refused("stands in the header twice", name, "malformed");
    seen.add(name);
  }
}

/**
 * Checks a protected header against the profile of its kind and against what the reader asked for.
 * @param {Json} header
 * @param {SealedKind} kind
 * @param {Json} expected member → value; every one of them must be equal
 * @param {string} [connectorCurve] for an export: the curve of the key it is sealed to
 */
export function checkHeader(header, kind, expected, connectorCurve) {
  const profile = PROFILES[kind];
  refuseForbidden(header);
  checkAlgorithm(header, profile);
  checkMembers(header, profile.members);
  for (const [member, looks] of Object.entries(LOOKS)) {
    if (member in header && !looks(header[member]))
      throw new Refused("is not what the format allows", member, "bad_value");
  }
  if ("p2c" in header) checkIterations(header.p2c);
  if ("epk" in header) checkEphemeralKey(header.epk, connectorCurve);
  for (const [member, value] of Object.entries(expected)) {
    if (header[member] !== value) {
      throw new Refused(`expected ${JSON.stringify(value)}, found ${JSON.stringify(header[member])}`, member, "mismatch");
    }
  }
}

const OLD_ALGS = ["PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW"];
const OLD_MEMBERS = ["alg", "enc", "p2s", "p2c", "typ", "cty", "kid"];
const OLD_MIN_ITERATIONS = 1000;

/**
 * A document of the old system, which chose algorithm and iterations: refusing the weaker ones would only lose it.
 * @param {Json} header
 * @returns {string} its algorithm
 */
export function checkOldHeader(header) {
  const alg = OLD_ALGS.find((name) => name === header.alg);
  if (!alg) throw new Refused(`${JSON.stringify(header.alg)} is not allowed here`, "alg", "algorithm");
  if (header.enc !== ENC) throw new Refused(`${JSON.stringify(header.enc)} is not allowed here`, "enc", "algorithm");
  const strange = Object.keys(header).find((name) => !OLD_MEMBERS.includes(name));
  if (strange) throw new Refused("does not belong in this header", strange, "unexpected_member");
  checkIterations(header.p2c, OLD_MIN_ITERATIONS);
  return alg;
}

/** @param {Json} header */
function refuseForbidden(header) {
  const member = Object.keys(header).find((name) => FORBIDDEN.test(name));
  if (member) throw new Refused("must not stand in a header", member, "forbidden_member");
}

/** @param {Json} header @param {{alg: string, typ: string}} profile */
function checkAlgorithm(header, profile) {
  if (header.alg !== profile.alg)
    throw new Refused(`${JSON.stringify(header.alg)} is not allowed here`, "alg", "algorithm");
  if (header.enc !== ENC) throw new Refused(`${JSON.stringify(header.enc)} is not allowed here`, "enc", "algorithm");
  if (header.typ !== profile.typ)
    throw new Refused(`expected ${profile.typ}, found ${JSON.stringify(header.typ)}`, "typ", "mismatch");
}

/** @param {Json} header @param {string[]} members */
function checkMembers(header, members) {
  const strange = Object.keys(header).find((name) => !members.includes(name));
  if (strange) throw new Refused("does not belong in this header", strange, "unexpected_member");
  const absent = members.find((name) => !Object.hasOwn(header, name));
  if (absent) throw new Refused("is missing from the header", absent, "missing_member");
}

/** @param {unknown} count @param {number} [least] */
function checkIterations(count, least = MIN_ITERATIONS) {
  if (!Number.isSafeInteger(count) || Number(count) < least || Number(count) > MAX_ITERATIONS) {
    throw new Refused(`${JSON.stringify(count)} is outside ${least} to ${MAX_ITERATIONS}`, "p2c", "iterations");
  }
}

/** @param {any} epk @param {string | undefined} curve */
function checkEphemeralKey(epk, curve) {
  const members = curve === "X25519" || curve === "P-256" ? EPK_MEMBERS[curve] : null;
  if (!members || epk === null || typeof epk !== "object" || epk.crv !== curve) {
    throw new Refused(`its curve is not the connector's (${curve})`, "epk", "mismatch");
  }
  const names = Object.keys(epk);
  const right = names.length === members.length && members.every((name) => names.includes(name));
  if (!right || epk.kty !== (curve === "X25519" ? "OKP" : "EC") || fromBase64url(epk.x)?.length !== 32) {
    throw new Refused("is not a public key of that curve", "epk", "bad_value");
  }
}
