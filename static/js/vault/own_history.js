// @ts-check
// What the person's own chain of entries says since it was read last: what ended is no authority for anything any more,
// whatever the server says of it.

import { ENDS, nextEntry } from "../formats/entries.js";
import { Refused } from "../formats/errors.js";
import { sealedDigest } from "../formats/signing.js";
import * as api from "./api.js";
import { readState, rolledBack } from "./notes.js";

/** @typedef {import("../formats/entries.js").Entry} Entry */
/** @typedef {import("../formats/entries.js").Head} Head */

export const VAULT_STATE = "vault_state";
/** @type {Head} */
export const START = { chain: "", sequence: 0, entry_hash: "" };

/**
 * The requests that the history tells were approved, without those whose grants it tells have ended.
 * @returns {Promise<Set<string>>} their digests
 * @throws {Refused} reason rolled_back, where the history is not whole
 */
export async function stillApproved() {
  const { approved, ended } = await entriesAfter(START);
  return new Set(approved.filter((digest) => !ended.includes(digest)));
}

/** @param {Head} from @returns {Promise<{head: Head, entries: Entry[], approved: string[], ended: string[]}>} digests of the requests: approved, and whose grants ended */
export async function entriesAfter(from) {
  let last = from;
  /** @type {string[][]} */
  const [approved = [], ended = []] = [[], []];
  const read = /** @type {Entry[]} */ ([]);
  for (;;) {
    const { head, entries } = await api.getChain(last.sequence);
    for (const raw of entries) {
      const entry = followed(raw, last);
      if (ENDS.has(entry.kind)) ended.push(String(entry.facts?.request_digest));
      if (entry.kind === "approved") approved.push(String(entry.facts?.request_digest));
      read.push(entry);
      last = { chain: entry.chain, sequence: entry.sequence, entry_hash: entry.entry_hash };
    }
    if (entries.length && last.sequence < head.sequence) continue;
    // what was appended between two answers is no fault
    if (last.sequence > head.sequence && entries.length) return { head: last, entries: read, approved, ended };
    if (last.sequence !== head.sequence || last.entry_hash !== head.entry_hash) throw rolledBack("the history ends before what was read of it");
    return { head: last, entries: read, approved, ended };
  }
}

/**
 * Whether these entries tell of a later state of the vault: of newer notes, of others of the same revision, or of a later key.
 * The vault signs none of them, so that they only stop what is older; what they lack shows nothing.
 * @param {Entry[]} entries
 * @param {{notes: {retired?: string[]}, revision: number, jwe: string | null, keyId: string}} state as it is stored
 */
export async function tellLaterState(entries, { notes, revision, jwe, keyId }) {
  const states = entries.filter(({ kind }) => kind === VAULT_STATE).map(({ facts }) => /** @type {Record<string, any>} */ (facts));
  const first = states.findIndex(({ key_id }) => key_id === keyId); // what comes before is of an earlier vault or key
  if (first < 0 && jwe === null) return false; // a vault without notes never wrote one down
  const digest = jwe === null ? null : await sealedDigest(jwe);
  return states.slice(Math.max(0, first)).some(({ key_id, revision: later, notes_sha256 }) =>
    key_id === keyId ? later > revision || (later === revision && notes_sha256 !== digest) : !notes.retired?.includes(key_id));
}

/**
 * The notes, and what the history tells after where `begin` says, none of it of a later state.
 * @param {(notes: import("./notes.js").Notes) => Head} begin
 * @throws {Refused} reason rolled_back
 */
export async function readHistory(begin) {
  const before = await readState();
  const from = begin(before.notes);
  const history = await entriesAfter(from);
  // another tab or device may have written in between
  const isBehind = (await tellLaterState(history.entries, before)) && (await tellLaterState(history.entries, await readState()));
  if (isBehind) throw rolledBack("the history tells of a later state of the vault");
  return { notes: before.notes, from, ...history };
}

/** @param {unknown} raw @param {Head} last */
function followed(raw, last) {
  try {
    const entry = nextEntry(raw, last);
    // facts go with the whole account only: what ended could otherwise be hidden by taking them away
    if (entry.facts === null) throw new Refused(`what entry ${entry.sequence} tells is gone`, "facts");
    if (ENDS.has(entry.kind) && typeof entry.facts.request_digest !== "string") {
      throw new Refused(`entry ${entry.sequence} ends no request by its digest`, "facts");
    }
    return entry;
  } catch (error) {
    throw error instanceof Refused ? rolledBack(error.message) : error;
  }
}
