// @ts-check
// Reading what somebody brings in: JSON as this app saves it, or a CSV of names and values.

import { gettext } from "./i18n.js";

const PATH = /^[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}$/;

/**
 * @param {string} text @param {string} name
 * @returns {{found: Map<string, unknown>, skipped: string[]}} path → value, and what has no place
 * @throws {RangeError} with words
 */
export function readFile(text, name) {
  const isCsv = /\.csv$/i.test(name);
  const pairs = isCsv ? fromCsv(text) : fromJson(text);
  const found = new Map(pairs.filter(([path]) => PATH.test(path)));
  const skipped = pairs.map(([path]) => path).filter((path) => !PATH.test(path));
  if (!found.size) throw new RangeError(gettext("Nothing in this file fits. Each entry needs a name like lifestyle.food.favorite_cuisine."));
  return { found, skipped };
}

/** @param {string} text @returns {[string, unknown][]} */
function fromJson(text) {
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new RangeError(gettext("This file is not JSON."));
  }
  const data = read?.data ?? read;
  if (data === null || typeof data !== "object" || Array.isArray(data)) throw new RangeError(gettext("This file does not hold what can be imported."));
  return Object.entries(data).flatMap(([key, value]) => (PATH.test(key) ? [/** @type {[string, unknown]} */ ([key, value])] : nested(key, value)));
}

/** domain → segment → attribute → value. @param {string} domain @param {any} segments @returns {[string, unknown][]} */
function nested(domain, segments) {
  return inside(domain, segments).flatMap(([segment, values]) => inside(segment, values));
}

/** @param {string} path @param {any} value @returns {[string, any][]} */
function inside(path, value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).map(([name, part]) => [`${path}.${name}`, part]);
}

/** RFC 4180, comma or semicolon. @param {string} text @returns {[string, unknown][]} */
function fromCsv(text) {
  const plain = text.replace(/^\ufeff/, "");
  const [first = ""] = plain.split("\n", 1);
  const mark = (first.match(/;/g) ?? []).length > (first.match(/,/g) ?? []).length ? ";" : ",";
  return csvRows(plain, mark)
    .map(([path = "", value = ""]) => ({ path: path.trim(), value: value.trim() }))
    .filter(({ path, value }) => path && value)
    .filter(({ path }, index) => index > 0 || PATH.test(path)) // the first row may be a heading
    .map(({ path, value }) => [path, plainValue(value)]);
}

/** A number is a number; a list is written with semicolons or bars. @param {string} text */
function plainValue(text) {
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text)) return Number(text);
  return text.includes("|") ? text.split("|").map((part) => part.trim()).filter(Boolean) : text;
}

/** @param {string} text @param {string} mark @returns {string[][]} */
function csvRows(text, mark) {
  /** @type {string[]} */
  let row = [];
  const rows = [row];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter === '"' && text[at + 1] === '"') { cell += '"'; at += 1; }
      else if (letter === '"') quoted = false;
      else cell += letter;
    } else if (letter === '"' && !cell) quoted = true;
    else if (letter === mark || letter === "\n") {
      row.push(cell.replace(/\r$/, ""));
      cell = "";
      if (letter === "\n") rows.push((row = []));
    } else cell += letter;
  }
  row.push(cell.replace(/\r$/, ""));
  return rows;
}
