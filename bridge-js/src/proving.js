// @ts-check
// What the service signed, verified with its public keys, which are asked for once and again where they were rotated.

import { UnknownKey } from "./formats/errors.js";
import { verifyReceipt } from "./formats/receipts.js";
import { LogReader } from "./logs.js";
import { KEYS, shaped } from "./shapes.js";
import { jsonOf } from "./transport.js";

/** @typedef {import("./index.js").Claims} Claims */
/** @typedef {import("./index.js").KeySet} KeySet */

/** The proofs of one service. */
export class Proving {
  /** @type {KeySet | null} */ #keys = null;
  #public;

  /** @param {import("./transport.js").Transport} transport under the origin, without a token @param {import("./index.js").LogOptions} options */
  constructor(transport, options) {
    this.#public = transport;
    this.log = new LogReader(transport, options);
  }

  /** @returns {Promise<KeySet>} */
  async keys() {
    /** @type {KeySet} */
    const keys = shaped(KEYS, jsonOf(await this.#public.send("/.well-known/consent-keys.json", {})));
    this.#keys = keys;
    return keys;
  }

  /** @param {string} receiptId @param {string} jws */
  async receipt(receiptId, jws) {
    const claims = await this.#verified((jwks) => verifyReceipt(jws, jwks, { receipt_id: receiptId }));
    return { receipt_id: receiptId, jws, claims };
  }

  /** @param {string} receiptId @param {Record<string, any>} answer with `jws`, `entry` and `proof` */
  async receiptWithProof(receiptId, answer) {
    const receipt = await this.receipt(receiptId, String(answer.jws));
    return { ...receipt, ...(await this.log.proveReceipt(receipt.claims, answer)) };
  }

  /** @param {(jwks: KeySet) => Promise<Claims>} verify */
  async #verified(verify) {
    if (this.#keys) {
      try {
        return await verify(this.#keys);
      } catch (error) {
        // The keys may have been rotated since they were fetched.
        if (!(error instanceof UnknownKey)) throw error;
      }
    }
    return verify(await this.keys());
  }
}
