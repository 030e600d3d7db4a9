// @ts-check
// The profile of every sealed object: exactly the protected header members listed for its kind, and values in their
// bounds. A header is read here before any key touches the object; the library underneath is never asked about an
// unknown member.

import { decodeBase64url, fromBase64url, isBase64url } from "./bytes.js";
import { Refused, shown } from "./errors.js";
import { parseObject } from "./json.js";

/** @typedef {Record<string, any>} Json */
/** @typedef {"passphrase" | "recovery" | "passkey"} WrapperKind */
/** @typedef {"segment" | "export" | "root" | "notes" | WrapperKind} SealedKind */

export const ENC = "A256GCM";
export const MIN_ITERATIONS = 210000;
export const MAX_ITERATIONS = 1000000;
const MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024;
const MAX_HEADER_CHARS = 4096;
const MAX_CIPHERTEXT_CHARS = Math.floor((MAX_PLAINTEXT_BYTES * 4 + 2) / 3);
export const MAX_JWE_CHARS = MAX_HEADER_CHARS + MAX_CIPHERTEXT_CHARS + 256;
const FORBIDDEN = /^(zip|crit|apu|apv|jku|jwk|x5.*)$/;
const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const EPK_MEMBERS = { X25519: ["kty", "crv", "x"], "P-256": ["kty", "crv", "x", "y"] };
const SIZES = [
  { part: 1, what: "the encrypted key", bytes: 40 },
  { part: 2, what: "the initialization vector", bytes: 12 },
  { part: 4, what: "the authentication tag", bytes: 16 },
];

/** `optional` may be there. @type {Record<SealedKind, {alg: string, typ: string, members: string[], optional?: string[]}>} */
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
    optional: ["notes"],
  },
  root: { alg: "A256KW", typ: "vault-signing-root+jwe", members: ["alg", "enc", "typ", "kid", "sub"] },
  notes: { alg: "A256KW", typ: "vault-notes+jwe", members: ["alg", "enc", "typ", "kid", "sub", "revision"] },
  recovery: {
    alg: "A256KW",
    typ: "vault-key+jwe",
    members: ["alg", "enc", "typ", "kid", "sub", "kind", "salt"],
    optional: ["notes"],
  },
  passkey: {
    alg: "A256KW",
    typ: "vault-key+jwe",
    members: ["alg", "enc", "typ", "kid", "sub", "kind", "salt"],
    optional: ["notes"],
  },
};

/** What each member must look like, whatever it was asked to be. @type {Record<string, [string, (value: any) => boolean]>} */
const FORMS = {
  kid: ["1 to 128 of the characters A-Z a-z 0-9 . _ ~ -", (value) => typeof value === "string" && KEY_ID.test(value)],
  ...Object.fromEntries(["sub", "domain", "segment_id", "iss", "aud", "request_id", "scope"].map((name) => [name, ["text of 1 to 512 characters", isText]])),
  request_digest: ["32 bytes in base64url", (value) => fromBase64url(value)?.length === 32],
  content_revision: ["a positive whole number", isRevision],
  revision: ["a positive whole number", isRevision],
  cty: ['"application/json"', (value) => value === "application/json"],
  salt: ["32 bytes in base64url", (value) => fromBase64url(value)?.length === 32],
  notes: ["1", (value) => value === 1],
  p2s: ["16 bytes in base64url", (value) => fromBase64url(value)?.length === 16],
};

/** @param {unknown} value @returns {boolean} */
function isText(value) {
  if (typeof value !== "string" || value === "" || /[\p{C}\p{Z}]/u.test(value.replaceAll(" ", ""))) return false;
  return [...value].length <= 512;
}

/** @param {unknown} value @returns {boolean} */
function isRevision(value) {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

/**
 * Splits a compact JWE and reads its protected header, opening nothing.
 * @param {unknown} jwe @returns {Json}
 */
export function readHeader(jwe) {
  if (typeof jwe === "string" && jwe.length > MAX_JWE_CHARS) throw new Refused(`the sealed text is longer than ${MAX_JWE_CHARS} characters`);
  const parts = typeof jwe === "string" ? jwe.split(".") : [];
  if (parts.length !== 5 || !parts.every(isBase64url)) throw new Refused("this is no compact JWE of five parts in base64url");
  const [encoded = "", , , ciphertext = ""] = parts;
  if (encoded.length > MAX_HEADER_CHARS) throw new Refused(`the header is longer than ${MAX_HEADER_CHARS} characters`);
  if (ciphertext.length > MAX_CIPHERTEXT_CHARS) throw new Refused(`the sealed content is larger than ${MAX_PLAINTEXT_BYTES} bytes`);
  let header;
  try {
    header = parseObject(decodeBase64url(encoded, "the header"), "the header");
  } catch (error) {
    throw error instanceof Refused ? new Refused(error.message, error.reason === "repeated_name" ? error.member : null) : error;
  }
  return header;
}

/** The other parts of a JWE whose header is in order; nothing of them is opened. @param {string} jwe */
export function checkSizes(jwe) {
  const parts = jwe.split(".");
  for (const { part, what, bytes } of SIZES) {
    if (fromBase64url(parts[part])?.length !== bytes) throw new Refused(`${what} is not ${bytes} bytes long`);
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
  checkMembers(header, profile.members, profile.optional);
  for (const [member, [form, holds]] of Object.entries(FORMS)) {
    if (member in header && !holds(header[member])) throw new Refused(`header member ${member} is not ${form}`, member, "bad_value");
  }
  if ("p2c" in header) checkIterations(header.p2c);
  if ("epk" in header) checkEphemeralKey(header.epk, connectorCurve);
  for (const [member, value] of Object.entries(expected)) {
    if (header[member] !== value) {
      throw new Refused(`header member ${member} is ${shown(header[member])}, not ${shown(value)}`, member, "mismatch");
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
  if (!alg) throw notListed("alg", header.alg);
  if (header.enc !== ENC) throw notListed("enc", header.enc);
  const strange = Object.keys(header).find((name) => !OLD_MEMBERS.includes(name));
  if (strange !== undefined) throw new Refused(`header member ${shown(strange)} is unknown here`, strange, "unexpected_member");
  checkIterations(header.p2c, OLD_MIN_ITERATIONS);
  return alg;
}

/** @param {Json} header */
function refuseForbidden(header) {
  const member = Object.keys(header).find((name) => FORBIDDEN.test(name));
  if (member) throw new Refused(`header member ${member} is refused`, member, "forbidden_member");
}

/** @param {Json} header @param {{alg: string, typ: string}} profile */
function checkAlgorithm(header, { alg, typ }) {
  if (header.alg !== alg) throw notListed("alg", header.alg);
  if (header.enc !== ENC) throw notListed("enc", header.enc);
  if (header.typ !== typ) throw new Refused(`header member typ is ${shown(header.typ)}, not ${shown(typ)}`, "typ", "mismatch");
}

/** @param {string} member @param {unknown} value */
const notListed = (member, value) => new Refused(`${member} ${shown(value)} is not on the list for what is sealed here`, member, "algorithm");

/** @param {Json} header @param {string[]} members @param {string[]} [optional] */
function checkMembers(header, members, optional = []) {
  const strange = Object.keys(header).find((name) => !members.includes(name) && !optional.includes(name));
  if (strange !== undefined) throw new Refused(`header member ${shown(strange)} is unknown here`, strange, "unexpected_member");
  const absent = members.find((name) => !Object.hasOwn(header, name));
  if (absent) throw new Refused(`the header has no member ${absent}`, absent, "missing_member");
}

/** @param {unknown} count @param {number} [least] */
function checkIterations(count, least = MIN_ITERATIONS) {
  if (!Number.isSafeInteger(count) || Number(count) < least || Number(count) > MAX_ITERATIONS) {
    throw new Refused(`p2c ${shown(count)} is outside ${least} to ${MAX_ITERATIONS}`, "p2c", "iterations");
  }
}

/** @param {any} epk @param {string | undefined} curve */
function checkEphemeralKey(epk, curve) {
  const members = curve === "X25519" || curve === "P-256" ? EPK_MEMBERS[curve] : null;
  if (!members || epk === null || typeof epk !== "object" || epk.crv !== curve) {
    throw new Refused(`header member epk is on ${shown(epk?.crv)}, the key on ${curve}`, "epk", "mismatch");
  }
  const names = Object.keys(epk);
  const right = names.length === members.length && members.every((name) => names.includes(name));
  if (!right || epk.kty !== (curve === "X25519" ? "OKP" : "EC") || fromBase64url(epk.x)?.length !== 32) {
    throw new Refused("header member epk is not a public key of its curve", "epk", "bad_value");
  }
}
