// @ts-check
// A log as one reader sees it. Whoever shows this reader another log than before, or an older one, is found: every
// checkpoint must be consistent with the last one. What is seen for the first time can only be taken as it is; witnesses
// say that others see the same.

import { BadAnswer, Problem } from "./errors.js";
import { fromUtf8, toBase64 } from "./formats/bytes.js";
import { digestOfReceipt, leafOf, readChain, readEntry } from "./formats/entries.js";
import { Refused, shown } from "./formats/errors.js";
import { isObject } from "./formats/json.js";
import { checkProof, readHashes, readKeys } from "./formats/notes.js";
import { LATE_SECONDS, newestInLog } from "./formats/trust.js";
import { Memories, Memory, NothingPublished, trusted } from "./memories.js";
import { sleep, Transport } from "./transport.js";

/** @typedef {import("./index.js").Claims} Claims */
/** @typedef {import("./index.js").Entry} Entry */
/** @typedef {import("./index.js").LogSight} LogSight */
/** @typedef {import("./formats/notes.js").Checkpoint} Checkpoint */
/** @typedef {import("./formats/notes.js").Proof} Proof */

/**
 * The entry and proof that came with a receipt; Refused where they are not of it, or prove nothing. No network is asked.
 * @param {Claims} claims @param {Record<string, any>} answer `entry` and `proof` as `GET /receipts/{id}?proof=1` answers them
 * @param {Memory} memory @param {{tied?: boolean}} [use] as `readProof` of the memory has it
 * @returns {Promise<{entry: Entry, proof: Proof}>}
 */
export async function provenEvent(claims, answer, memory, use = {}) {
  const entry = readEntry(answer.entry);
  if (typeof answer.proof !== "string") throw new Refused("the receipt came without a proof", "proof");
  checkBelongs(claims, entry);
  const proof = await memory.readProof(answer.proof, use);
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
  if (claims.event?.type !== entry.kind) throw new Refused(`the entry is of another event: ${shown(entry.kind)}`, "event.type");
  const { facts } = entry;
  // with the receipt itself alone are facts erased: any leaf would prove it
  if (facts === null) throw new Refused("the entry's facts are gone, and with them what ties it to the receipt", "facts");
  if (facts.receipt_id !== claims.receipt_id) throw new Refused("the entry is of another receipt", "receipt_id");
  if (facts.receipt_digest !== digestOfReceipt(claims)) throw new Refused("the receipt does not say what its entry holds", "receipt_digest");
}

/** @param {Checkpoint} checkpoint @param {boolean | null} fresh @returns {LogSight} */
export const sightOf = ({ origin, size, root, cosignatures }, fresh) => ({
  origin,
  size,
  root: toBase64(root),
  cosigned_by: cosignatures.map(({ witness }) => witness),
  fresh,
});

/** @param {Claims} claims @param {Record<string, any>} answer @param {import("./index.js").LogTrust} trust */
export async function verifyReceiptProof(claims, answer, trust) {
  const memory = new Memory(trusted(trust), null, true);
  const { entry, proof } = await provenEvent(claims, answer, memory);
  return { entry, index: proof.index, log: sightOf(proof.checkpoint, memory.tie(proof.checkpoint, []).isFresh()) };
}

/** Whether an entry of this time should have been in the log for long: it takes new ones every few seconds. @param {Entry} entry */
function isLate({ at }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) throw new Refused("the entry has no time", "at");
  return Date.now() - time > LATE_SECONDS * 1000;
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

  /** @param {string} origin @returns {Promise<LogSight>} */
  async acceptEpoch(origin) {
    const memory = await this.#memories.find(this.#transport.baseUrl);
    if (!memory) throw new Refused("this log was never looked at");
    const newest = await memory.begunAnew(await this.#published(memory));
    if (newest?.origin !== origin) {
      throw new Refused(`the log did not begin anew as ${origin}, or no key that is known signed it`, "origin");
    }
    return this.#keep(memory.accepting(newest));
  }

  /** @param {Claims} claims @param {Record<string, any>} answer */
  async proveReceipt(claims, answer) {
    const memory = await this.#looked();
    const { entry, proof } = await provenEvent(claims, answer, memory, { tied: true });
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
    const found = { chain: first.chain, entries: entries.length };
    /** @type {Memory} */
    let memory;
    try {
      memory = await this.#looked();
    } catch (error) {
      if (!(error instanceof NothingPublished)) throw error;
      return { ...found, in_log: 0, late: isLate(first), log: null };
    }
    const log = this.#keep(memory);
    const newest = await newestInLog(entries.length, (number) => this.#has(/** @type {Entry} */ (entries[number - 1]), memory));
    const [waiting] = entries.slice(newest);
    return { ...found, in_log: newest, late: waiting !== undefined && isLate(waiting), log };
  }

  /** Whether the log has an entry, by a proof that fits what was seen; Refused where it does not hold. @param {Entry} entry @param {Memory} memory */
  async #has(entry, memory) {
    const text = await this.#text(`/log/proof/${encodeURIComponent(entry.entry_hash)}`, {}, true);
    if (text === null) return false;
    const proof = await memory.readProof(text, { tied: true });
    memory.requireWitnesses(proof.checkpoint);
    checkProof(proof, leafOf(entry));
    await this.#tied(memory, proof.checkpoint);
    return true;
  }

  /** What is remembered once the newest checkpoint was looked at; the keys are pinned at the first look. @returns {Promise<Memory>} */
  async #looked() {
    const before = await this.#memories.find(this.#transport.baseUrl);
    const known = before ?? new Memory({ keys: await this.#keys(), witnesses: [], quorum: null, earlier: [] });
    const newest = await known.read(await this.#published(known));
    known.requireNoRollback(newest);
    const seen = await this.#tied(known, newest);
    return (await seen.asksForKeys()) ? seen.withKeys(await this.#keys()) : seen;
  }

  /** The newest checkpoint that is published; NothingPublished where there is none yet. @param {Memory} memory @returns {Promise<string>} */
  async #published(memory) {
    try {
      return /** @type {string} */ (await this.#text("/log/checkpoint"));
    } catch (error) {
      throw error instanceof Problem && error.status === 404 ? memory.ofNoCheckpoint() : error;
    }
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
      return fromUtf8(body);
    } catch {
      throw new BadAnswer("the answer is no text");
    }
  }
}
