// @ts-check
// A person's own history against the public log: its newest entry is in it, and the log is the one seen before.

import { fromBase64url, fromUtf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { isConsistent } from "../formats/merkle.js";
import { originOf, proves, readHashes, readKey, readKeys, readProof } from "../formats/notes.js";
import {
  distinct, isConfirmed, keysSeemToChange, knowsSigner, LATE_SECONDS, newestInLog, readNewest, readRemembered, renamedTo, replacedBy,
  watchOf, withFollowingWitnesses, withKeys, withNamedWitnesses,
} from "../formats/trust.js";
import { gettext, interpolate } from "../i18n.js";
import { takeOlderNotes } from "../vault/notes.js";
import { hasEnded, recall, recallSealed, remember, rememberSealed } from "./memory.js";

/** @typedef {import("../proofs.js").Step} Step */
/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("../formats/notes.js").Checkpoint} Checkpoint */
/** @typedef {import("../formats/notes.js").Proof} Proof */
/** @typedef {import("../formats/notes.js").VerifierKey} VerifierKey */
/** @typedef {import("../formats/trust.js").Trust} Trust */
/** @typedef {import("../proofs.js").Epoch} Epoch */
/** @typedef {{count: number, chain: string, hashes: Map<number, string>, times: Map<number, string>}} Walked */
/** @typedef {{keys?: string[], epoch?: string, restored?: boolean}} Taken what the person takes, since the operator told it on another way */

const PROOFS_AT_ONCE = 8; // of a history that nobody looked at for months there are hundreds

/** A check that did not hold; the ones after it were not made. */
export class Fails extends Error {
  /** @type {{keys?: string[], epoch?: Epoch, lost?: string}} what the person may take on another way's word */ offer = {};
}

/** What cannot be said yet; nor can what comes after it. */
class Pending extends Fails {}

/** @param {string} path @param {number} [expected] a status that is an answer, too @returns {Promise<{status: number, text: string}>} */
async function fetchText(path, expected) {
  const answer = await fetch(path, { credentials: "omit", cache: "no-store", redirect: "error" });
  if (!answer.ok && answer.status !== expected) throw new Fails(gettext("The log could not be asked. Try again in a moment."));
  return { status: answer.status, text: fromUtf8(new Uint8Array(await answer.arrayBuffer())) };
}

/** @param {unknown} error */
const reasonOf = (error) =>
  error instanceof Refused
    ? gettext("What the log answered is not what it has to be: it was changed, or made by somebody else.")
    : gettext("This could not be checked here.");

/** What was tried, as steps up to the first that does not hold. */
class Steps {
  /** @type {Step[]} */
  made = [];

  /** @template T @param {string} words @param {() => Promise<T>} look @returns {Promise<T>} */
  async step(words, look) {
    try {
      const found = await look();
      this.made.push({ words, holds: true });
      return found;
    } catch (error) {
      const why = error instanceof Fails ? error.message : reasonOf(error);
      const pending = error instanceof Pending;
      this.made.push({ words, holds: pending, pending, why, ...(error instanceof Fails ? error.offer : {}) });
      throw new Fails();
    }
  }
}

/**
 * @param {Walked} walked a chain that was computed again
 * @param {Taken} [taken]
 * @returns {Promise<Step[]>} a step that fails for the log's key has `keys`, those that the service names; one that fails since
 *   the log began anew has `epoch`, and one that fails since what was seen is gone has `lost`, words for what that is
 */
export async function logSteps(walked, taken = {}) {
  const steps = new Steps();
  try {
    await check(steps, walked, taken);
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
    if (error.message) steps.made.push({ words: gettext("The public log"), holds: false, why: error.message });
    steps.made.push({ words: gettext("Whether others see the same log"), holds: true, unchecked: true, unconfirmed: true });
  }
  return steps.made;
}

/**
 * Which of these entries the log has, by the keys that were known of it. One that it does not have yet counts for ten minutes.
 * @param {{entry_hash: string, at: string}[]} entries
 * @returns {Promise<(number | null)[]>} in their order: their places in it, null where it has none yet
 * @throws {Refused} where it has none of an older one, or another one, or is not the log that was seen before
 */
export async function whichAreProved(entries) {
  /** @type {Promise<{newest: Checkpoint, trust: Trust}> | null} */
  let known = null;
  const placeOf = async (/** @type {{entry_hash: string, at: string}} */ { entry_hash, at }) => {
    const { status, text } = await fetchText(`/log/proof/${entry_hash}`);
    if (status === 200) {
      const { newest, trust } = await (known ??= knownLog());
      return (await checkInLog(entry_hash, text, newest, trust)).index;
    }
    if (!(Math.abs(Date.now() - Date.parse(at)) < LATE_SECONDS * 1000)) throw new Refused(`the log has no entry ${entry_hash}`, "proof");
    return null;
  };
  const places = /** @type {(number | null)[]} */ ([]);
  for (let next = 0; next < entries.length; next += PROOFS_AT_ONCE) {
    places.push(...(await Promise.all(entries.slice(next, next + PROOFS_AT_ONCE).map(placeOf))));
  }
  return places;
}

/**
 * Whether a look at the log, by this browser or another of the person's devices, found it without the entry that has this place
 * now, and later than the entry says it was made: then it was dated back.
 * @param {{at: string}} entry @param {number} index
 */
export async function isDatedBack({ at }, index) {
  const memories = [await recall(), (await recallSealed())?.memory];
  return memories.some((seen) => seen?.at && index >= seen.size && Date.parse(at) / 1000 < seen.at - LATE_SECONDS);
}

/** The newest checkpoint, held to what this browser and the vault's notes remember of the log. */
async function knownLog() {
  const [own, sealed] = [await recall(), await recallSealed()];
  const kept = [own, sealed?.memory ?? null].filter((memory) => memory !== null);
  const memories = kept.filter((memory) => !kept.some((other) => hasEnded(memory, other)));
  const trust = await trustOf(memories, [sealed?.memory ?? null, own], {});
  const newest = await readNewest(trust, (await fetchText("/log/checkpoint")).text);
  for (const { note } of memories) {
    const before = await readRemembered(trust, note);
    if (newest.origin !== before.origin || newest.size < before.size || !(await fits(before, newest))) throw new Refused("the log is not the one that was seen", "checkpoint");
  }
  return { newest, trust };
}

/** @param {Steps} steps @param {Walked} walked @param {Taken} taken */
async function check(steps, walked, taken) {
  const own = await recall();
  const sealed = await sealedMemory(steps, own, walked, taken);
  const kept = [own, sealed?.memory ?? null].filter((memory) => memory !== null);
  const memories = kept.filter((memory) => !kept.some((other) => hasEnded(memory, other)));
  const known = await trustOf(memories, [sealed?.memory ?? null, own], taken);
  const signed = await signedCheckpoint(steps, known, memories, walked, taken);
  const { newest, trust } = await watched(steps, signed, memories.length > 0);
  const [same, ended] = [memories.filter(({ note }) => originOf(note) === newest.origin), memories.filter(({ note }) => originOf(note) !== newest.origin)];
  const gone = same.filter((memory) => !hasHead(walked, memory));
  if (gone.length && taken.restored) steps.made.push({ words: lost(walked, gone), holds: true });
  else if (same.length) await steps.step(gettext("It has all that was in it when it was seen last"), async () => {
    if (gone.length) throw isGone(gettext("Entry by entry it is another history now."), lost(walked, gone));
  });
  if (ended.length) steps.made.push({ words: lost(walked, ended), holds: true });
  await steps.step(wordsOfFit(same, ended), async () => {
    for (const { note } of same) {
      const before = await readRemembered(trust, note);
      if (newest.size < before.size) throw new Fails(gettext("It is older than what was seen: it was rolled back."));
      if (!(await fits(before, newest))) throw new Fails(gettext("It was rewritten."));
    }
  });
  const found = await steps.step(gettext("Your newest entries are in the log"), () =>
    newestInLog(walked.count, (number) => isInLog(walked.hashes.get(number) ?? "", newest, trust)));
  if (found < walked.count) steps.made.push(waiting(walked, found));
  steps.made.push(confirmation(newest, trust));
  const names = kept.flatMap((memory) => [...(memory.ended ?? []), ...(ended.includes(memory) ? [originOf(memory.note)] : [])]);
  await keep(walked, newest, trust, [...new Set(names)], { own, sealed }, taken);
}

/**
 * @param {Walked} walked @param {Checkpoint} newest @param {Trust} trust @param {string[]} ended
 * @param {{own: import("./memory.js").Own | null, sealed: Awaited<ReturnType<typeof recallSealed>>}} before
 * @param {Taken} taken
 */
async function keep({ chain, count, hashes }, newest, { keys, earlier, witnesses, quorum, named }, ended, { own, sealed }, taken) {
  const texts = (/** @type {VerifierKey[]} */ list) => list.map(({ text }) => text);
  const head = { sequence: count, entry_hash: hashes.get(count) ?? "" };
  const whose = { keys: texts(keys), earlier: texts(earlier), witnesses: texts(witnesses), quorum: quorum ?? witnesses.length, named };
  const memory = { chain, ...whose, ended, note: newest.note, size: newest.size, at: Math.floor(Date.now() / 1000), head };
  if (sealed && taken.restored) await takeOlderNotes({ chain, ...head }).catch(() => undefined);
  const lies = sealed ? await rememberSealed(memory) : null;
  await remember({ ...memory, sealed: lies ?? own?.sealed });
}

/** Whether the history still has the entry that was its newest then. @param {Walked} walked @param {Memory} memory */
const hasHead = ({ chain, hashes }, { chain: known, head }) => known === chain && (!head.sequence || hashes.get(head.sequence) === head.entry_hash);

/** @param {Memory[]} same @param {Memory[]} ended @returns {string} */
function wordsOfFit(same, ended) {
  if (same.length) return gettext("The log begins with all that was seen of it before");
  return ended.length ? gettext("The new log is remembered from now on") : gettext("The log is seen for the first time, and remembered");
}

/** What a restore from a backup leaves, and somebody who hides something. @param {string} why @param {string} words */
function isGone(why, words) {
  const fails = new Fails(why);
  fails.offer = { lost: words };
  return fails;
}

/** What became of the person's own entries after a restore. @param {Walked} walked @param {Memory[]} ended @returns {string} */
function lost(walked, ended) {
  const most = Math.max(...ended.map(({ head }) => head.sequence));
  if (ended.every((memory) => hasHead(walked, memory))) return gettext("All that was seen of your history is still in it");
  if (walked.count >= most) return gettext("Some of what was seen of your history is gone, and other entries stand in its place");
  return interpolate(gettext("Entries that were seen of your history: %(n)s. Left of them: %(left)s"), { n: most, left: walked.count });
}

/** The entries that the log does not have yet. @param {Walked} walked @param {number} found @returns {Step} */
function waiting({ times }, found) {
  const words = interpolate(gettext("Up to entry %(n)s; what came after is on its way"), { n: found });
  const late = Date.now() / 1000 - Date.parse(times.get(found + 1) ?? "") / 1000 > LATE_SECONDS;
  if (late) return { words, holds: true, pending: true, why: gettext("It has been for more than ten minutes, though the log takes new entries every few seconds. Come back later, and tell us if it stays so.") };
  return found ? { words, holds: true } : { words, holds: true, pending: true, why: gettext("The log takes new entries every few seconds: come back in a minute.") };
}

/**
 * Whom to believe. The vault's word on the witnesses comes before this browser's, which may have met them while it was locked.
 * @param {Memory[]} memories @param {(Memory | null)[]} pins @param {Taken} taken @returns {Promise<Trust>}
 */
async function trustOf(memories, pins, { keys, restored }) {
  const pinned = pins.find((memory) => memory?.witnesses);
  const named = restored ? null : (pinned?.named ?? null); // a backup may be older than the entry
  const watching = { witnesses: (pinned?.witnesses ?? []).map(readKey), quorum: pinned?.quorum ?? 0, named };
  const trust = memories.length ? remembered(memories, watching) : { keys: await namedKeys(), earlier: [], ...watching };
  return keys ? replacedBy(trust, keys.map(readKey)) : trust;
}

/**
 * Of several memories, those that saw most of the log know its present keys best.
 * @param {Memory[]} memories one at least @param {{witnesses: VerifierKey[], quorum: number, named: string | null}} watching @returns {Trust}
 */
function remembered(memories, watching) {
  const most = Math.max(...memories.map(({ size }) => size));
  const keys = distinct(memories.filter(({ size }) => size === most).flatMap((memory) => memory.keys.map(readKey)));
  const before = memories.flatMap((memory) => [...memory.keys, ...(memory.earlier ?? [])].map(readKey));
  return { keys, earlier: distinct(before, keys), ...watching };
}

/**
 * Whose cosignatures count from now on: those that the log names where it is seen for the first time, and later those whom
 * the known ones vouch for. What the service says otherwise changes nothing.
 * @param {Steps} steps @param {{newest: Checkpoint, trust: Trust}} signed @param {boolean} wasSeen
 * @returns {Promise<{newest: Checkpoint, trust: Trust}>}
 */
async function watched(steps, { newest, trust }, wasSeen) {
  const followed = await followedFrom(trust, newest, wasSeen);
  if (watchOf(followed) === watchOf(trust)) return { newest, trust: followed };
  if (wasSeen) steps.made.push({ words: gettext("Other witnesses watch the log now, and those that were known vouch for them"), holds: true });
  return { newest: await readNewest(followed, newest.note), trust: followed };
}

const namedKeys = async () => readKeys((await fetchText("/log/key")).text);

/**
 * The newest checkpoint, and whom to believe from now on: a key that a known one signed beside is learned.
 * @param {Steps} steps @param {Trust} known @param {Memory[]} memories @param {Walked} walked @param {Taken} taken
 * @returns {Promise<{newest: Checkpoint, trust: Trust}>}
 */
async function signedCheckpoint(steps, known, memories, walked, taken) {
  const words = taken.keys ? gettext("The public log is signed by the key that you took") : gettext("The public log is signed by the key that this browser knows");
  const { newest, believed } = await steps.step(words, async () => {
    const note = await newestNote(memories.length > 0);
    if (!memories.length || (await knowsSigner(known, note))) return { newest: await readNewest(known, note), believed: known };
    const origin = originOf(note);
    const anew = renamedTo(known, origin);
    if (!(await knowsSigner(anew, note))) throw await otherKey();
    if (taken.epoch !== origin) throw otherEpoch(memories, origin, walked);
    return { newest: await readNewest(anew, note), believed: anew };
  });
  if (!(await keysSeemToChange(believed, newest))) return { newest, trust: believed };
  const trust = await steps.step(gettext("The key of the log is changing, and the known one vouches for the new one"), async () =>
    withKeys(believed, await namedKeys(), newest));
  const learned = trust.keys.some(({ text }) => !believed.keys.some((key) => key.text === text));
  if (!learned) steps.made.pop(); // nothing new for anybody: one that is gone, or that is not named yet
  return { newest, trust };
}

/** @param {boolean} wasSeen @returns {Promise<string>} */
async function newestNote(wasSeen) {
  const { status, text } = await fetchText("/log/checkpoint", 404);
  if (status !== 404) return text;
  if (wasSeen) throw new Fails(gettext("It publishes nothing any more, though it was seen before."));
  throw new Pending(gettext("Nothing has been published yet. The log takes new entries every few seconds: come back in a minute."));
}

/** @param {Memory[]} memories @param {string} origin @param {Walked} walked */
function otherEpoch(memories, origin, walked) {
  const fails = new Fails(gettext("It begins anew under another name, so that nothing shows whether it has what was seen before."));
  const most = memories.reduce((one, other) => (other.size > one.size ? other : one));
  fails.offer = { epoch: { last: originOf(most.note), size: most.size, newest: origin, lost: lost(walked, memories) } };
  return fails;
}

async function otherKey() {
  const fails = new Fails(gettext("It is signed with another key, and the one that this browser knows does not vouch for it. Somebody may show you a log of their own."));
  fails.offer = { keys: (await namedKeys()).map(({ text }) => text) };
  return fails;
}

/**
 * What all devices saw, where the vault is unlocked. It has to be there once this browser wrote it, and only grows.
 * @param {Steps} steps @param {import("./memory.js").Own | null} own @param {Walked} walked @param {Taken} taken
 * @returns {ReturnType<typeof recallSealed>}
 */
async function sealedMemory(steps, own, walked, taken) {
  const sealed = await steps.step(gettext("Your vault's notes open"), recallSealed);
  if (!sealed) {
    steps.made.pop();
    steps.made.push({ words: gettext("What your other devices saw, since your vault is locked"), holds: true, unchecked: true });
    return null;
  }
  const counts = own?.sealed?.keyId === sealed.keyId && !hasEnded(own, sealed.memory); // else another device went on
  const wrote = counts ? (own?.sealed?.size ?? 0) : 0;
  if (own && (sealed.memory?.size ?? 0) < wrote && taken.restored) {
    steps.made.push({ words: gettext("What your vault remembers of the log is that of the backup"), holds: true });
    return sealed;
  }
  await steps.step(gettext("What your vault remembers of the log is all there"), async () => {
    if (!own || (sealed.memory?.size ?? 0) >= wrote) return;
    throw isGone(sealed.memory ? gettext("It is older than what this browser put there.") : gettext("It is gone, though this browser put it there."), lost(walked, [own]));
  });
  return sealed;
}

/** Whether the smaller of two checkpoints is where the larger begins. @param {Checkpoint} one @param {Checkpoint} other */
async function fits(one, other) {
  const [old, now] = one.size <= other.size ? [one, other] : [other, one];
  const lines = old.size < now.size ? (await fetchText(`/log/consistency?old=${old.size}&new=${now.size}`)).text.split("\n").filter(Boolean) : [];
  return isConsistent(old.size, old.root, now.size, now.root, readHashes(lines));
}

/**
 * A proof whose checkpoint a present key signed, or that is no larger than the newest one: it may be of the time of a key
 * that this reader never knew, and has to be consistent with the newest one all the same. Null where it is neither.
 * @param {string} text @param {Checkpoint} newest @param {Trust} trust @returns {Promise<Proof | null>}
 */
async function proofOf(text, newest, trust) {
  const proof = await readProof(text, trust.keys, trust.witnesses, { anyone: true });
  const { note, size, origin } = proof.checkpoint;
  if (origin !== newest.origin) return null;
  return size <= newest.size || (await knowsSigner(trust, note)) ? proof : null;
}

/** @param {string} hash @param {Checkpoint} newest @param {Trust} trust @returns {Promise<boolean>} */
async function isInLog(hash, newest, trust) {
  const { status, text } = await fetchText(`/log/proof/${hash}`);
  if (status !== 200) return false;
  await checkInLog(hash, text, newest, trust);
  return true;
}

/** @param {string} hash of an entry @param {string} text its proof @param {Checkpoint} newest @param {Trust} trust */
async function checkInLog(hash, text, newest, trust) {
  const [proof, leaf] = [await proofOf(text, newest, trust), fromBase64url(hash)];
  if (!proof) throw new Fails(gettext("The proof is of another log."));
  if (!leaf || !proves(proof, leaf)) throw new Fails(gettext("The log has another entry there."));
  if (!(await fits(proof.checkpoint, newest))) throw new Fails(gettext("The proof is of another log."));
  return proof;
}

/** @param {Trust} trust @param {Checkpoint} newest @param {boolean} wasSeen @returns {Promise<Trust>} */
async function followedFrom(trust, newest, wasSeen) {
  const { text } = await fetchText("/log/witnesses");
  try {
    const { changes } = JSON.parse(text);
    return wasSeen ? await withFollowingWitnesses(trust, changes, (checkpoint) => fits(checkpoint, newest)) : withNamedWitnesses(trust, changes);
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError || error instanceof TypeError) return trust; // no word of anybody known
    throw error;
  }
}

/** @param {Checkpoint} newest @param {Trust} trust @returns {Step} */
function confirmation(newest, trust) {
  if (isConfirmed(newest, trust)) return { words: gettext("Witnesses saw the same log within a day"), holds: true };
  const words = trust.witnesses.length
    ? gettext("Whether others see the same log, since too few of the witnesses that are known saw this one within a day")
    : gettext("Whether others see the same log: nobody else watches it, so only this browser's memory shows a change");
  return { words, holds: true, unchecked: true, unconfirmed: true };
}
