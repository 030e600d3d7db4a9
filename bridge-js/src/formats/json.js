// @ts-check
// JSON without what two parsers could read in two ways.

import { fromUtf8 } from "./bytes.js";
import { Refused } from "./errors.js";

/** @typedef {Record<string, any>} Json */

const DEEPEST = 500;

/** @param {unknown} value @returns {value is Json} */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * A JSON object in UTF-8; refuses duplicate members, numbers out of range and lone surrogates.
 * @param {Uint8Array | string} data @param {string} what @returns {Json}
 */
export function parseObject(data, what) {
  let text;
  try {
    text = typeof data === "string" ? data : fromUtf8(data);
  } catch {
    throw new Refused(`${what} is not UTF-8`, null, "not_json");
  }
  const value = parsed(text, what);
  if (!isObject(value)) throw new Refused(`${what} is not a JSON object`, null, "not_json");
  for (const token of onceNamed(text, what, Infinity)) checkToken(token, what);
  return value;
}

/**
 * Any JSON, of whoever wrote a file: refuses duplicate members and endless nesting.
 * @param {string} text @returns {unknown}
 * @throws {Refused} reason not_json, repeated_name or too_deep
 */
export function strictJson(text) {
  const value = parsed(text, "this");
  for (const token of onceNamed(text, "this", DEEPEST)) void token;
  return value;
}

/** @param {string} text @param {string} what @returns {unknown} */
function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(`${what} is not JSON`, null, "not_json");
  }
}

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

/** The tokens of text that JSON.parse has accepted, which keeps the last of two equal names. @param {string} text @param {string} what @param {number} deepest */
function* onceNamed(text, what, deepest) {
  /** @type {(Set<string> | null)[]} */
  const open = [];
  let before = "";
  for (const token of tokens(text)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    if (open.length > deepest) throw new Refused(`${what} is nested deeper than ${deepest}`, null, "too_deep");
    const names = open.at(-1);
    if (names && token[0] === '"' && (before === "{" || before === ",")) {
      const name = JSON.parse(token);
      if (names.has(name)) throw new Refused(`${what} is not JSON that we read (a member is given twice)`, name, "repeated_name");
      names.add(name);
    }
    before = token;
    yield token;
  }
}

/** @param {string} token @param {string} what */
function checkToken(token, what) {
  if (token[0] === '"') {
    if (/\\ud[89a-f]/i.test(token) && /\p{Cs}/u.test(JSON.parse(token))) {
      throw new Refused(`${what} holds a lone surrogate`, null, "not_json");
    }
  } else if (/[-\d]/.test(token[0] ?? "") && !Number.isFinite(Number(token))) {
    throw new Refused(`${what} is not JSON that we read (a number is out of range)`, null, "not_json");
  }
}
