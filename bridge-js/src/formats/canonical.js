// @ts-check
// RFC 8785 canonical JSON, and the digest of a request as the person sees it.

import { toBase64url, utf8 } from "./bytes.js";
import { LATER_MEMBERS } from "./contract.js";
import { Refused } from "./errors.js";
import { sha256 } from "./sha256.js";

/** The digest covers exactly these, null where the app gave none, and the later ones that the app gave. */
const DIGEST_MEMBERS = ["request_id", "app_id", "app_name", "user_id", "scope", "attributes", "purpose",
  "connector_thumbprint", "access_duration", "expires_at", "required_attributes", "optional_attributes", "max_reads",
  "refresh_policy", "binding_message"];
const LATER = [...LATER_MEMBERS, "derived"];

/**
 * Numbers as ECMAScript writes them, names sorted by UTF-16 code units.
 * @param {unknown} value anything JSON can hold
 * @returns {string}
 * @throws {TypeError} for a lone surrogate, a number that is not finite, or what JSON cannot hold
 */
export function canonical(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return canonicalText(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("a number must be finite");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${Array.from(value, canonical).join(",")}]`;
  if (typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    throw new TypeError("JSON cannot hold this");
  }
  const object = /** @type {Record<string, unknown>} */ (value);
  // The default order of sort() is that of UTF-16 code units.
  return `{${Object.keys(object)
    .sort()
    .map((name) => `${canonicalText(name)}:${canonical(object[name])}`)
    .join(",")}}`;
}

/** @param {string} text @returns {string} */
function canonicalText(text) {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError("a lone surrogate is no character");
  return JSON.stringify(text);
}

/** Base64url SHA-256 of the canonical form after a salt. @param {unknown} value @param {Uint8Array} [salt] */
export const canonicalDigest = (value, salt = new Uint8Array()) => toBase64url(sha256(salt, utf8(canonical(value))));

/**
 * @param {Record<string, unknown>} request its members and no others, null where the app gave none
 * @returns {string} base64url SHA-256
 * @throws {Refused} where a member is missing or one too many is there: the person would not see what is signed for
 */
export function requestDigest(request) {
  const strange = Object.keys(request).find((name) => !DIGEST_MEMBERS.includes(name) && !LATER.includes(name));
  if (strange !== undefined) throw new Refused(`${strange} is no member of a request`, strange, "unexpected_member");
  const absent = DIGEST_MEMBERS.find((name) => request[name] === undefined);
  if (absent) throw new Refused(`${absent} is missing from the request`, absent, "missing_member");
  return canonicalDigest(request);
}
