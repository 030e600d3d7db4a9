// @ts-check
// What a reader keeps of a log between two looks: whom it believes, and the last checkpoint that it saw. A file of it has
// the form of the client for Python, so that both can use one.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { parseObject } from "./formats/json.js";
import { toHex } from "./formats/bytes.js";
import { BridgeError, Refused, shown } from "./formats/errors.js";
import { isConsistent } from "./formats/merkle.js";
import { keyIds, missing, originOf, readKey, readProof, signers } from "./formats/notes.js";
import { isConfirmed, keysSeemToChange, knowsSigner, readNewest, readRemembered, renamedTo, withKeys } from "./formats/trust.js";

/** @typedef {import("./formats/notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./formats/notes.js").VerifierKey} VerifierKey */
/** @typedef {import("./formats/trust.js").Trust} Trust */

/** The newest checkpoint is signed with no key that this reader knows, so that nobody vouches for the new one. */
export class LogKeyChanged extends Refused {}

/**
 * A known key signed the tree of another name: `last` is what was seen, `newest` the new tree's. So a log begins anew after a
 * restore without a mirror. What was lost cannot be seen from here, so that only the caller's word takes the new tree.
 */
export class LogEpochChanged extends Refused {
  /** @param {Checkpoint} last @param {Checkpoint} newest */
  constructor(last, newest) {
    const reason = `the log ${last.origin}, last seen with ${last.size} entries, begins anew as ${newest.origin}`;
    super(`${reason}: ask the operator what was restored before you accept it`, "origin");
    this.last = { origin: last.origin, size: last.size };
    this.newest = { origin: newest.origin, size: newest.size };
  }
}

/** The log has no checkpoint yet, and this reader never saw one: there is nothing to compare with. */
export class NothingPublished extends BridgeError {
  constructor() {
    super("nothing has been published in the log yet; it takes what is new every few seconds: come back");
  }
}

/** @param {import("./index.js").LogTrust} trust @returns {Trust} */
export const trusted = ({ keys, witnesses = [], quorum = null }) => ({
  keys: keys.map((key) => readKey(key.trim())),
  witnesses: witnesses.map((key) => readKey(key.trim())),
  quorum,
  earlier: [],
});

/** What one reader remembers. Nothing of it changes: each look makes another. */
export class Memory {
  /**
   * @param {Trust} trust @param {Checkpoint | null} [checkpoint] @param {boolean} [fixed] where the caller named the keys: no other
   *   is learned @param {string[]} [ended] the last checkpoints seen of trees that another took the place of, as signed notes
   */
  constructor(trust, checkpoint = null, fixed = false, ended = []) {
    this.trust = trust;
    this.checkpoint = checkpoint;
    this.fixed = fixed;
    this.ended = ended;
  }

  /** @param {{trust?: Trust, checkpoint?: Checkpoint, ended?: string[]}} changes */
  #with({ trust = this.trust, checkpoint, ended = this.ended }) {
    return new Memory(trust, checkpoint ?? this.checkpoint, this.fixed, ended);
  }

  /** The newest checkpoint, by its own signature; that it follows from the last one is not said yet. @param {string} note */
  async read(note) {
    if (this.checkpoint && !(await knowsSigner(this.trust, note))) {
      const newest = await this.begunAnew(note);
      if (newest) throw new LogEpochChanged(this.checkpoint, newest);
      const reason = "the log is signed with another key, and none that this reader knows vouches for it";
      throw new LogKeyChanged(`${reason}: ask the operator on another way before you take it`, "signature");
    }
    return readNewest(this.trust, note);
  }

  /** The newest checkpoint where a known key signed it under another name than the last one's; else null. @param {string} note @returns {Promise<Checkpoint | null>} */
  async begunAnew(note) {
    const origin = originOf(note);
    if (!this.checkpoint || origin === this.checkpoint.origin) return null;
    const trust = renamedTo(this.trust, origin);
    return (await knowsSigner(trust, note)) ? readNewest(trust, note) : null;
  }

  /** The memory that goes on with a tree that began anew. @param {Checkpoint} newest */
  accepting(newest) {
    const ended = [...this.ended, ...(this.checkpoint ? [this.checkpoint.note] : [])];
    return this.#with({ trust: renamedTo(this.trust, newest.origin), checkpoint: newest, ended });
  }

  /** What it is that nothing is published: not begun, or, where something was seen before, taken away. @returns {BridgeError} */
  ofNoCheckpoint() {
    if (!this.checkpoint) return new NothingPublished();
    return new Refused(`the log publishes nothing and had ${this.checkpoint.size} entries when it was last seen`, "size");
  }

  /** Refuse a proof of a key that this reader does not know: which one it takes, and what else would do. @param {string} note */
  async #requireKnownSigner(note) {
    const known = [...this.trust.keys, ...this.trust.earlier];
    if ((await signers(note, known)).length) return;
    const own = known.map(({ keyId }) => toHex(keyId)).join(", ");
    const reason = `the proof is signed by the key ${keyIds(note).join(", ") || "none"} of ${shown(originOf(note))}, and known are ${own}`;
    const more = "give that key, which the operator and who looked at /log/key then have, or look online";
    throw new Refused(`${reason}: ${more}, since the newest checkpoint begins with the one of the proof`, "signature");
  }

  /**
   * A tlog-proof against a checkpoint of this log that a known key signed, a key of its time included. Where the caller goes
   * on to tie the checkpoint to the last one, that says as much, and the key of its time need not be known. What is newer
   * than the last one takes a present key in any case.
   * @param {string} text @param {{tied?: boolean}} [use]
   */
  async readProof(text, { tied = false } = {}) {
    const { keys, earlier, witnesses } = this.trust;
    if (!tied) await this.#requireKnownSigner(text.slice(text.indexOf("\n\n") + 2));
    const proof = await readProof(text, [...keys, ...earlier], witnesses, { anyone: tied });
    const { note, size } = proof.checkpoint;
    if (!(await signers(note, keys)).length && (!this.checkpoint || size > this.checkpoint.size)) {
      throw new Refused("no key that counts now signed this checkpoint", "signature");
    }
    return proof;
  }

  /** Refuse a checkpoint with too few cosignatures. @param {Checkpoint} checkpoint */
  requireWitnesses(checkpoint) {
    const absent = missing(checkpoint, this.trust.witnesses, this.trust.quorum);
    if (absent.length) throw new Refused(`not cosigned by ${absent.join(", ")}`, "cosignatures");
  }

  /** Refuse a newest checkpoint that is older than what was seen: what is published never gets smaller. @param {Checkpoint} newest */
  requireNoRollback({ size }) {
    if (this.checkpoint && size < this.checkpoint.size) {
      const reason = `the log has ${size} entries and had ${this.checkpoint.size} when it was last seen`;
      throw new Refused(`${reason}: it was rolled back`, "size");
    }
  }

  /** Between which sizes a proof is needed; null where there is none to ask for. @param {Checkpoint} seen @returns {[number, number] | null} */
  gap(seen) {
    const last = this.checkpoint?.size ?? 0;
    const [old, now] = last <= seen.size ? [last, seen.size] : [seen.size, last];
    return old > 0 && old < now ? [old, now] : null;
  }

  /**
   * The memory once this was seen; Refused where one of it and the last does not begin with the other.
   * @param {Checkpoint} seen @param {Uint8Array[]} proof between the two sizes, which `gap` names
   */
  tie(seen, proof) {
    const last = this.checkpoint;
    if (!last) return this.#with({ checkpoint: seen });
    if (seen.origin !== last.origin) {
      throw new Refused(`this is the log ${shown(seen.origin)}; the last one was ${shown(last.origin)}`, "origin");
    }
    const [old, now] = last.size <= seen.size ? [last, seen] : [seen, last];
    if (old.size > 0 && !isConsistent(old.size, old.root, now.size, now.root, proof)) {
      throw new Refused("the log was rewritten: it does not fit what was last seen of it", "root");
    }
    return this.#with({ checkpoint: seen.size >= last.size ? seen : last });
  }

  /** Whether the keys of the log seem to change: one more signed the last checkpoint, or one of them did not. */
  async asksForKeys() {
    if (!this.checkpoint || this.fixed) return false;
    return keysSeemToChange(this.trust, this.checkpoint);
  }

  /**
   * The memory with those of the keys that the service names which signed the last checkpoint. A key that was known signed
   * it as well (`read`), and so vouches for them. What signs no more is an earlier.
   * @param {VerifierKey[]} named
   */
  async withKeys(named) {
    return this.checkpoint ? this.#with({ trust: await withKeys(this.trust, named, this.checkpoint) }) : this;
  }

  /** Whether as many witnesses as have to cosigned the last checkpoint within a day; null where none is known. @returns {boolean | null} */
  isFresh() {
    if (!this.trust.witnesses.length) return null;
    return this.checkpoint !== null && isConfirmed(this.checkpoint, this.trust);
  }

  /** Plain JSON. */
  dump() {
    const { keys, earlier, witnesses, quorum } = this.trust;
    const texts = (/** @type {VerifierKey[]} */ list) => list.map(({ text }) => text);
    const checkpoint = this.checkpoint?.note ?? null;
    return { keys: texts(keys), earlier: texts(earlier), witnesses: texts(witnesses), quorum, checkpoint, ended: this.ended };
  }

  /** What `dump` gave. @param {Record<string, any>} stored */
  static async of({ keys = [], earlier = [], witnesses = [], quorum = null, checkpoint = null, ended = [] }) {
    const trust = { ...trusted({ keys, witnesses, quorum }), earlier: earlier.map(readKey) };
    const seen = checkpoint === null ? null : await readRemembered(trust, checkpoint);
    return new Memory(trust, seen, false, ended.map(String));
  }
}

/** The memories of a reader by the service's address: in a file that only this user can read, else as long as it lives. */
export class Memories {
  /** @type {Map<string, Memory>} */ #own = new Map();
  #path;
  #trust;

  /** @param {string | null} path @param {Trust | null} trust whom the caller trusts, who counts over whom a look pinned */
  constructor(path, trust) {
    this.#path = path;
    this.#trust = trust;
  }

  /** @param {string} service @returns {Promise<Memory | null>} */
  async find(service) {
    const stored = this.#path === null ? undefined : this.#kept()[service];
    const memory = stored === undefined ? (this.#own.get(service) ?? null) : await Memory.of(stored);
    return this.#trust ? new Memory(this.#trust, memory?.checkpoint ?? null, true, memory?.ended) : memory;
  }

  /** @param {string} service @param {Memory} memory */
  keep(service, memory) {
    this.#own.set(service, memory);
    if (this.#path === null) return;
    const kept = { ...this.#kept(), [service]: memory.dump() };
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    // written aside and moved, so that a reader or a crash never meets half of it
    const aside = `${this.#path}.${process.pid}.${crypto.randomUUID()}`;
    try {
      writeFileSync(aside, `${JSON.stringify(kept, null, 2)}\n`, { flag: "wx", mode: 0o600 });
      renameSync(aside, this.#path);
    } catch (error) {
      rmSync(aside, { force: true });
      throw error;
    }
  }

  /** @returns {Record<string, any>} */
  #kept() {
    const path = /** @type {string} */ (this.#path);
    return existsSync(path) ? parseObject(readFileSync(path), `the memory of logs ${path}`) : {};
  }
}
