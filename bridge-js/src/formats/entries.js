// @ts-check
// Entries of an audit chain, computed again: what their hashes are over, and whether one follows the other.

import { decodeBase64url } from "./bytes.js";
import { canonicalDigest } from "./canonical.js";
import { Refused, shown } from "./errors.js";
import { isObject } from "./json.js";

/** @typedef {{chain: string, sequence: number, entry_hash: string, prev_hash: string, kind: string, at: string, facts: Record<string, any> | null}} Entry `facts` is null where they were erased */
/** @typedef {{v: number, chain: string, sequence: number, prev_hash: string, kind: string, actor: string, at: string, facts_hash: string}} Links what an entry's hash is over */

/** @typedef {{chain: string, sequence: number, entry_hash: string}} Head where a chain stands; `chain` is "" before the first entry is known */

/** What ends a grant for good: one that is live after it was brought back by somebody. */
export const ENDS = new Set(["revoked", "released", "terminated", "exhausted", "superseded", "expired"]);

const TEXTS = ["chain", "prev_hash", "entry_hash", "kind", "actor", "at", "facts_hash", "salt"];

/** The hash that an entry of these members carries. @param {Links} entry */
export const entryHash = ({ v, chain, sequence, prev_hash, kind, actor, at, facts_hash }) =>
  digest({ v, chain, sequence, prev_hash, kind, actor, at, facts_hash });

/** The hash of an entry's facts under its salt. @param {Record<string, any>} facts @param {string} salt base64url */
export const factsHash = (facts, salt) => digest(facts, decodeBase64url(salt, "salt"));

/** @param {unknown} value @param {Uint8Array} [salt] */
function digest(value, salt) {
  try {
    return canonicalDigest(value, salt);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Refused(`the entry has no canonical form: ${error.message}`, "entry");
  }
}

/** An entry as the service tells it; Refused where its hash, or that of its facts, is another. @param {any} raw @returns {Entry} */
export function readEntry(raw) {
  if (!isObject(raw)) throw new Refused("the entry is no JSON object", "entry");
  const absent = TEXTS.find((name) => typeof raw[name] !== "string");
  if (absent) throw new Refused(`the entry has no ${absent}`, absent);
  const { v, chain, sequence, prev_hash, entry_hash, kind, actor, at, facts, facts_hash, salt } = raw;
  if (v !== 2 || !Number.isSafeInteger(sequence) || !isObject(facts)) {
    throw new Refused("the entry is of no known form", "entry");
  }
  const erased = salt === "" && Object.keys(facts).length === 0;
  if (entryHash({ v, chain, sequence, prev_hash, kind, actor, at, facts_hash }) !== entry_hash) {
    throw new Refused("the entry is not what was written: its hash is another", "entry_hash");
  }
  if (!erased && factsHash(facts, salt) !== facts_hash) {
    throw new Refused("the entry's facts are not what was written", "facts");
  }
  return { chain, sequence, entry_hash, prev_hash, kind, at, facts: erased ? null : facts };
}

/** What the log has of it. @param {Entry} entry */
export const leafOf = ({ entry_hash }) => decodeBase64url(entry_hash, "entry_hash");

/** The hash by which an entry holds its receipt: of the claims without `audit`. @param {Record<string, unknown>} claims */
export const digestOfReceipt = ({ audit, ...claims }) => digest(claims);

/** All entries of one chain, from the first; Refused at the first that does not follow, or whose facts are gone. @param {unknown[]} rawEntries @returns {Entry[]} */
export function readChain(rawEntries) {
  /** @type {Entry[]} */
  const entries = [];
  for (const each of rawEntries) {
    entries.push(nextEntry(each, entries.at(-1) ?? { chain: "", sequence: 0, entry_hash: "" }));
  }
  const erased = entries.flatMap((entry) => (entry.kind === "erased" ? erasedBy(entry) : []));
  const gone = entries.find(({ facts, sequence }) => facts === null && !erased.some(([first, last]) => first <= sequence && sequence <= last));
  if (gone) throw new Refused(`the facts of entry ${gone.sequence} are gone, and no entry says that they were erased`, "facts");
  return entries;
}

/** The ranges before it that an `erased` entry names; what somebody made up names none. @param {Entry} entry @returns {[number, number][]} */
function erasedBy({ facts, sequence }) {
  const ranges = Array.isArray(facts?.ranges) ? facts.ranges : [];
  return ranges.filter((each) => Array.isArray(each) && each.length === 2 && each.every(Number.isSafeInteger) && each[1] < sequence);
}

/** The entry after `before`; Refused where it does not follow. @param {unknown} raw @param {Head} before @returns {Entry} */
export function nextEntry(raw, before) {
  const number = before.sequence + 1;
  const entry = numbered(number, raw);
  if (before.chain && entry.chain !== before.chain) throw new Refused(`entry ${number} is of another chain, ${shown(entry.chain)}`, "chain");
  if (entry.sequence !== number) throw new Refused(`an entry is missing before number ${entry.sequence}`, "sequence");
  if (entry.prev_hash !== before.entry_hash) throw new Refused(`entry ${number} does not follow the one before it`, "prev_hash");
  return entry;
}

/** @param {number} number @param {unknown} raw */
function numbered(number, raw) {
  try {
    return readEntry(raw);
  } catch (error) {
    if (error instanceof Refused) throw new Refused(`entry ${number}: ${error.message}`, error.member);
    throw error;
  }
}
