// @ts-check
// A person's own history against the public log: its newest entry is in it, and the log is the one seen before.

import { gettext, interpolate } from "../i18n.js";
import { strictBase64url } from "../vault/bytes.js";
import { recall, recallSealed, remember, rememberSealed } from "./memory.js";
import { isConsistent } from "./merkle.js";
import { proves, readCheckpoint, readHashes, readKey, readKeys, readProof } from "./notes.js";

/** @typedef {import("../proofs.js").Step} Step */
/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./notes.js").VerifierKey} VerifierKey */

const ON_THEIR_WAY = 50; // entries that may be so new that the log does not have them yet
const DAY = 24 * 3600;

/** A check that did not hold; the ones after it were not made. */
class Fails extends Error {}

/** @param {string} path @returns {Promise<{status: number, text: string}>} */
async function fetchText(path) {
  const answer = await fetch(path, { credentials: "omit", cache: "no-store", redirect: "error" });
  if (!answer.ok) throw new Fails(gettext("The log could not be asked. Try again in a moment."));
  return { status: answer.status, text: await answer.text() };
}

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
      const why = error instanceof Fails ? error.message : interpolate(gettext("This does not fit: %(why)s."), { why: error instanceof Error ? error.message : "" });
      this.made.push({ words, holds: false, why });
      throw new Fails();
    }
  }
}

/**
 * @param {{count: number, chain: string, hashes: Map<number, string>}} walked a chain that was computed again
 * @returns {Promise<Step[]>}
 */
export async function logSteps(walked) {
  const steps = new Steps();
  try {
    await check(steps, walked);
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
    if (error.message) steps.made.push({ words: gettext("The public log"), holds: false, why: error.message });
  }
  return steps.made;
}

/** @param {Steps} steps @param {{count: number, chain: string, hashes: Map<number, string>}} walked */
async function check(steps, { count, chain, hashes }) {
  const own = await recall();
  const sealed = await sealedMemory(steps, own);
  const memories = [own, sealed?.memory ?? null].filter((memory) => memory !== null);
  if (memories.length) await steps.step(gettext("It has all that was in it when it was seen last"), async () => {
    for (const { chain: known, head } of memories)
      if (known !== chain || (head.sequence && hashes.get(head.sequence) !== head.entry_hash))
        throw new Fails(gettext("Entry by entry it is another history now."));
  });
  const keys = memories[0] ? await Promise.all(memories[0].keys.map(readKey)) : await readKeys((await fetchText("/log/key")).text);
  const witnesses = await Promise.all((document.getElementById("verify-history")?.dataset.witnesses ?? "").split(",").filter(Boolean).map(readKey));
  const newest = await steps.step(gettext("The public log is signed by the key that this browser knows"), async () =>
    readCheckpoint((await fetchText("/log/checkpoint")).text, keys, witnesses));
  await steps.step(memories.length ? gettext("The log begins with all that was seen of it before") : gettext("The log is seen for the first time, and remembered"), async () => {
    for (const { note } of memories) {
      const before = await readCheckpoint(note, keys, witnesses);
      if (newest.size < before.size) throw new Fails(gettext("It is older than what was seen: it was rolled back."));
      if (!(await fits(before, newest))) throw new Fails(gettext("It was rewritten."));
    }
  });
  const found = await steps.step(gettext("Your newest entries are in the log"), () => newestInLog(count, hashes, newest, keys, witnesses));
  steps.made.push({ words: found < count ? interpolate(gettext("Up to entry %(n)s; what came after is on its way"), { n: found }) : freshness(newest, witnesses), holds: true });
  const memory = { chain, keys: keys.map(({ text }) => text), note: newest.note, size: newest.size, head: { sequence: count, entry_hash: hashes.get(count) ?? "" } };
  const kept = sealed ? await rememberSealed(memory) : null;
  await remember({ ...memory, sealed: kept ?? own?.sealed });
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
 * @param {number} count @param {Map<number, string>} hashes @param {Checkpoint} newest @param {VerifierKey[]} keys @param {VerifierKey[]} witnesses
 * @returns {Promise<number>}
 */
async function newestInLog(count, hashes, newest, keys, witnesses) {
  for (let sequence = count; sequence > Math.max(0, count - ON_THEIR_WAY); sequence -= 1) {
    const hash = hashes.get(sequence) ?? "";
    const { status, text } = await fetchText(`/log/proof/${hash}`);
    if (status !== 200) continue;
    const proof = await readProof(text, keys, witnesses);
    const leaf = strictBase64url(hash);
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
