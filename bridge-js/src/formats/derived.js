// @ts-check
// Answers in place of values: "over 18: yes" for a birthday. A rule is data; what it cannot read it cannot say.
// `conformance/vectors/derived.json` says the same of this and of Python's `consent_bridge.derived`.

import { canonicalDigest } from "./canonical.js";
import { isObject } from "./json.js";

/** @typedef {{from: string, rule: Record<string, any>, rule_version: number}} Definition */
/** @typedef {Record<string, Definition>} Derived by the answer's own path */
/**
 * What a vault's notes have of the answers that it gave: app → the value's path → the answer's path → the newest one, the month
 * that it was made in, and the beginning of its definition's digest.
 * @typedef {Record<string, Record<string, Record<string, [answer: any, month: string, mark: string]>>>} Given
 */

export const CANNOT_SAY = "cannot_say";
export const RULE_VERSION = 1;
const DECIMAL = /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/;
const DAY = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const OLDEST = 150;
// how many there may be of a bracket's bounds, of a part's characters and of the words that are compared with
const [MOST_BOUNDS, MOST_CHARACTERS, MOST_WORDS] = [20, 64, 50];

/** @param {any} of */
const isMeasure = (of) => of === "age" || of === "number";
/** @param {any} list @param {number} most @param {(one: any, at: number) => boolean} holds */
const isList = (list, most, holds) => Array.isArray(list) && list.length >= 1 && list.length <= most && list.every(holds);

/** The members of each kind beside it, each with what it has to be. @type {[string, Record<string, (value: any) => boolean>][]} */
const RULES = [
  ["at_least", { of: isMeasure, value: Number.isSafeInteger }],
  ["bracket", { of: isMeasure, bounds: (bounds) => isList(bounds, MOST_BOUNDS, (one, at) => Number.isSafeInteger(one) && one >= 0 && (at === 0 || one > bounds[at - 1])) }],
  ["part", { characters: (count) => Number.isSafeInteger(count) && count >= 1 && count <= MOST_CHARACTERS }],
  ["part", { member: (name) => typeof name === "string" && name !== "" }],
  ["is_set", {}],
  ["equals_any", { values: (words) => isList(words, MOST_WORDS, (word) => typeof word === "string" && word !== "") }],
];

/** Whether this is one of the rules, with exactly the members that its kind has. @param {any} rule @returns {boolean} */
export const isRule = (rule) =>
  isObject(rule) && RULES.some(([kind, members]) =>
    rule.kind === kind && Object.keys(rule).length === Object.keys(members).length + 1 &&
    Object.entries(members).every(([name, holds]) => Object.hasOwn(rule, name) && holds(rule[name])));

/**
 * What `rule` makes of `value`, or CANNOT_SAY; never an exception. Ages count as of the first of the month: the day of a
 * change would be the birthday.
 * @param {any} rule @param {any} value null or undefined where there is none @param {string} at a time in UTC as text
 * @returns {boolean | number | string}
 */
export function answer(rule, value, at) {
  if (!isRule(rule)) return CANNOT_SAY;
  if (rule.kind === "is_set") return !(value == null || value === "" || (typeof value === "object" && !Object.keys(value).length));
  if (rule.kind === "equals_any") return typeof value === "string" && value !== "" ? rule.values.includes(value) : CANNOT_SAY;
  if (rule.kind === "part") return part(rule, value);
  const number = rule.of === "age" ? ageOf(value, at) : numberOf(value);
  if (number === null) return CANNOT_SAY;
  return rule.kind === "at_least" ? number >= rule.value : bracket(rule.bounds, number);
}

/**
 * Whether the answer changes by itself as time goes on. It is given once: the day on which it changes is the birthday.
 * @param {Definition | null | undefined} definition
 */
export const isTimed = (definition) => definition?.rule?.of === "age";

/**
 * The segments with what is `derived` from them in place of any value of such a name; where there is no source there is no answer.
 * @template {{domain: string, segment_id: string, values: Record<string, any>}} S
 * @param {S[]} segments @param {Derived | undefined} derived a request's @param {string} at a time in UTC as text
 * @param {Record<string, any>} [repeated] answers that stay as they were given
 * @returns {S[]}
 */
export const withAnswers = (segments, derived = {}, at, repeated = {}) =>
  segments.map((segment) => ({ ...segment, values: answered(segment, derived, at, repeated) }));

/** @param {{domain: string, segment_id: string, values: Record<string, any>}} segment @param {Derived} derived @param {string} at @param {Record<string, any>} repeated */
function answered({ domain, segment_id, values }, derived, at, repeated) {
  const stem = `${domain}.${segment_id}.`;
  const found = new Map(Object.entries(values));
  for (const [path, definition] of Object.entries(derived)) {
    if (!path.startsWith(stem)) continue;
    const [name, from] = [path.slice(stem.length), typeof definition?.from === "string" ? definition.from : ""];
    const source = from.slice(stem.length);
    found.delete(name);
    if (!from.startsWith(stem) || !Object.hasOwn(values, source)) continue;
    const known = definition.rule_version === RULE_VERSION;
    found.set(name, Object.hasOwn(repeated, path) ? repeated[path] : known ? answer(definition.rule, values[source], at) : CANNOT_SAY);
  }
  return Object.fromEntries(found);
}

/** @param {Definition} definition */
const markOf = (definition) => canonicalDigest(definition).slice(0, 8);

/** @template T @param {Record<string, T> | undefined} object @param {string} name @returns {T | undefined} */
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/**
 * With the answers that leave in an export.
 * @param {Given | undefined} given @param {string} appId
 * @param {{derived?: Derived, data: Record<string, any>}} content @param {string} at a time in UTC as text
 * @returns {Given}
 */
export function withGiven(given, appId, { derived = {}, data }, at) {
  const ofApp = { ...own(given, appId) };
  for (const [path, definition] of Object.entries(derived)) {
    const [domain = "", segment = "", name = ""] = path.split(".");
    const result = own(own(own(data, domain), segment), name);
    if (result !== undefined) ofApp[definition.from] = { ...own(ofApp, definition.from), [path]: [result, at.slice(0, 7), markOf(definition)] };
  }
  return { ...given, [appId]: ofApp };
}

/**
 * Of these answers those that this app has from this month: until the next one they stay as they are, whatever becomes of the
 * values, so that the time of a change tells nothing.
 * @param {Given | undefined} given @param {string} appId @param {Derived | undefined} derived @param {string} at a time in UTC as text
 * @returns {Record<string, any>} by path
 */
export function repeatedAnswers(given, appId, derived = {}, at) {
  return Object.fromEntries(Object.entries(derived).flatMap(([path, definition]) => {
    const [result, month, mark] = own(own(own(given, appId), definition?.from), path) ?? [];
    return month === at.slice(0, 7) && mark === markOf(definition) ? [[path, result]] : [];
  }));
}

/**
 * What this app was answered about these values.
 * @param {Given | undefined} given @param {string} appId @param {string[]} sources the values' paths
 * @returns {Record<string, any>} by the answer's path
 */
export const knownAnswers = (given, appId, sources) =>
  Object.fromEntries([...new Set(sources)].flatMap((source) => Object.entries(own(own(given, appId), source) ?? {}).map(([path, [result]]) => [path, result])));

/** @param {any} value */
function numberOf(value) {
  if (typeof value === "string") return DECIMAL.test(value) ? Number(value) : null;
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** Whole years since a day that is written YYYY-MM-DD; born on 29 February one is a year older on 1 March. @param {any} value @param {string} at */
function ageOf(value, at) {
  const [year = 0, month = 0, day = 0] = ((typeof value === "string" && DAY.exec(value)) || []).slice(1).map(Number);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  if (year < 1 || day < 1 || day > days) return null;
  const now = Number(at.slice(5, 7));
  const age = Number(at.slice(0, 4)) - year - (month > now || (month === now && day > 1) ? 1 : 0);
  return age >= 0 && age <= OLDEST ? age : null;
}

/** `<18`, `18-29`, `65+`: the bounds that a whole number lies between; another one is rounded down. @param {number[]} bounds @param {number} number */
function bracket(bounds, number) {
  const at = bounds.filter((bound) => bound <= Math.floor(number)).length;
  if (at === 0) return `<${bounds[0]}`;
  return at === bounds.length ? `${bounds[at - 1]}+` : `${bounds[at - 1]}-${Number(bounds[at]) - 1}`;
}

/** The first characters of a longer text, or one member of a group; never all of it. @param {any} rule @param {any} value */
function part({ characters, member }, value) {
  if (characters !== undefined) {
    const text = typeof value === "string" ? [...value] : [];
    return text.length > characters ? text.slice(0, characters).join("") : CANNOT_SAY;
  }
  const found = isObject(value) && Object.keys(value).length > 1 && Object.hasOwn(value, member) ? value[member] : null;
  if (typeof found === "string" || typeof found === "boolean") return found !== "" ? found : CANNOT_SAY;
  return numberOf(found) ?? CANNOT_SAY;
}
