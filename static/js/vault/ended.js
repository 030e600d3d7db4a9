// @ts-check
// Before anything is sealed again: what ended since is no authority any more, as the person's own history tells it and the
// public log proves it.

import { Refused } from "../formats/errors.js";
import { withoutRecords } from "../formats/records.js";
import { Fails, whichAreProved } from "../log/reading.js";
import { changeNotes, readNotes, rolledBack } from "./notes.js";
import { entriesAfter, START } from "./own_history.js";

/** @typedef {import("../formats/entries.js").Entry} Entry */
/** @typedef {import("../formats/entries.js").Head} Head */

const MOST_PROOFS = 200;

/**
 * Takes out of the notes what ended since, and remembers how far the history was read and how far the log proves it. An end
 * counts at once; that there was none counts for what is proved, and for entries of the last ten minutes.
 * @returns {Promise<void>}
 * @throws {Refused} reason rolled_back, where the chain does not go on from where it was read last, or the log has another
 */
export async function takeOutEnded() {
  const { notes } = await readNotes();
  const seen = notes.history ?? START;
  const from = notes.proved ?? seen;
  const { head, ended, entries } = await entriesAfter(from);
  if (seen.sequence > from.sequence && entries[seen.sequence - from.sequence - 1]?.entry_hash !== seen.entry_hash) throw rolledBack("the history is not what was read of it");
  const proved = await provedOf(from, entries);
  if (head.sequence === seen.sequence && proved.sequence === notes.proved?.sequence) return;
  await changeNotes((now) => ({
    ...now,
    approvals: withoutRecords(now.approvals, ended, Date.now() / 1000),
    history: further(now.history, head),
    proved: further(now.proved, proved),
  }));
}

/** @param {Head | undefined} known @param {Head} read */
const further = (known, read) => (known && known.sequence > read.sequence ? known : read);

/** The newest entry up to which the log has all. @param {Head} from @param {Entry[]} entries after it @returns {Promise<Head>} */
async function provedOf(from, entries) {
  const first = Math.max(0, entries.length - MOST_PROOFS); // of a long history that is read for the first time
  try {
    const proved = await whichAreProved(entries.slice(first));
    const waiting = proved.indexOf(false);
    const last = entries[first + (waiting < 0 ? proved.length : waiting) - 1];
    return last ? { chain: last.chain, sequence: last.sequence, entry_hash: last.entry_hash } : from;
  } catch (error) {
    throw error instanceof Refused || error instanceof Fails ? rolledBack(error.message) : error;
  }
}
