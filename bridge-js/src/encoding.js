// @ts-check
// Strict readers: base64url as RFC 7515 writes it, and JSON without what two parsers could read in two ways.

import { Refused } from "./errors.js";

/** @typedef {Record<string, any>} Json */

/** @param {string} text @returns {Uint8Array} */
export const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array} bytes @returns {string} */
export const encodeBase64url = (bytes) => Buffer.from(bytes).toString("base64url");

/**
 * Refuses the standard alphabet, padding and a tail with stray bits.
 * @param {unknown} text @param {string} what @param {string} [member]
 * @returns {Uint8Array}
 */
export function decodeBase64url(text, what, member = what) {
  if (typeof text !== "string") throw new Refused(`${what} is not text`, member);
  if (text.length % 4 === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) {
    throw new Refused(`${what} is not base64url without padding`, member);
  }
  const bytes = Buffer.from(text, "base64url");
  // Only the last group can hold stray bits, so only it is compared: the rest may be 16 MiB.
  const tail = text.slice(text.length - (text.length % 4));
  const rest = bytes.length % 3;
  if ((rest ? bytes.subarray(-rest).toString("base64url") : "") !== tail) {
    throw new Refused(`${what} is not canonical base64url`, member);
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * A JSON object in UTF-8; refuses duplicate members, numbers out of range and lone surrogates.
 * @param {Uint8Array | string} data @param {string} what
 * @returns {Json}
 */
export function parseObject(data, what) {
  let value;
  let text;
  try {
    text = typeof data === "string" ? data : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new Refused(`${what} is not UTF-8`);
  }
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused(`${what} is not JSON`);
  }
  if (!isObject(value)) throw new Refused(`${what} is not a JSON object`);
  refuseAmbiguous(text, what);
  return value;
}

/** @param {unknown} value @returns {value is Json} */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What valid JSON is made of, but for `true`, `false`, `null` and space. @param {string} text */
function* tokens(text) {
  const next = /["{}[\],:]|-?\d[\d.eE+-]*/g;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    if (found[0] !== '"') {
      yield found[0];
      continue;
    }
    // Not by the expression: a text may be 16 MiB long.
    let end = found.index;
    do end = text.indexOf('"', end + 1);
    while (isEscaped(text, end));
    next.lastIndex = end + 1;
    yield text.slice(found.index, end + 1);
  }
}

/** @param {string} text @param {number} at */
function isEscaped(text, at) {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

/** Of text that JSON.parse has accepted, which keeps the last of two equal names. @param {string} text @param {string} what */
function refuseAmbiguous(text, what) {
  /** @type {(Set<string> | null)[]} */
  const open = [];
  let before = "";
  for (const token of tokens(text)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token[0] === '"') checkText(token, what);
    else if (token !== "," && token !== ":" && !Number.isFinite(Number(token))) {
      throw new Refused(`${what} is not JSON that we read (a number is out of range)`);
    }
    const names = open.at(-1);
    if (names && token[0] === '"' && (before === "{" || before === ",")) {
      const name = JSON.parse(token);
      if (names.has(name)) throw new Refused(`${what} is not JSON that we read (a member is given twice)`);
      names.add(name);
    }
    before = token;
  }
}

/** @param {string} token @param {string} what */
function checkText(token, what) {
  if (/\\ud[89a-f]/i.test(token) && /\p{Cs}/u.test(JSON.parse(token))) {
    throw new Refused(`${what} holds a lone surrogate`);
  }
}
