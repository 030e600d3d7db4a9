// @ts-check
// Whose signature of the log counts: the keys that were known, and those that they vouch for. A new key is learned from a
// checkpoint that a known one signed beside it, or from the person's own word.

import { hasOtherSigner, readCheckpoint, readKey, readProof, renamed, signers } from "../formats/notes.js";

/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("../formats/notes.js").Checkpoint} Checkpoint */
/** @typedef {import("../formats/notes.js").Proof} Proof */
/** @typedef {import("../formats/notes.js").VerifierKey} VerifierKey */

/** @param {string[]} texts */
const readAll = (texts) => texts.map(readKey);

/** Each once, without those. @param {VerifierKey[]} keys @param {VerifierKey[]} without @returns {VerifierKey[]} */
const others = (keys, without) => {
  const known = new Set(without.map(({ text }) => text));
  return [...new Map(keys.map((key) => [key.text, key])).values()].filter(({ text }) => !known.has(text));
};

/** The keys of a log, as one reader believes them. Nothing of it changes: what is learned makes another. */
export class Trust {
  /** @param {VerifierKey[]} keys @param {VerifierKey[]} earlier @param {VerifierKey[]} witnesses */
  constructor(keys, earlier, witnesses) {
    this.keys = keys;
    this.earlier = earlier;
    this.witnesses = witnesses;
  }

  /**
   * Of several memories, those that saw most of the log know its present keys best.
   * @param {Memory[]} memories one at least @param {VerifierKey[]} witnesses @returns {Trust}
   */
  static of(memories, witnesses) {
    const most = Math.max(...memories.map(({ size }) => size));
    const keys = others(readAll(memories.filter(({ size }) => size === most).flatMap((memory) => memory.keys)), []);
    const before = readAll(memories.flatMap((memory) => [...memory.keys, ...(memory.earlier ?? [])]));
    return new Trust(keys, others(before, keys), witnesses);
  }

  /** The newest checkpoint, which a present key signed. @param {string} note @returns {Promise<Checkpoint>} */
  newest(note) {
    return readCheckpoint(note, this.keys, this.witnesses);
  }

  /** @param {string} note @returns {Promise<boolean>} */
  async knowsSigner(note) {
    return (await signers(note, this.keys)).length > 0;
  }

  /** The same keys under the name of a log that began anew. @param {string} origin @returns {Trust} */
  renamed(origin) {
    return new Trust(this.keys.map((key) => renamed(key, origin)), [], this.witnesses);
  }

  /** A checkpoint that was remembered: whoever signed it then. @param {string} note @returns {Promise<Checkpoint>} */
  remembered(note) {
    return readCheckpoint(note, [...this.keys, ...this.earlier], this.witnesses);
  }

  /**
   * A proof whose checkpoint a present key signed, or that is no larger than the newest one: it may be of the time of a key
   * that this reader never knew, and has to be consistent with the newest one all the same. Null where it is neither.
   * @param {string} text @param {Checkpoint} newest @returns {Promise<Proof | null>}
   */
  async proof(text, newest) {
    const proof = await readProof(text, this.keys, this.witnesses, { anyone: true });
    const { note, size, origin } = proof.checkpoint;
    if (origin !== newest.origin) return null;
    return size <= newest.size || (await this.knowsSigner(note)) ? proof : null;
  }

  /** Whether the keys seem to change: one more signed, or one of them did not. @param {Checkpoint} newest @returns {Promise<boolean>} */
  async asksForKeys(newest) {
    return (await signers(newest.note, this.keys)).length < this.keys.length || hasOtherSigner(newest, this.keys);
  }

  /**
   * With those of the named keys that signed the newest checkpoint, for which the known one that signed it vouches.
   * @param {VerifierKey[]} named @param {Checkpoint} newest @returns {Promise<Trust>}
   */
  async withKeys(named, newest) {
    const signing = await signers(newest.note, named.filter(({ name }) => name === newest.origin));
    return signing.length ? this.replacedBy(signing) : this;
  }

  /** With other keys, on somebody's word. @param {VerifierKey[]} keys @returns {Trust} */
  replacedBy(keys) {
    return new Trust(keys, others([...this.keys, ...this.earlier], keys), this.witnesses);
  }
}
