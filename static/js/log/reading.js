// @ts-check
// A person's own history against the public log: its newest entry is in it, and the log is the one seen before.

import { gettext, interpolate } from "../i18n.js";
import { strictBase64url } from "../vault/bytes.js";
import { recall, recallSealed, remember, rememberSealed } from "./memory.js";
import { isConsistent } from "./merkle.js";
import { NoteRefused, proves, readHashes, readKey, readKeys } from "./notes.js";
import { Trust } from "./trust.js";

/** @typedef {import("../proofs.js").Step} Step */
/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./notes.js").VerifierKey} VerifierKey */
/** @typedef {{count: number, chain: string, hashes: Map<number, string>}} Walked */

const ON_THEIR_WAY = 50; // entries that may be so new that the log does not have them yet
const DAY = 24 * 3600;

/** A check that did not hold; the ones after it were not made. */
class Fails extends Error {
  /** @type {string[] | undefined} keys that the person may take on another way's word */ keys;
}

/** @param {string} path @returns {Promise<{status: number, text: string}>} */
async function fetchText(path) {
  const answer = await fetch(path, { credentials: "omit", cache: "no-store", redirect: "error" });
  if (!answer.ok) throw new Fails(gettext("The log could not be asked. Try again in a moment."));
  return { status: answer.status, text: await answer.text() };
}

/** @param {unknown} error */
const reasonOf = (error) =>
  error instanceof NoteRefused
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
      const keys = error instanceof Fails ? error.keys : undefined;
      this.made.push({ words, holds: false, why, ...(keys ? { keys } : {}) });
      throw new Fails();
    }
  }
}

/**
 * @param {Walked} walked a chain that was computed again
 * @param {string[]} [taken] keys of the log that the person takes, since the operator told them on another way
 * @returns {Promise<Step[]>} a step that fails for the log's key has `keys`, those that the service names
 */
export async function logSteps(walked, taken) {
  const steps = new Steps();
  try {
    await check(steps, walked, taken);
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
    if (error.message) steps.made.push({ words: gettext("The public log"), holds: false, why: error.message });
  }
  return steps.made;
}

/** @param {Steps} steps @param {Walked} walked @param {string[]} [taken] */
async function check(steps, { count, chain, hashes }, taken) {
  const own = await recall();
  const sealed = await sealedMemory(steps, own);
  const memories = [own, sealed?.memory ?? null].filter((memory) => memory !== null);
  if (memories.length) await steps.step(gettext("It has all that was in it when it was seen last"), async () => {
    for (const { chain: known, head } of memories)
      if (known !== chain || (head.sequence && hashes.get(head.sequence) !== head.entry_hash))
        throw new Fails(gettext("Entry by entry it is another history now."));
  });
  const known = await trustOf(memories, taken);
  const { newest, trust } = await signedCheckpoint(steps, known, memories.length > 0, taken !== undefined);
  await steps.step(memories.length ? gettext("The log begins with all that was seen of it before") : gettext("The log is seen for the first time, and remembered"), async () => {
    for (const { note } of memories) {
      const before = await trust.remembered(note);
      if (newest.size < before.size) throw new Fails(gettext("It is older than what was seen: it was rolled back."));
      if (!(await fits(before, newest))) throw new Fails(gettext("It was rewritten."));
    }
  });
  const found = await steps.step(gettext("Your newest entries are in the log"), () => newestInLog(count, hashes, newest, trust));
  steps.made.push({ words: found < count ? interpolate(gettext("Up to entry %(n)s; what came after is on its way"), { n: found }) : freshness(newest, trust.witnesses), holds: true });
  const [keys, earlier] = [trust.keys, trust.earlier].map((list) => list.map(({ text }) => text));
  const memory = { chain, keys: keys ?? [], earlier: earlier ?? [], note: newest.note, size: newest.size, head: { sequence: count, entry_hash: hashes.get(count) ?? "" } };
  const kept = sealed ? await rememberSealed(memory) : null;
  await remember({ ...memory, sealed: kept ?? own?.sealed });
}

/** @param {Memory[]} memories @param {string[]} [taken] @returns {Promise<Trust>} */
async function trustOf(memories, taken) {
  const names = document.getElementById("verify-history")?.dataset.witnesses ?? "";
  const witnesses = await Promise.all(names.split(",").filter(Boolean).map(readKey));
  const trust = memories.length ? await Trust.of(memories, witnesses) : new Trust(await namedKeys(), [], witnesses);
  return taken ? trust.replacedBy(await Promise.all(taken.map(readKey))) : trust;
}

const namedKeys = async () => readKeys((await fetchText("/log/key")).text);

/**
 * The newest checkpoint, and whom to believe from now on: a key that a known one signed beside is learned.
 * @param {Steps} steps @param {Trust} known @param {boolean} wasSeen @param {boolean} isTaken
 * @returns {Promise<{newest: Checkpoint, trust: Trust}>}
 */
async function signedCheckpoint(steps, known, wasSeen, isTaken) {
  const words = isTaken ? gettext("The public log is signed by the key that you took") : gettext("The public log is signed by the key that this browser knows");
  const newest = await steps.step(words, async () => {
    const note = (await fetchText("/log/checkpoint")).text;
    if (wasSeen && !(await known.knowsSigner(note))) throw await otherKey();
    return known.newest(note);
  });
  if (!(await known.asksForKeys(newest))) return { newest, trust: known };
  const trust = await steps.step(gettext("The key of the log is changing, and the known one vouches for the new one"), async () =>
    known.withKeys(await namedKeys(), newest));
  const learned = trust.keys.some(({ text }) => !known.keys.some((key) => key.text === text));
  if (!learned) steps.made.pop(); // nothing new for anybody: one that is gone, or that is not named yet
  return { newest, trust };
}

async function otherKey() {
  const fails = new Fails(gettext("It is signed with another key, and the one that this browser knows does not vouch for it. Somebody may show you a log of their own."));
  fails.keys = (await namedKeys()).map(({ text }) => text);
  return fails;
}

/**
 * What all devices saw, where the vault is unlocked. It has to be there once this browser wrote it, and only grows.
 * @param {Steps} steps @param {import("./memory.js").Own | null} own
 * @returns {ReturnType<typeof recallSealed>}
 */
async function sealedMemory(steps, own) {
  const sealed = await steps.step(gettext("Your vault's notes open"), recallSealed);
  if (!sealed) {
    steps.made.pop();
    steps.made.push({ words: gettext("Your vault is locked, so what your other devices saw was not compared"), holds: true });
    return null;
  }
  await steps.step(gettext("What your vault remembers of the log is all there"), async () => {
    const wrote = own?.sealed?.keyId === sealed.keyId ? own.sealed.size : 0;
    if (wrote && !sealed.memory) throw new Fails(gettext("It is gone, though this browser put it there."));
    if (sealed.memory && sealed.memory.size < wrote) throw new Fails(gettext("It is older than what this browser put there."));
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
 * The newest entry that the log has: it holds all before it.
 * @param {number} count @param {Map<number, string>} hashes @param {Checkpoint} newest @param {Trust} trust
 * @returns {Promise<number>}
 */
async function newestInLog(count, hashes, newest, trust) {
  for (let sequence = count; sequence > Math.max(0, count - ON_THEIR_WAY); sequence -= 1) {
    const hash = hashes.get(sequence) ?? "";
    const { status, text } = await fetchText(`/log/proof/${hash}`);
    if (status !== 200) continue;
    const [proof, leaf] = [await trust.proof(text, newest), strictBase64url(hash)];
    if (!proof) throw new Fails(gettext("The proof is of another log."));
    if (!leaf || !(await proves(proof, leaf))) throw new Fails(gettext("The log has another entry there."));
    if (!(await fits(proof.checkpoint, newest))) throw new Fails(gettext("The proof is of another log."));
    return sequence;
  }
  if (count > ON_THEIR_WAY) throw new Fails(gettext("None of them is."));
  return 0;
}

/** @param {Checkpoint} newest @param {VerifierKey[]} witnesses @returns {string} */
function freshness({ cosignatures }, witnesses) {
  if (!witnesses.length) return gettext("Nobody else watches this log, so only this browser's memory shows a change");
  const fresh = cosignatures.some(({ at }) => at >= Date.now() / 1000 - DAY);
  return fresh ? gettext("Witnesses saw the same log within a day") : gettext("Freshness is not proven: no witness saw this log within a day");
}
