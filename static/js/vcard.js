// @ts-check
// Reading vCard 2.1, 3.0 and 4.0 (RFC 2426, RFC 6350): what one card says of its person, as names and texts.

import { gettext } from "./i18n.js";

/** @typedef {import("./mapping.js").Field} Field */
/** @typedef {import("./mapping.js").Entry} Entry */
/** @typedef {{name: string, parameters: string, value: string}} Property */

const LONGEST = 10000; // a picture is no text
const ADDRESS = ["po_box", "address_extra", "address", "city", "state", "postal_code", "country"];
const NAMES = { FN: "full_name", EMAIL: "email", TEL: "phone", BDAY: "birthday", GENDER: "gender", TITLE: "occupation", ORG: "organisation", NICKNAME: "nickname", URL: "website", NOTE: "note" };
const GENDERS = { M: "Male", F: "Female", O: "Other", N: "", U: "" };

/** @param {Uint8Array} octets @returns {Entry[]} one for each card @throws {RangeError} with words */
export function readCards(octets) {
  const entries = [];
  let open = null;
  for (const line of unfolded(octets)) {
    const property = propertyOf(line);
    if (!property) continue;
    if (property.name === "BEGIN") open = /** @type {Property[]} */ ([]);
    else if (property.name === "END" && open) {
      entries.push(entryOf(open));
      open = null;
    } else open?.push(property);
  }
  if (!entries.length || open) throw new RangeError(gettext("This file is no vCard, or it ends too early."));
  return entries;
}

/**
 * Lines of one octet a character: a fold may stand inside a letter, and is undone before anything is read as text. One
 * that begins with a space goes on with the line before, and in 2.1 so does one behind a quoted line that ends in "=".
 * @param {Uint8Array} octets
 */
function unfolded(octets) {
  let raw = "";
  for (let at = 0; at < octets.length; at += 8192) raw += String.fromCharCode(...octets.subarray(at, at + 8192));
  const isOld = /^VERSION:2\.1\s*$/im.test(raw); // whose folds stand before a space that is part of the text
  const text = raw.replace(/^\u00ef\u00bb\u00bf/, "").replace(/\r\n?/g, "\n").replace(isOld ? /\n(?=[ \t])/g : /\n[ \t]/g, "");
  return text.replace(/^([^:\n]*QUOTED-PRINTABLE[^:\n]*:(?:[^\n]*=\n)*)/gim, (quoted) => quoted.replace(/=\n/g, "")).split("\n").filter(Boolean);
}

/** `group.NAME;PARAMETER="a:b":value` @param {string} line of octets @returns {Property | null} */
function propertyOf(line) {
  const found = /^(?:[A-Za-z0-9-]+\.)?([A-Za-z0-9-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)$/s.exec(line);
  if (!found) return null;
  const [, name = "", parameters = "", value = ""] = found;
  const upper = parameters.toUpperCase();
  const octets = upper.includes("QUOTED-PRINTABLE") ? value.replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))) : value;
  return { name: name.toUpperCase(), parameters: upper, value: value.length > LONGEST ? value : decoded(octets, /;CHARSET="?([^;:"]+)/.exec(upper)?.[1]) };
}

/** @param {string} octets @param {string} [charset] */
function decoded(octets, charset = "UTF-8") {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Uint8Array.from(octets, (octet) => octet.charCodeAt(0)));
  } catch {
    throw new RangeError(gettext("This file is not UTF-8. Save it as UTF-8 and choose it again."));
  }
}

/** @param {Property[]} properties @returns {Entry} */
function entryOf(properties) {
  const version = properties.find(({ name }) => name === "VERSION")?.value.trim();
  if (!version || !["2.1", "3.0", "4.0"].includes(version))
    throw new RangeError(gettext("This is a vCard of an old kind. Save it as vCard 3.0 or 4.0 and choose it again."));
  const short = properties.filter(({ value }) => value.length <= LONGEST);
  const fields = [...short].sort((one, other) => rank(one) - rank(other)).flatMap(fieldsOf).filter(({ value }) => value);
  if (!fields.some(({ name }) => name === "full_name")) fields.unshift(...structuredName(properties));
  return { title: String(fields.find(({ name }) => name === "full_name")?.value ?? ""), fields };
}

/** The preferred address first, and one of work last: the first of several has the place. @param {Property} property */
const rank = ({ name, parameters }) =>
  !["ADR", "EMAIL", "TEL"].includes(name) ? 0 : /\bPREF\b/.test(parameters) ? -1 : name === "ADR" && /\bWORK\b/.test(parameters) ? 1 : 0;

/** A day without its year is not in the year that some programs write for none. @param {Property} property */
const birthday = ({ parameters, value }) =>
  plain(value)
    .replace(/^(\d{4})(\d{2})(\d{2})(T.*)?$/, "$1-$2-$3")
    .replace(/^--(\d{2})-?(\d{2})$/, "$1-$2")
    .replace(new RegExp(`^${/X-APPLE-OMIT-YEAR=(\d{4})/.exec(parameters)?.[1] ?? "-"}-(?=\\d{2}-\\d{2})`), "");

/** @param {Property} property @returns {Field[]} */
function fieldsOf({ name, parameters, value }) {
  if (name === "ADR") return parts(value, ";").map((part, at) => ({ name: ADDRESS[at] ?? "", value: parts(part, ",").map(plain).filter(Boolean).join(", ") })).filter((field) => field.name);
  const known = Object.hasOwn(NAMES, name) ? NAMES[/** @type {keyof typeof NAMES} */ (name)] : null;
  if (!known) return [];
  if (name === "TEL" || name === "EMAIL") return [{ name: known, value: plain(value).replace(/^(tel|mailto):/i, "") }];
  if (name === "BDAY") return [{ name: known, value: birthday({ name, parameters, value }) }];
  if (name === "GENDER") return [{ name: known, value: genderOf(value) }];
  if (name === "ORG") return [{ name: known, value: parts(value, ";").map(plain).filter(Boolean).join(", ") }];
  return [{ name: known, value: plain(value) }];
}

/** Family; given; further; before; after. @param {Property[]} properties @returns {Field[]} */
function structuredName(properties) {
  const [family = "", given = "", further = "", before = "", after = ""] = parts(properties.find(({ name }) => name === "N")?.value ?? "", ";").map(plain);
  const value = [before, given, further, family, after].filter(Boolean).join(" ");
  return value ? [{ name: "full_name", value }] : [];
}

/** `F` or `F;its words` @param {string} value */
function genderOf(value) {
  const [letter = "", words = ""] = parts(value, ";").map(plain);
  const known = letter.toUpperCase();
  return words || (Object.hasOwn(GENDERS, known) ? GENDERS[/** @type {keyof typeof GENDERS} */ (known)] : "");
}

/** Cut where the mark is not escaped. @param {string} value @param {string} mark */
function parts(value, mark) {
  const found = [];
  let from = 0;
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] === "\\") at += 1;
    else if (value[at] === mark) {
      found.push(value.slice(from, at));
      from = at + 1;
    }
  }
  return [...found, value.slice(from)];
}

/** @param {string} value */
const plain = (value) => value.replace(/\\(.)/gs, (_, letter) => (letter === "n" || letter === "N" ? "\n" : letter)).trim();
