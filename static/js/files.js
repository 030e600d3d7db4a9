// @ts-check
// Reading what somebody brings in: JSON, CSV or vCard. What names its places has them; the rest is mapped by hand.

import { gettext } from "./i18n.js";
import { readCards } from "./vcard.js";
import { BadJson, strictJson } from "./vault/strict_json.js";

/** @typedef {import("./mapping.js").Entry} Entry */
/** @typedef {{found: Map<string, unknown>, skipped: string[]}} Placed path → value, and what has no place */

const PATH = /^[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}$/;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ENTRIES = 1000;
const DEEPEST = 4; // names within names, of JSON from elsewhere

/**
 * @param {File} file @param {(path: string) => boolean} hasPlace whether there is a segment for it
 * @returns {Promise<Placed | {entries: Entry[]}>} entries where somebody has to say what goes where
 * @throws {RangeError} with words
 */
export async function readFile(file, hasPlace) {
  if (file.size > MOST_BYTES) throw new RangeError(gettext("This file is too large."));
  const text = decoded(await file.arrayBuffer());
  if (/\.(vcf|vcard)$/i.test(file.name) || /^\s*BEGIN:VCARD/i.test(text)) return { entries: readCards(text) };
  if (/\.(csv|tsv)$/i.test(file.name)) return fromCsv(text);
  const body = parsed(text);
  const placed = placedOf(fromJson(body));
  return [...placed.found.keys()].some(hasPlace) ? placed : { entries: fromElsewhere(body) };
}

/** @param {ArrayBuffer} octets */
function decoded(octets) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(octets); // which drops a byte order mark
  } catch {
    throw new RangeError(gettext("This file is not UTF-8. Save it as UTF-8 and choose it again."));
  }
}

/** @param {[string, unknown][]} pairs @returns {Placed} */
function placedOf(pairs) {
  const found = new Map(pairs.filter(([path]) => PATH.test(path)));
  return { found, skipped: pairs.map(([path]) => path).filter((path) => !PATH.test(path)) };
}

/** @param {string} text @returns {any} */
function parsed(text) {
  try {
    return strictJson(text);
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    if (error.code === "repeated_name") throw new RangeError(gettext("This file says one thing twice and could be read in two ways."));
    throw new RangeError(error.code === "too_deep" ? gettext("This file is nested too deep.") : gettext("This file is not JSON."));
  }
}

/** @param {any} read @returns {[string, unknown][]} */
function fromJson(read) {
  const data = read?.data ?? read;
  if (data === null || typeof data !== "object") throw new RangeError(gettext("This file does not hold what can be imported."));
  if (Array.isArray(data)) return [];
  return Object.entries(data).flatMap(([key, value]) => (PATH.test(key) ? [/** @type {[string, unknown]} */ ([key, value])] : nested(key, value)));
}

/** An object, or a list of them. @param {any} body @returns {Entry[]} */
function fromElsewhere(body) {
  const people = (Array.isArray(body) ? body : [body]).slice(0, MOST_ENTRIES).map((one) => ({ title: "", fields: fieldsIn("", one, 1) }));
  const entries = people.filter(({ fields }) => fields.length).map(titled);
  if (!entries.length) throw new RangeError(gettext("This file does not hold what can be imported."));
  return entries;
}

/** @param {string} path @param {any} value @param {number} depth @returns {{name: string, value: unknown}[]} */
function fieldsIn(path, value, depth) {
  if (value === null || typeof value !== "object" || Array.isArray(value) || depth > DEEPEST) return path && value !== null && value !== "" ? [{ name: path, value }] : [];
  return Object.entries(value).flatMap(([name, part]) => fieldsIn(path ? `${path}.${name}` : name, part, depth + 1));
}

/** @param {Entry} entry @returns {Entry} with its first texts for a title */
const titled = (entry) => ({ ...entry, title: entry.fields.slice(0, 3).map(({ value }) => String(value).slice(0, 40)).join(", ") });

/** domain → segment → attribute → value. @param {string} domain @param {any} segments @returns {[string, unknown][]} */
function nested(domain, segments) {
  return inside(domain, segments).flatMap(([segment, values]) => inside(segment, values));
}

/** @param {string} path @param {any} value @returns {[string, any][]} */
function inside(path, value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).map(([name, part]) => [`${path}.${name}`, part]);
}

/** RFC 4180; comma, semicolon or tab. @param {string} text @returns {Placed | {entries: Entry[]}} */
function fromCsv(text) {
  const [first = ""] = text.split("\n", 1);
  const marks = [",", ";", "\t"].map((mark) => ({ mark, count: first.split(mark).length }));
  const { mark } = marks.reduce((most, one) => (one.count > most.count ? one : most));
  const rows = csvRows(text, mark).filter((row) => row.some((cell) => cell.trim()));
  const pairs = rows.map(([path = "", value = ""]) => ({ path: path.trim(), value: value.trim() }));
  if (!pairs.some(({ path }) => PATH.test(path))) return { entries: entriesOf(rows) };
  return placedOf(pairs
    .filter(({ path, value }) => path && value)
    .filter(({ path }, index) => index > 0 || PATH.test(path)) // the first row may be a heading
    .map(({ path, value }) => [path, plainValue(value)]));
}

/** The first row names the columns. @param {string[][]} rows @returns {Entry[]} */
function entriesOf([heading = [], ...rows]) {
  const entries = rows.slice(0, MOST_ENTRIES).map((row) => titled({
    title: "",
    fields: heading.map((name, at) => ({ name: name.trim(), value: (row[at] ?? "").trim() })).filter(({ name, value }) => name && value),
  })).filter(({ fields }) => fields.length);
  if (!entries.length) throw new RangeError(gettext("This file has no row below its heading."));
  return entries;
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
