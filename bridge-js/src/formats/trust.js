// @ts-check
// Whose signature of a log counts: the keys that were known, and those that they vouch for. A new key is learned from a
// checkpoint that a known one signed beside it, or from somebody's own word.

import { leafOf, readEntry } from "./entries.js";
import { Refused } from "./errors.js";
import { checkProof, hasOtherSigner, missing, readCheckpoint, readKey, readProof, renamed, signers } from "./notes.js";

/** @typedef {import("./notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./notes.js").VerifierKey} VerifierKey */
/** @typedef {import("./entries.js").Entry} Entry */
/**
 * `earlier` are keys that others took the place of: what they signed counts as far as a present key signed it, too. Nothing of
 * it changes: what is learned makes another.
 * @typedef {{keys: VerifierKey[], earlier: VerifierKey[], witnesses: VerifierKey[], quorum: number | null, named?: string | null}} Trust
 *   `quorum` of the witnesses have to cosign, all of them where it is null; `named` is the hash of the entry that named them
 */
/** @typedef {{entry: unknown, proof: unknown}} Change one of `/log/witnesses`, as the service tells it */

export const LATE_SECONDS = 600; // an entry that is older should have been in the log for long
const FRESH_SECONDS = 24 * 3600;

/** Each once, without those. @param {VerifierKey[]} keys @param {VerifierKey[]} [without] @returns {VerifierKey[]} */
export function distinct(keys, without = []) {
  const known = new Set(without.map(({ text }) => text));
  return [...new Map(keys.map((key) => [key.text, key])).values()].filter(({ text }) => !known.has(text));
}

/** Whether a present key signed it. @param {Trust} trust @param {string} note */
export const knowsSigner = async ({ keys }, note) => (await signers(note, keys)).length > 0;

/** The newest checkpoint, which a present key signed. @param {Trust} trust @param {string} note */
export const readNewest = ({ keys, witnesses }, note) => readCheckpoint(note, keys, witnesses);

/** A checkpoint that was remembered: whoever signed it then. @param {Trust} trust @param {string} note */
export const readRemembered = ({ keys, earlier, witnesses }, note) => readCheckpoint(note, [...keys, ...earlier], witnesses);

/** The same keys under the name of a log that began anew. @template {Trust} T @param {T} trust @param {string} origin @returns {T} */
export const renamedTo = (trust, origin) => ({ ...trust, keys: trust.keys.map((key) => renamed(key, origin)), earlier: [], named: null });

/** With other keys, on somebody's word. @template {Trust} T @param {T} trust @param {VerifierKey[]} keys @returns {T} */
export const replacedBy = (trust, keys) => ({ ...trust, keys, earlier: distinct([...trust.keys, ...trust.earlier], keys) });

/** Whether the keys seem to change: one more signed, or one of them did not. @param {Trust} trust @param {Checkpoint} newest */
export const keysSeemToChange = async ({ keys }, newest) =>
  (await signers(newest.note, keys)).length < keys.length || hasOtherSigner(newest, keys);

/**
 * With those of the keys that the service names which signed the newest checkpoint, for which the known one that signed it vouches.
 * @template {Trust} T @param {T} trust @param {VerifierKey[]} named @param {Checkpoint} newest @returns {Promise<T>}
 */
export async function withKeys(trust, named, newest) {
  const signing = await signers(newest.note, named.filter(({ name }) => name === newest.origin));
  return signing.length ? replacedBy(trust, signing) : trust;
}

/**
 * Whether as many witnesses as have to cosigned it within a day; not where there are none.
 * @param {Checkpoint} checkpoint @param {Trust} trust
 */
export function isConfirmed(checkpoint, { witnesses, quorum }) {
  const cosignatures = checkpoint.cosignatures.filter(({ at }) => at >= Date.now() / 1000 - FRESH_SECONDS);
  return cosignatures.length > 0 && !missing({ ...checkpoint, cosignatures }, witnesses, quorum).length;
}

/** The witnesses that an entry of the deployment names, and how many of them have to cosign. @param {unknown} raw */
function namedIn(raw) {
  const entry = readEntry(raw);
  const { witnesses, quorum } = entry.facts ?? {};
  if (entry.kind !== "witnesses" || !Array.isArray(witnesses) || !Number.isSafeInteger(quorum) || quorum < 0) throw new Refused("this entry names no witnesses", "facts");
  return { entry, witnesses: witnesses.map((text) => readKey(String(text))), quorum: Number(quorum) };
}

/** Whether an entry follows, in the same chain, the one before it in a list. @param {{entry: Entry}} named @param {number} place @param {{entry: Entry}[]} all */
const comesNext = ({ entry }, place, all) => {
  const before = all[place - 1]?.entry;
  return !before || (entry.chain === before.chain && entry.sequence > before.sequence);
};

/** Who watches, to compare. @param {{witnesses: VerifierKey[], quorum: number | null}} named */
export const watchOf = ({ witnesses, quorum }) => [quorum ?? witnesses.length, ...witnesses.map(({ text }) => text).sort()].join();

/** Who watches a log that is seen for the first time: the newest that it names. @template {Trust} T @param {T} trust @param {Change[]} changes @returns {T} */
export function withNamedWitnesses(trust, changes) {
  const newest = changes.at(-1);
  if (!newest) return trust;
  const { entry, witnesses, quorum } = namedIn(newest.entry);
  return { ...trust, witnesses, quorum, named: entry.entry_hash };
}

/**
 * The witnesses whom those vouch for that are known: each change after them of which as many as have to cosigned a checkpoint
 * with its entry, up to the first without; nobody where the changes are not in the order of one chain, since an older one would
 * lie in a newer checkpoint just as well. What stands before the entry that named the known ones is over: of witnesses who took
 * turns, those who had to go could else be brought back by a list without its end. `isOfLog` says whether a checkpoint is of the
 * log that was read.
 * @template {Trust} T @param {T} trust @param {Change[]} changes @param {(checkpoint: Checkpoint) => Promise<boolean>} isOfLog
 * @returns {Promise<T>}
 */
export async function withFollowingWitnesses(trust, changes, isOfLog) {
  const named = changes.map(({ entry, proof }) => ({ ...namedIn(entry), proof }));
  const isPinned = trust.named || trust.witnesses.length;
  const first = trust.named ? named.findIndex(({ entry }) => entry.entry_hash === trust.named) : 0;
  const known = named.map(watchOf).lastIndexOf(watchOf(trust));
  if ((isPinned && (first < 0 || known < first)) || !named.every(comesNext)) return trust;
  let followed = { ...trust, named: named[known]?.entry.entry_hash ?? null };
  for (const { entry, witnesses, quorum, proof: text } of named.slice(known + 1)) {
    if (typeof text !== "string") return followed;
    const proof = await readProof(text, [...followed.keys, ...followed.earlier], followed.witnesses, { anyone: true });
    checkProof(proof, leafOf(entry));
    if (missing(proof.checkpoint, followed.witnesses, followed.quorum).length || !(await isOfLog(proof.checkpoint))) return followed;
    followed = { ...followed, witnesses, quorum, named: entry.entry_hash };
  }
  return followed;
}

/**
 * The number of the newest of so many entries that the log has, 0 for none; each is in it before those after it. Goes back from
 * the newest in growing steps and then halves what is between: few questions, however many wait.
 * @param {number} count @param {(number: number) => Promise<boolean>} has @returns {Promise<number>}
 */
export async function newestInLog(count, has) {
  let [found, absent, step] = [0, count + 1, 1];
  while (absent - found > 1) {
    const number = found ? Math.floor((found + absent) / 2) : Math.max(1, absent - step);
    if (await has(number)) found = number;
    else [absent, step] = [number, step * 2];
  }
  return found;
}
