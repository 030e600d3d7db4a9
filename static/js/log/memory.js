// @ts-check
// What is remembered of the log for one person: the keys that were pinned and the last checkpoint that was seen. This
// browser keeps its own memory in IndexedDB, and all devices of the person have one in the vault's notes.

import { Refused } from "../formats/errors.js";
import { originOf } from "../formats/notes.js";
import { ApiError } from "../vault/api.js";
import { keep, recalled } from "../vault/device.js";
import { current, isUnlocked, Locked, pageOwner } from "../vault/keyring.js";
import { changeNotes, readAnyNotes } from "../vault/notes.js";

/**
 * `earlier` are keys that others took the place of: what they signed counts as far as a present key signed it, too. `ended` are
 * the names of trees that another took the place of, by the person's word. `quorum` of the `witnesses` have to cosign, whom the
 * entry with the hash `named` named. `at` is when it was seen, in seconds since 1970; absent where it was not written down.
 * @typedef {{chain: string, keys: string[], earlier?: string[], witnesses?: string[], quorum?: number, named?: string | null, ended?: string[], note: string, size: number, at?: number, head: {sequence: number, entry_hash: string}}} Memory
 */
/** @typedef {{keyId: string, size: number}} Sealed what this browser knows to lie in the notes, under which key */
/** @typedef {Memory & {sealed?: Sealed}} Own */

/** By the person, and not by their chain, whose name is the server's word. @returns {string} */
const whose = () => pageOwner()?.userId ?? "";

/** What this browser saw. @returns {Promise<Own | null>} */
export const recall = () => recalled(whose());

/** @param {Own} memory @returns {Promise<unknown>} */
export const remember = (memory) => keep(whose(), memory);

/**
 * What any device of the person saw, as their vault's notes have it.
 * @returns {Promise<{keyId: string, memory: Memory | null} | null>} null where the vault is locked or there is none
 */
export async function recallSealed() {
  if (!(await isUnlocked())) return null;
  const { notes } = await readAnyNotes();
  return { keyId: (await current()).keyId, memory: notes.log ?? null };
}

/** Whether the person took another tree after that of `memory`, as the other memory knows. @param {Memory} memory @param {Memory | null} [other] */
export const hasEnded = (memory, other) => other?.ended?.includes(originOf(memory.note)) ?? false;

/** Whose word counts. @param {Memory} memory */
const trusted = ({ keys, witnesses = [], quorum = 0, named = null }) => [...keys, quorum, named, ...witnesses].join();

/** More of the log, or the same under other keys or witnesses, or a tree that took the place. @param {Memory} memory @param {Memory | undefined} kept */
const isNewer = (memory, kept) =>
  !kept || hasEnded(kept, memory) || memory.size > kept.size || (memory.size === kept.size && trusted(memory) !== trusted(kept));

/**
 * Keeps it for all devices, where theirs is not newer already.
 * @param {Memory} memory
 * @returns {Promise<Sealed | null>} what lies there now; null where it cannot be kept at this moment
 */
export async function rememberSealed(memory) {
  try {
    let size = memory.size;
    await changeNotes((notes) => {
      const newer = isNewer(memory, notes.log);
      size = newer ? memory.size : notes.log.size;
      return newer ? { ...notes, log: memory } : null;
    });
    return { keyId: (await current()).keyId, size };
  } catch (error) {
    if (error instanceof ApiError || error instanceof Locked || error instanceof Refused) return null;
    throw error;
  }
}
