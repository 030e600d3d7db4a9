// @ts-check
// Octets in and out of text: UTF-8, base64url, base32.

import { base64url } from "../../vendor/jose.js";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export const utf8 = (text) => new TextEncoder().encode(text);

/** Throws a TypeError for octets that are not UTF-8. @param {Uint8Array<ArrayBuffer>} bytes @returns {string} */
export const fromUtf8 = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** @param {number} length @returns {Uint8Array<ArrayBuffer>} */
export const random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** @param {string} text @returns {Promise<string>} the SHA-256 of its UTF-8, hexadecimal */
export async function sha256(text) {
  const octets = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text)));
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {string} */
export const toBase64url = (bytes) => base64url.encode(bytes);

/**
 * The one spelling of these octets: no padding, no other alphabet, no stray bits at the end.
 * @param {unknown} text
 * @returns {Uint8Array<ArrayBuffer> | null} null for anything else
 */
export function strictBase64url(text) {
  if (typeof text !== "string" || !isBase64url(text)) return null;
  return /** @type {Uint8Array<ArrayBuffer>} */ (base64url.decode(text)); // never of shared memory, which its type allows
}

/**
 * Looks at the alphabet, the length and the unused bits of the last character, so that two texts never mean the same
 * octets.
 * @param {string} text
 * @returns {boolean}
 */
export function isBase64url(text) {
  const rest = text.length % 4;
  if (rest === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) return false;
  return rest === 0 || (rest === 2 ? "AQgw" : "AEIMQUYcgkosw048").includes(text.slice(-1));
}

/** RFC 4648 base32 in lower case without padding. @param {Uint8Array<ArrayBuffer>} bytes @returns {string} */
export function toBase32(bytes) {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >> bits) & 31];
    }
  }
  return bits ? text + BASE32[(held << (5 - bits)) & 31] : text;
}

/**
 * @param {string} text in lower case
 * @returns {Uint8Array<ArrayBuffer> | null} null for a stray character or a bit too many
 */
export function fromBase32(text) {
  const bytes = [];
  let held = 0;
  let bits = 0;
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return null;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
    }
  }
  return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? Uint8Array.from(bytes) : null;
}
