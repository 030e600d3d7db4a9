// @ts-check
// What agents say, brought to the form that a field of this vault has; what cannot be is told apart.

import { isEmpty } from "./values.js";

/** @typedef {import("./values.js").Word} Word */

/** Thrown and caught here alone. */
class Misfit extends Error {}

/** Whether nothing was said: blank texts count as nothing, also inside of something. @param {unknown} value @returns {boolean} */
export function isNothing(value) {
  if (typeof value === "string") return !value.trim();
  return isEmpty(value) || (value !== null && typeof value === "object" && Object.values(value).every(isNothing));
}

/**
 * The value as it would be kept, or as it was said where it does not fit; `without` names members that have no place.
 * @param {unknown} stated @param {Word} word @returns {{value: unknown, fits: boolean, without: string[]}}
 */
export function fitted(stated, word) {
  /** @type {string[]} */
  const without = [];
  try {
    return { value: fitting(stated, word, without), fits: true, without };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return { value: stated, fits: false, without: [] };
  }
}

/** @param {unknown} value @param {Word} word @param {string[]} without @returns {unknown} */
function fitting(value, word, without) {
  if (word.kind === "group") return group(value, word, without);
  if (word.kind === "list") return (Array.isArray(value) ? value : [value]).filter((entry) => !isNothing(entry)).map(text);
  if (word.kind === "number") return number(value);
  if (word.kind === "yesno") return yesNo(value);
  if (word.kind === "choice") return choice(text(value), word);
  return text(value);
}

/** @param {unknown} value @returns {string} */
function text(value) {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value !== "string") throw new Misfit();
  return value;
}

/** @param {unknown} value @returns {number} */
function number(value) {
  if (typeof value === "string" && /^-?\d{1,15}(\.\d{1,15})?$/.test(value.trim())) return Number(value);
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Misfit();
  return value;
}

/** @param {unknown} value @returns {boolean} */
function yesNo(value) {
  if (typeof value === "string" && /^(true|yes|false|no)$/i.test(value.trim())) return /^(true|yes)$/i.test(value.trim());
  if (typeof value !== "boolean") throw new Misfit();
  return value;
}

/** The choices are suggestions: another text is kept as it is. @param {string} value @param {Word} word */
function choice(value, { options }) {
  const plain = value.trim().toLowerCase().replace(/[\s-]+/g, "_");
  return Object.keys(options).find((option) => option === plain) ?? value;
}

/** @param {unknown} value @param {Word} word @param {string[]} without @returns {unknown} */
function group(value, word, without) {
  const isIntent = "category" in word.parts && "confidence" in word.parts;
  if (Array.isArray(value)) {
    const entries = value.filter((entry) => !isNothing(entry));
    if (isIntent) return surest(entries, word, without);
    if (entries.length === 1) return group(entries[0], word, without);
  }
  if (isIntent && typeof value === "string") return { category: value };
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Misfit();
  return regrouped(value, word, without);
}

/** One intent has a place: of those that fit, the first of the surest. @param {unknown[]} entries @param {Word} word @param {string[]} without */
function surest(entries, word, without) {
  const able = entries.filter((entry) => !Array.isArray(entry)).map((entry) => fitted(entry, word)).filter(({ fits }) => fits);
  if (!able.length) throw new Misfit();
  const sure = (/** @type {{value: any}} */ { value }) => value.confidence ?? -Infinity;
  const best = able.reduce((one, other) => (sure(other) > sure(one) ? other : one));
  without.push(...best.without);
  return best.value;
}

/** `timeWindow` is `time_window` here; the parts come in the vocabulary's order. @param {object} value @param {Word} word @param {string[]} without */
function regrouped(value, { parts }, without) {
  const entries = Object.entries(value).filter(([, part]) => !isNothing(part));
  const named = new Map(entries.map(([name, part]) =>
    [name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase(), part]));
  const kept = Object.entries(parts).filter(([name]) => named.has(name)).map(([name, part]) => [name, fitting(named.get(name), part, without)]);
  if (!kept.length) throw new Misfit();
  without.push(...[...named.keys()].filter((name) => !Object.hasOwn(parts, name)));
  return Object.fromEntries(kept);
}
