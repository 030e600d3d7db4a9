// @ts-check
// Before anything is sealed: what ended since, or was paused, is no authority any more, as the person's own history tells it
// and the public log proves it.

import { Refused } from "../formats/errors.js";
import { withoutRecords } from "../formats/records.js";
import { Fails, whichAreProved } from "../log/reading.js";
import { changeNotes, rolledBack, withPaused } from "./notes.js";
import { readHistory, START, VAULT_STATE } from "./own_history.js";

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
  const { notes, from, head, ended, entries } = await readHistory((known) => known.proved ?? known.history ?? START);
  const seen = notes.history ?? START;
  if (seen.sequence > from.sequence && entries[seen.sequence - from.sequence - 1]?.entry_hash !== seen.entry_hash) throw rolledBack("the history is not what was read of it");
  const proved = await provedOf(from, entries);
  const isNews = entries.some(({ sequence, kind }) => sequence > seen.sequence && kind !== VAULT_STATE); // else each write would be news to the next
  if (!isNews && proved.sequence === from.sequence) return;
  await changeNotes((now) => ({
    ...withPaused(now, pausedIn(now, entries, ended)),
    approvals: withoutRecords(now.approvals, ended, Date.now() / 1000),
    history: further(now.history, head),
    proved: further(now.proved, proved),
  }));
}

/**
 * What is paused until the vault itself resumes it: an entry that tells of that is signed by no vault.
 * @param {import("./notes.js").Notes} notes @param {Entry[]} entries @param {string[]} ended
 */
function pausedIn({ paused = [], history = START }, entries, ended) {
  const since = entries.filter(({ sequence, kind }) => kind === "paused" && sequence > history.sequence);
  const digests = new Set([...paused, ...since.map(({ facts }) => String(facts?.request_digest))]);
  return [...digests].filter((digest) => !ended.includes(digest)).sort();
}

/** @param {Head | undefined} known @param {Head} read */
const further = (known, read) => (known && known.sequence > read.sequence ? known : read);

/** The newest entry up to which the log has all; a vault's state needs no proof, since it only restricts. @param {Head} from @param {Entry[]} entries after it @returns {Promise<Head>} */
async function provedOf(from, entries) {
  const toProve = entries.filter(({ kind }) => kind !== VAULT_STATE).slice(-MOST_PROOFS); // of a long history that is read for the first time
  try {
    const proved = await whichAreProved(toProve);
    const waiting = proved.indexOf(null);
    const last = toProve[(waiting < 0 ? proved.length : waiting) - 1];
    return last ? { chain: last.chain, sequence: last.sequence, entry_hash: last.entry_hash } : from;
  } catch (error) {
    throw error instanceof Refused || error instanceof Fails ? rolledBack(error.message) : error;
  }
}
