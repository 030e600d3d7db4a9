// @ts-check
// A log as one reader sees it. Whoever shows this reader another log than before, or an older one, is found: every
// checkpoint must be consistent with the last one. What is seen for the first time can only be taken as it is; witnesses
// say that others see the same.

import { isObject } from "./encoding.js";
import { digestOfReceipt, leafOf, readChain, readEntry } from "./entries.js";
import { BadAnswer, Refused } from "./errors.js";
import { Memories, Memory, trusted } from "./memories.js";
import { checkProof, readHashes, readKeys } from "./notes.js";
import { sleep, Transport } from "./transport.js";

/** @typedef {import("./index.js").Claims} Claims */
/** @typedef {import("./index.js").Entry} Entry */
/** @typedef {import("./index.js").LogSight} LogSight */
/** @typedef {import("./notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./notes.js").Proof} Proof */

const ON_THEIR_WAY = 200; // entries that may be so new that the log does not have them yet

/**
 * The entry and proof that came with a receipt; Refused where they are not of it, or prove nothing. No network is asked.
 * @param {Claims} claims @param {Record<string, any>} told `entry` and `proof` as `GET /receipts/{id}?proof=1` answers them
 * @param {Memory} memory @param {{tied?: boolean}} [use] as `readProof` of the memory has it
 * @returns {{entry: Entry, proof: Proof}}
 */
export function provenEvent(claims, told, memory, use = {}) {
  const entry = readEntry(told.entry);
  if (typeof told.proof !== "string") throw new Refused("the receipt came without a proof", "proof");
  checkBelongs(claims, entry);
  const proof = memory.readProof(told.proof, use);
  memory.requireWitnesses(proof.checkpoint);
  checkProof(proof, leafOf(entry));
  return { entry, proof };
}

/** The copy names the entry, and its facts hold the receipt. @param {Claims} claims @param {Entry} entry */
function checkBelongs(claims, entry) {
  if (isObject(claims.audit) && Object.hasOwn(claims.audit, "chain")) {
    for (const member of /** @type {const} */ (["chain", "sequence", "entry_hash"])) {
      if (claims.audit[member] !== entry[member]) throw new Refused(`the receipt names another entry: ${member} differs`, `audit.${member}`);
    }
  }
  const { facts } = entry;
  if (facts === null) return; // erased: the copy's own word is what is left
  if (facts.receipt_id !== claims.receipt_id) throw new Refused("the entry is of another receipt", "receipt_id");
  if (Object.hasOwn(facts, "receipt_digest") && facts.receipt_digest !== digestOfReceipt(claims)) {
    throw new Refused("the receipt does not say what its entry holds", "receipt_digest");
  }
}

/** @param {Checkpoint} checkpoint @param {boolean | null} fresh @returns {LogSight} */
export const sightOf = ({ origin, size, root, cosignatures }, fresh) => ({
  origin,
  size,
  root: Buffer.from(root).toString("base64"),
  cosigned_by: cosignatures.map(({ witness }) => witness),
  fresh,
});

/** @param {Claims} claims @param {Record<string, any>} told @param {import("./index.js").LogTrust} trust */
export function verifyReceiptProof(claims, told, trust) {
  const memory = new Memory(trusted(trust), null, true);
  const { entry, proof } = provenEvent(claims, told, memory);
  return { entry, index: proof.index, log: sightOf(proof.checkpoint, memory.tie(proof.checkpoint, []).isFresh()) };
}

/** Looks at the log of one service, under its origin. Each call is described in index.d.ts. */
export class LogReader {
  #transport;
  #memories;

  /** @param {string | Transport} service @param {import("./index.js").LogOptions} [options] */
  constructor(service, { logMemory, logTrust, timeoutSeconds = 30, attempts = 3, pause = sleep } = {}) {
    const limits = { timeoutSeconds, attempts, pause };
    this.#transport = typeof service === "string" ? new Transport(new URL(service).origin, {}, limits) : service;
    this.#memories = new Memories(logMemory ?? null, logTrust ? trusted(logTrust) : null);
  }

  /** @returns {Promise<LogSight>} */
  async follow() {
    return this.#keep(await this.#looked());
  }

  /** @param {Claims} claims @param {Record<string, any>} told */
  async proveReceipt(claims, told) {
    const memory = await this.#looked();
    const { entry, proof } = provenEvent(claims, told, memory, { tied: true });
    const log = this.#keep(await this.#tied(memory, proof.checkpoint));
    return { entry, index: proof.index, log };
  }

  /** @param {Record<string, any> | Record<string, any>[]} history */
  async verifyHistory(history) {
    const pages = Array.isArray(history) ? history : [history];
    if (!pages.every((page) => isObject(page) && Array.isArray(page.entries))) {
      throw new Refused("this is no history: give what /consent/history/chain answers");
    }
    const entries = readChain(pages.flatMap((page) => page.entries));
    const [first] = entries;
    if (!first) throw new Refused("there is no entry in this history");
    const memory = await this.#looked();
    const log = this.#keep(memory);
    return { chain: first.chain, entries: entries.length, in_log: await this.#newest(entries, memory), log };
  }

  /** The newest entry that the log has; it holds all before it. What is seconds old may be on its way. @param {Entry[]} entries @param {Memory} memory */
  async #newest(entries, memory) {
    for (const entry of entries.slice(-ON_THEIR_WAY).reverse()) {
      const text = await this.#text(`/log/proof/${encodeURIComponent(entry.entry_hash)}`, {}, true);
      if (text === null) continue;
      const proof = memory.readProof(text, { tied: true });
      memory.requireWitnesses(proof.checkpoint);
      checkProof(proof, leafOf(entry));
      await this.#tied(memory, proof.checkpoint);
      return entry.sequence;
    }
    if (entries.length > ON_THEIR_WAY) throw new Refused(`the log has none of the newest ${ON_THEIR_WAY} entries`, "proof");
    return 0;
  }

  /** What is remembered once the newest checkpoint was looked at; the keys are pinned at the first look. @returns {Promise<Memory>} */
  async #looked() {
    const before = this.#memories.find(this.#transport.baseUrl);
    const known = before ?? new Memory({ keys: await this.#keys(), witnesses: [], quorum: null, earlier: [] });
    const newest = known.read(/** @type {string} */ (await this.#text("/log/checkpoint")));
    known.requireNoRollback(newest);
    const seen = await this.#tied(known, newest);
    return seen.asksForKeys() ? seen.withKeys(await this.#keys()) : seen;
  }

  /** @param {Memory} memory @param {Checkpoint} seen */
  async #tied(memory, seen) {
    const gap = memory.gap(seen);
    if (!gap) return memory.tie(seen, []);
    const text = await this.#text("/log/consistency", { old: gap[0], new: gap[1] });
    return memory.tie(seen, readHashes(/** @type {string} */ (text).split("\n").filter(Boolean)));
  }

  async #keys() {
    return readKeys(/** @type {string} */ (await this.#text("/log/key")));
  }

  /** @param {Memory} memory @returns {LogSight} */
  #keep(memory) {
    this.#memories.keep(this.#transport.baseUrl, memory);
    return sightOf(/** @type {Checkpoint} */ (memory.checkpoint), memory.isFresh());
  }

  /** @param {string} path @param {Record<string, unknown>} [params] @param {boolean} [maybe] null where the answer is not there yet */
  async #text(path, params = {}, maybe = false) {
    const { status, body } = await this.#transport.send(path, { params });
    if (maybe && status !== 200) return null;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    } catch {
      throw new BadAnswer("the answer is no text");
    }
  }
}
