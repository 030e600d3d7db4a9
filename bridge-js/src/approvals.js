// @ts-check
// What a person's own vault signed of an export, and whose key that was: checked before anything of it is used. The
// service hands out what is sealed, and could hand out data of its own making. It cannot sign: each person has a key for
// this app, which is kept at the first approval, and another is refused unless the old one led to it.

import { leads, verifyApproval } from "./formats/approvals.js";
import { toBase64url, utf8 } from "./formats/bytes.js";
import { KeyRefused } from "./formats/errors.js";
import { checkOwnerKey, keyThumbprint } from "./formats/jws.js";
import { sha256 } from "./formats/sha256.js";

/** @typedef {import("./index.js").MadeRequest} MadeRequest */
/** @typedef {import("./index.js").Envelope} Envelope */
/** @typedef {import("./index.js").OwnerKey} OwnerKey */
/** @typedef {import("./index.js").Pin} Pin */
/** @typedef {import("./index.js").StoredPin} StoredPin */
/** @typedef {import("./index.js").NewKey} NewKey */

/** @param {string} approval ASCII */
const digestOf = (approval) => toBase64url(sha256(utf8(approval)));

const WAIT = 7 * 24 * 3600; // seconds: as long as a vault that is given up can be taken back

/** @param {number} at seconds since 1970 */
const textOf = (at) => new Date(at * 1000).toISOString().replace(/\.\d+Z$/, "Z");

/** Another key than this person's: `reset` where they lost their vault. `acceptOwnerKey` takes it later. */
export class OwnerKeyChanged extends KeyRefused {
  /** @param {string} reason with the time from which on it can be accepted @param {OwnerKey} key @param {boolean} reset */
  constructor(reason, key, reset) {
    super(reason, "owner_key");
    this.key = key;
    this.reset = reset;
  }
}

/** The key of each person by issuer and user_id, as it was first met. In memory; `dump` persists. */
export class KeyPins {
  /** @type {Map<string, Pin>} */ entries = new Map();
  /** @type {Map<string, NewKey>} */ #new = new Map();
  #now;

  /** @param {Record<string, StoredPin>} [stored] what `dump` gave @param {{now?: () => number}} [options] */
  constructor(stored = {}, { now = Date.now } = {}) {
    this.#now = now;
    for (const [name, { key, earlier = [], approvals = [], new: other }] of Object.entries(stored)) {
      if (other && !Number.isSafeInteger(other.met_at)) throw new KeyRefused("it is not known when a kept new key was met", "met_at");
      if (other) this.#new.set(name, { ...other });
      if (key || !other) {
        this.entries.set(name, { key: checkOwnerKey(key, "the kept key"), earlier: [...earlier], approvals: [...approvals] });
      }
    }
  }

  /** Plain JSON. @returns {Record<string, StoredPin>} */
  dump() {
    /** @type {Record<string, StoredPin>} */
    const kept = Object.fromEntries(this.entries);
    for (const [name, other] of this.#new) kept[name] = { ...kept[name], new: other };
    return structuredClone(kept);
  }

  /** @param {string} issuer @param {string} userId */
  find(issuer, userId) {
    return this.entries.get(`${issuer} ${userId}`);
  }

  /**
   * Take this key as the person's, by somebody's decision. KeyRefused until seven days after this client met it, which begin
   * now where it never did: meanwhile the person sees that the service names a root that is not their vault's.
   * @param {string} issuer @param {string} userId @param {unknown} key
   */
  accept(issuer, userId, key) {
    const name = `${issuer} ${userId}`;
    const taken = checkOwnerKey(key);
    if (this.entries.get(name)?.key.x === taken.x) return;
    const possibleAt = this.meet(issuer, userId, taken);
    if (this.#now() < possibleAt * 1000) {
      throw new KeyRefused(`this key can be accepted from ${textOf(possibleAt)} on, seven days after this client met it`, "owner_key");
    }
    this.entries.set(name, { key: taken, earlier: [], approvals: [] });
    this.#new.delete(name);
  }

  /**
   * Note that this key came in place of the person's own: when it can be accepted (seconds since 1970).
   * @param {string} issuer @param {string} userId @param {OwnerKey} key
   */
  meet(issuer, userId, { x }) {
    const name = `${issuer} ${userId}`;
    const known = this.#new.get(name);
    const now = Math.floor(this.#now() / 1000);
    const other = known?.x === x && known.met_at <= now ? known : { x, met_at: now }; // a clock may have been ahead, and set right
    this.#new.set(name, other);
    return other.met_at + WAIT;
  }

  /** Remember what was checked. @param {string} issuer @param {string} userId @param {OwnerKey} key @param {string} approval */
  async keep(issuer, userId, key, approval) {
    const name = `${issuer} ${userId}`;
    this.#new.delete(name); // a reset ends all that the old key signed: who still reads it met none
    const pin = this.entries.get(name) ?? { key, earlier: [], approvals: [] };
    if (pin.key.x !== key.x && !pin.earlier.includes(await keyThumbprint(key))) {
      pin.earlier.push(await keyThumbprint(pin.key));
      pin.key = key;
    }
    if (!pin.approvals.includes(digestOf(approval))) pin.approvals.push(digestOf(approval));
    this.entries.set(name, pin);
  }
}

/**
 * Refused unless the person's own vault signed exactly this export of exactly what was asked; pins their key.
 * @param {Envelope} envelope @param {MadeRequest} request @param {string} issuer
 * @param {{pins: import("./index.js").KeyPins}} options
 */
export async function checkApproval(envelope, request, issuer, { pins }) {
  const { approval, owner_key } = envelope;
  const key = checkOwnerKey(owner_key, "the person's key");
  await verifyApproval(envelope, request, issuer, key);
  await checkKnown(envelope, request, key, pins, issuer);
  await pins.keep(issuer, request.user_id, key, approval);
}

/** @param {Envelope} envelope @param {MadeRequest} request @param {OwnerKey} key @param {import("./index.js").KeyPins} pins @param {string} issuer */
async function checkKnown(envelope, request, key, pins, issuer) {
  const pin = pins.find(issuer, request.user_id);
  const reset = envelope.owner_key_reset;
  if (!pin && !reset) return;
  if (pin) {
    // what an earlier key signed counts where it was taken while that key did, and never anew
    const takenBefore = pin.earlier.includes(await keyThumbprint(key)) && pin.approvals.includes(digestOf(String(envelope.approval)));
    if (pin.key.x === key.x || takenBefore) return;
    if (await leads(envelope.key_history, pin.key, key, request, issuer)) return;
  }
  const reason = reset ? "the person lost their vault, and this key is new" : "this is another key than the one kept";
  const possibleAt = textOf(pins.meet(issuer, request.user_id, key));
  throw new OwnerKeyChanged(`${reason} (${key.x}): ask the person on another way; it can be accepted from ${possibleAt} on`, key, reset);
}
