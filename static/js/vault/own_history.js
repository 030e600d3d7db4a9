// @ts-check
// What the person's own chain of entries says since it was read last: what ended is no authority for anything any more,
// whatever the server says of it.

import { ENDS, nextEntry } from "../formats/entries.js";
import { Refused } from "../formats/errors.js";
import { withoutRecords } from "../formats/records.js";
import * as api from "./api.js";
import { changeNotes, readNotes, rolledBack } from "./notes.js";

/** @typedef {import("../formats/entries.js").Head} Head */

/** @type {Head} */
export const START = { chain: "", sequence: 0, entry_hash: "" };

/**
 * Takes out of the notes what ended since, and remembers how far it was read.
 * @returns {Promise<void>}
 * @throws {Refused} reason rolled_back, where the chain does not go on from where it was read last
 */
export async function takeOutEnded() {
  const { notes } = await readNotes();
  const from = notes.history ?? START;
  const { head, ended } = await entriesAfter(from);
  if (head.sequence === from.sequence) return;
  await changeNotes((now) => ({
    ...now,
    approvals: withoutRecords(now.approvals, ended, Date.now() / 1000),
    history: now.history && now.history.sequence > head.sequence ? now.history : head,
  }));
}

/**
 * Whether the history tells of an approval of this request, and of no end of it.
 * @param {string} digest of the request
 * @returns {Promise<boolean>}
 * @throws {Refused} reason rolled_back, where the history is not whole
 */
export async function stillApproved(digest) {
  const { approved, ended } = await entriesAfter(START);
  return approved.includes(digest) && !ended.includes(digest);
}

/** @param {Head} from @returns {Promise<{head: Head, approved: string[], ended: string[]}>} digests of the requests: approved, and whose grants ended */
export async function entriesAfter(from) {
  let last = from;
  /** @type {string[][]} */
  const [approved = [], ended = []] = [[], []];
  for (;;) {
    const { head, entries } = await api.getChain(last.sequence);
    for (const told of entries) {
      const entry = followed(told, last);
      if (ENDS.has(entry.kind)) ended.push(String(entry.facts?.request_digest));
      if (entry.kind === "approved") approved.push(String(entry.facts?.request_digest));
      last = { chain: entry.chain, sequence: entry.sequence, entry_hash: entry.entry_hash };
    }
    if (entries.length && last.sequence < head.sequence) continue;
    // what was appended between two answers is no fault
    if (last.sequence > head.sequence && entries.length) return { head: last, approved, ended };
    if (last.sequence !== head.sequence || last.entry_hash !== head.entry_hash) throw rolledBack("the history ends before what was read of it");
    return { head: last, approved, ended };
  }
}

/** @param {unknown} told @param {Head} last */
function followed(told, last) {
  try {
    const entry = nextEntry(told, last);
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
