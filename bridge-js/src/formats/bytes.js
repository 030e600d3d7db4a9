// @ts-check
// Octets in and out of text: UTF-8, base64, base64url, base32, hexadecimal. Each reader takes the one spelling of the octets.

import { Refused } from "./errors.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const CHUNK = 8192; // how many arguments a call may have

/** @param {string} text @returns {Bytes} */
export const utf8 = (text) => new TextEncoder().encode(text);

/** Throws a TypeError for octets that are not UTF-8. @param {Uint8Array} bytes @returns {string} */
export const fromUtf8 = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** @param {number} length @returns {Bytes} */
export const random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** @param {...Uint8Array} parts @returns {Bytes} */
export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** For what is no secret: it stops at the first octet that differs. @param {Uint8Array} one @param {Uint8Array} other */
export const same = (one, other) => one.length === other.length && one.every((octet, at) => octet === other[at]);

/** @param {Uint8Array} bytes @returns {string} */
export const toHex = (bytes) => Array.from(bytes, (octet) => octet.toString(16).padStart(2, "0")).join("");

/** RFC 4648, section 4, with padding. @param {Uint8Array} bytes @returns {string} */
export function toBase64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

/** @param {string} text @returns {Bytes | null} null for any other spelling */
export function fromBase64(text) {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? octetsOf(binary) : null;
  } catch {
    return null;
  }
}

/** @param {string} binary a letter an octet @returns {Bytes} */
function octetsOf(binary) {
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** @param {Uint8Array} bytes @returns {string} */
export const toBase64url = (bytes) => toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/**
 * No padding, no other alphabet, no stray bits at the end.
 * @param {unknown} text @returns {Bytes | null} null for anything else
 */
export function fromBase64url(text) {
  if (typeof text !== "string" || !isBase64url(text)) return null;
  return octetsOf(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
}

/**
 * The same; Refused, naming what it is, for anything else.
 * @param {unknown} text @param {string} what @param {string} [member] @returns {Bytes}
 */
export function decodeBase64url(text, what, member = what) {
  if (typeof text !== "string") throw new Refused(`${what} is not text`, member, "bad_value");
  const bytes = fromBase64url(text);
  if (!bytes) throw new Refused(`${what} is not base64url without padding, or not canonical`, member, "bad_value");
  return bytes;
}

/**
 * Looks at the alphabet, the length and the unused bits of the last character, so that two texts never mean the same
 * octets.
 * @param {string} text @returns {boolean}
 */
export function isBase64url(text) {
  const rest = text.length % 4;
  if (rest === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) return false;
  return rest === 0 || (rest === 2 ? "AQgw" : "AEIMQUYcgkosw048").includes(text.slice(-1));
}

/** RFC 4648 base32 in lower case without padding. @param {Uint8Array} bytes @returns {string} */
export function toBase32(bytes) {
  let text = "";
  let rest = 0;
  let bits = 0;
  for (const byte of bytes) {
    rest = ((rest << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(rest >> bits) & 31];
    }
  }
  return bits ? text + BASE32[(rest << (5 - bits)) & 31] : text;
}

/** @param {string} text in lower case @returns {Bytes | null} null for a stray character or a bit too many */
export function fromBase32(text) {
  const bytes = [];
  let rest = 0;
  let bits = 0;
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return null;
    rest = ((rest << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((rest >> bits) & 0xff);
    }
  }
  return bits < 5 && (rest & ((1 << bits) - 1)) === 0 ? Uint8Array.from(bytes) : null;
}
