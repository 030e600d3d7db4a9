// @ts-check
// Reading what somebody brings in: JSON, CSV or vCard. What names its places has them; the rest is mapped by hand.

import { Refused } from "./formats/errors.js";
import { strictJson } from "./formats/json.js";
import { gettext } from "./i18n.js";
import { fitted, isSomebodyElses } from "./mapping.js";
import { toast } from "./page.js";
import { readCards } from "./vcard.js";

/** @typedef {import("./mapping.js").Entry} Entry */
/** @typedef {{found: Map<string, unknown>, skipped: string[]}} Placed path → value, and what has no place */

const PATH = /^[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,63}$/;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ENTRIES = 1000;
const DEEPEST = 4; // names within names, of JSON from elsewhere

/**
 * @param {File} file @param {import("./mapping.js").Known} known
 * @returns {Promise<Placed | {entries: Entry[]}>} entries where somebody has to say what goes where
 * @throws {RangeError} with words
 */
export async function readFile(file, known) {
  if (file.size > MOST_BYTES) throw new RangeError(gettext("This file is too large."));
  const octets = await file.arrayBuffer();
  if (/\.(vcf|vcard)$/i.test(file.name) || looksLikeCard(octets)) return { entries: readCards(new Uint8Array(octets)) };
  const isTable = /\.(csv|tsv|txt)$/i.test(file.name);
  const text = decoded(octets, isTable);
  if (isTable && !/^\s*[[{]/.test(text)) return fromCsv(text, known);
  const body = parsed(text);
  const placed = placedOf(fromJson(body), known);
  const hasPlace = (/** @type {string} */ path) => Object.hasOwn(known, path.split(".").slice(0, 2).join("."));
  return [...placed.found.keys()].some(hasPlace) ? placed : { entries: fromElsewhere(body) };
}

/** @param {ArrayBuffer} octets */
const looksLikeCard = (octets) => /^\W*BEGIN:VCARD/i.test(String.fromCharCode(...new Uint8Array(octets, 0, Math.min(octets.byteLength, 64))));

/**
 * UTF-8; UTF-16 where a byte order mark says so, as spreadsheets save "Unicode text"; a table that is neither is read as
 * Windows-1252, in which Excel saves "CSV" in most of the West, and whoever chose it is told to look at it.
 * @param {ArrayBuffer} octets @param {boolean} isTable
 */
function decoded(octets, isTable) {
  const mark = String(new Uint8Array(octets, 0, Math.min(octets.byteLength, 2)));
  const encoding = { "255,254": "utf-16le", "254,255": "utf-16be" }[mark] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(octets); // which drops the mark
  } catch {
    if (isTable && encoding === "utf-8") {
      toast(gettext("This file is not UTF-8. It was read as Windows saves it: look at the letters with accents."), "warn");
      return new TextDecoder("windows-1252").decode(octets);
    }
    throw new RangeError(gettext("This file is not UTF-8. Save it as UTF-8 and choose it again."));
  }
}

/** Each value in the form of its place; what has none of its own stays as it is. @param {[string, unknown][]} pairs @param {import("./mapping.js").Known} known @returns {Placed} */
function placedOf(pairs, known) {
  const found = new Map(pairs.filter(([path]) => PATH.test(path)).map(([path, value]) => [path, fitted(path, value, known)]));
  return { found, skipped: pairs.map(([path]) => path).filter((path) => !PATH.test(path)) };
}

/** @param {string} text @returns {any} */
function parsed(text) {
  try {
    return strictJson(digitByDigit(text));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.reason === "repeated_name") throw new RangeError(gettext("This file says one thing twice and could be read in two ways."));
    throw new RangeError(error.reason === "too_deep" ? gettext("This file is nested too deep.") : gettext("This file is not JSON."));
  }
}

/** A number that this language cannot hold becomes a text of the same digits. @param {string} text */
const digitByDigit = (text) =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(token) && digits(token) !== digits(String(Number(token))) ? JSON.stringify(token) : token);

/** Its digits without noughts around them, and where the point stands. @param {string} number */
function digits(number) {
  const [, sign, whole = "", part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = `${whole}${part}`.replace(/^0+/, "");
  const plain = all.replace(/0+$/, "");
  return plain ? `${sign}${plain}e${Number(power) - part.length + all.length - plain.length}` : "0";
}

/** @param {any} read @returns {[string, unknown][]} */
function fromJson(read) {
  const data = read?.data ?? read;
  if (data === null || typeof data !== "object") throw new RangeError(gettext("This file does not hold what can be imported."));
  if (String(data.format).startsWith("consent-archive/")) throw new RangeError(gettext("This is a sealed archive. Choose it under “Import a sealed archive”."));
  if (Array.isArray(data)) return [];
  return Object.entries(data).flatMap(([key, value]) => (PATH.test(key) ? [/** @type {[string, unknown]} */ ([key, value])] : nested(key, value)));
}

/** An object, or a list of them. @param {any} body @returns {Entry[]} */
function fromElsewhere(body) {
  const people = (Array.isArray(body) ? body : [body]).slice(0, MOST_ENTRIES).map((one) => ({ title: "", fields: ownFirst(fieldsIn("", one, 1)) }));
  const entries = people.filter(({ fields }) => fields.length).map(titled);
  if (!entries.length) throw new RangeError(gettext("This file does not hold what can be imported."));
  return entries;
}

/** What stands higher is more likely the person's own; what is said of others comes last. @param {import("./mapping.js").Field[]} fields */
const ownFirst = (fields) => {
  const depth = (/** @type {import("./mapping.js").Field} */ { name }) => name.split(".").length + (isSomebodyElses(name) ? 100 : 0);
  return [...fields].sort((one, other) => depth(one) - depth(other));
};

/** @param {string} path @param {any} value @param {number} depth @returns {{name: string, value: unknown}[]} */
function fieldsIn(path, value, depth) {
  if (Array.isArray(value) && value.length && value.every((one) => one !== null && typeof one === "object" && !Array.isArray(one))) return value.flatMap((one) => fieldsIn(path, one, depth + 1));
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

/** RFC 4180; comma, semicolon or tab, or what a first line `sep=;` says. @param {string} text @param {import("./mapping.js").Known} known @returns {Placed | {entries: Entry[]}} */
function fromCsv(text, known) {
  const lines = text.replace(/\r\n?/g, "\n");
  const hint = /^"?sep=([^\n])"?\n/i.exec(lines);
  const body = hint ? lines.slice(hint[0].length) : lines;
  const mark = hint?.[1] ?? likelyMark(body);
  const rows = csvRows(body, mark).filter((row) => row.some((cell) => cell.trim()));
  const pairs = rows.map(([path = "", value = ""]) => ({ path: path.trim(), value: value.trim() }));
  if (!pairs.some(({ path }) => PATH.test(path))) return { entries: entriesOf(rows) };
  return placedOf(pairs
    .filter(({ path, value }) => path && value)
    .filter(({ path }, index) => index > 0 || PATH.test(path)) // the first row may be a heading
    .map(({ path, value }) => [path, value]), known);
}

/** The one that the heading has most of, outside of quotes. @param {string} text */
function likelyMark(text) {
  const [first = ""] = text.replace(/"(?:[^"]|"")*"/g, "").split("\n", 1);
  const marks = [",", ";", "\t"].map((mark) => ({ mark, count: first.split(mark).length }));
  return marks.reduce((most, one) => (one.count > most.count ? one : most)).mark;
}

/** The first row names the columns. @param {string[][]} rows @returns {Entry[]} */
function entriesOf([heading = [], ...rows]) {
  const entries = rows.slice(0, MOST_ENTRIES).map((row) => titled({
    title: "",
    fields: withName(heading.flatMap((name, at) => cells(name.trim(), (row[at] ?? "").trim()))),
  })).filter(({ fields }) => fields.length);
  if (!entries.length) throw new RangeError(gettext("This file has no row below its heading."));
  return entries;
}

/** Google writes several into one cell; Outlook writes a date and a gender where there is none. @param {string} name @param {string} text */
const cells = (name, text) =>
  text.split(" ::: ").map((value) => ({ name, value })).filter(({ value }) => name && value && !/^(0+[/.-]0+[/.-]0+|unspecified)$/i.test(value));

/** Headings that name a person in parts have the whole name in none. @param {{name: string, value: string}[]} fields */
function withName(fields) {
  const part = (/** @type {RegExp} */ heading) => fields.find(({ name }) => heading.test(name))?.value ?? "";
  const given = part(/^((first|given) name|vorname)$/i);
  // beside a "Vorname" the "Name" is the family's
  const family = part(/^((last|family) name|nachname|familienname|zuname)$/i) || (part(/^vorname$/i) && part(/^name$/i));
  if (!given && !family) return fields;
  const before = part(/^name prefix$/i) || part(/^title$/i);
  const whole = [before, given, part(/^(middle|additional) name$/i), family, part(/^(name )?suffix$/i)].filter(Boolean).join(" ");
  return [{ name: "Full name", value: whole }, ...fields.filter(({ name }) => !/^title$/i.test(name))];
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
