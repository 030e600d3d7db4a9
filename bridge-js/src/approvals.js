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

/** @param {string} approval ASCII */
const digestOf = (approval) => toBase64url(sha256(utf8(approval)));

/** Another key than this person's: `reset` where they lost their vault, which `acceptOwnerKey` takes. */
export class OwnerKeyChanged extends KeyRefused {
  /** @param {string} reason @param {OwnerKey} key @param {boolean} reset */
  constructor(reason, key, reset) {
    super(`${reason} (${key.x}): ask the person on another way before you take it`, "owner_key");
    this.key = key;
    this.reset = reset;
  }
}

/** The key of each person by issuer and user_id, as it was first met. In memory; `dump` persists. */
export class KeyPins {
  /** @type {Map<string, Pin>} */ entries = new Map();

  /** @param {Record<string, Pin>} [stored] what `dump` gave */
  constructor(stored = {}) {
    for (const [name, { key, earlier = [], approvals = [] }] of Object.entries(stored)) {
      this.entries.set(name, { key: checkOwnerKey(key, "the kept key"), earlier: [...earlier], approvals: [...approvals] });
    }
  }

  /** Plain JSON. @returns {Record<string, Pin>} */
  dump() {
    return structuredClone(Object.fromEntries(this.entries));
  }

  /** @param {string} issuer @param {string} userId */
  find(issuer, userId) {
    return this.entries.get(`${issuer} ${userId}`);
  }

  /** Take this key as the person's, by somebody's decision. @param {string} issuer @param {string} userId @param {unknown} key */
  accept(issuer, userId, key) {
    this.entries.set(`${issuer} ${userId}`, { key: checkOwnerKey(key), earlier: [], approvals: [] });
  }

  /** Remember what was checked. @param {string} issuer @param {string} userId @param {OwnerKey} key @param {string} approval */
  async keep(issuer, userId, key, approval) {
    const name = `${issuer} ${userId}`;
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
 * @param {Envelope} envelope @param {MadeRequest} asked @param {string} issuer
 * @param {{pins: KeyPins}} options
 */
export async function checkApproval(envelope, asked, issuer, { pins }) {
  const { approval, owner_key } = envelope;
  const pin = pins.find(issuer, asked.user_id);
  const key = checkOwnerKey(owner_key, "the person's key");
  await verifyApproval(envelope, asked, issuer, key);
  await checkKnown(envelope, asked, key, pin, issuer);
  await pins.keep(issuer, asked.user_id, key, approval);
}

/** @param {Envelope} envelope @param {MadeRequest} asked @param {OwnerKey} key @param {Pin | undefined} pin @param {string} issuer */
async function checkKnown(envelope, asked, key, pin, issuer) {
  const reset = envelope.owner_key_reset;
  if (!pin) {
    if (reset) throw new OwnerKeyChanged("the person lost their vault, and this key is new", key, true);
    return;
  }
  // what an earlier key signed counts where it was taken while that key did, and never anew
  const takenBefore = pin.earlier.includes(await keyThumbprint(key)) && pin.approvals.includes(digestOf(String(envelope.approval)));
  if (pin.key.x === key.x || takenBefore) return;
  if (await leads(envelope.key_history, pin.key, key, asked, issuer)) return;
  throw new OwnerKeyChanged(reset ? "the person lost their vault, and this key is new" : "this is another key than the one that is kept", key, reset);
}
