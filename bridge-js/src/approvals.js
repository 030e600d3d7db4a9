// @ts-check
// What a person's own vault signed of an export, and whose key that was: checked before anything of it is used. The
// service hands out what is sealed, and could hand out data of its own making. It cannot sign: each person has a key for
// this app, which is kept at the first approval, and another is refused unless the old one led to it.

import { calculateJwkThumbprint } from "./jose.js";
import { requestDigest } from "./formats/canonical.js";
import { KeyRefused, Refused } from "./formats/errors.js";
import { checkClaims, checkOwnerKey, numberOf, sha256, uncheckedClaims, verified, verifiedByBoth } from "./signatures.js";

/** @typedef {import("./index.js").AskedConsent} AskedConsent */
/** @typedef {import("./index.js").Envelope} Envelope */
/** @typedef {import("./index.js").OwnerKey} OwnerKey */
/** @typedef {import("./index.js").Pin} Pin */

const WHAT = "the approval";
const STEP = "a step of the key's history";
const MOST_STEPS = 1000;
const LEEWAY = 300; // seconds that two clocks may differ

/** Another key than this person's: `reset` where they lost their vault, which `acceptOwnerKey` takes. */
export class OwnerKeyChanged extends KeyRefused {
  /** @param {string} reason @param {OwnerKey} key @param {boolean} reset */
  constructor(reason, key, reset) {
    super(`${reason} (${key.x}): ask the person on another way before you take it`, "owner_key");
    this.key = key;
    this.reset = reset;
  }
}

/** The key of each person by issuer and sharing ID, as it was first met. In memory; `dump` persists. */
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
    if (pin.key.x !== key.x && !pin.earlier.includes(await kid(key))) {
      pin.earlier.push(await kid(pin.key));
      pin.key = key;
    }
    if (!pin.approvals.includes(sha256(approval))) pin.approvals.push(sha256(approval));
    this.entries.set(name, pin);
  }
}

/** @param {OwnerKey} key */
const kid = (key) => calculateJwkThumbprint({ ...key }, "sha256");

/**
 * Refused unless the person's own vault signed exactly this export of exactly what was asked; pins their key.
 * @param {Envelope} envelope @param {AskedConsent} asked @param {string} issuer
 * @param {{pins: KeyPins}} options
 */
export async function checkApproval(envelope, asked, issuer, { pins }) {
  const { approval, owner_key } = envelope;
  const pin = pins.find(issuer, asked.user_id);
  const key = checkOwnerKey(owner_key, "the person's key");
  await checkSays(await verified(approval, "consent-approval+jwt", key, WHAT), envelope, asked, issuer);
  await checkKnown(envelope, asked, key, pin, issuer);
  await pins.keep(issuer, asked.user_id, key, approval);
}

/** @param {Record<string, any>} claims @param {Envelope} envelope @param {AskedConsent} asked @param {string} issuer */
async function checkSays(claims, envelope, asked, issuer) {
  const [iat, endsAt, duration] = ["iat", "ends_at", "access_duration"].map((name) => numberOf(claims, name, WHAT));
  if (Number(endsAt) <= Date.now() / 1000 - LEEWAY) throw new Refused(`${WHAT} is over`, "ends_at");
  if (Number(duration) > asked.access_duration) throw new Refused(`${WHAT}'s access_duration is longer than was asked for`, "access_duration");
  const expected = {
    iss: issuer,
    sub: asked.user_id,
    aud: asked.app_id,
    iat,
    ends_at: envelope.revision === 1 ? Number(iat) + Number(duration) : endsAt,
    request_id: asked.request_id,
    request_digest: await requestDigest({ ...asked.request }), // made here of what was asked, and not taken over
    revision: envelope.revision,
    access_duration: duration,
    approved_attributes: [...envelope.approved_attributes].sort(),
    export_sha256: sha256(envelope.jwe),
  };
  checkClaims(claims, expected, WHAT);
}

/** @param {Envelope} envelope @param {AskedConsent} asked @param {OwnerKey} key @param {Pin | undefined} pin @param {string} issuer */
async function checkKnown(envelope, asked, key, pin, issuer) {
  const reset = envelope.owner_key_reset;
  if (!pin) {
    if (reset) throw new OwnerKeyChanged("the person lost their vault, and this key is new", key, true);
    return;
  }
  // what an earlier key signed counts where it was taken while that key did, and never anew
  const takenBefore = pin.earlier.includes(await kid(key)) && pin.approvals.includes(sha256(String(envelope.approval)));
  if (pin.key.x === key.x || takenBefore) return;
  if (await leads(envelope.key_history, pin.key, key, asked, issuer)) return;
  throw new OwnerKeyChanged(reset ? "the person lost their vault, and this key is new" : "this is another key than the one that is kept", key, reset);
}

/**
 * Whether the steps lead from the one key to the other, each signed by both of its keys and numbered in order.
 * @param {any[]} history @param {OwnerKey} start @param {OwnerKey} end @param {AskedConsent} asked @param {string} issuer
 */
async function leads(history, start, end, asked, issuer) {
  let current = start;
  let seq = 0;
  for (const step of history.slice(0, MOST_STEPS)) {
    const said = uncheckedClaims(step, STEP);
    const [before, after] = [checkOwnerKey(said.old, "a step's old key"), checkOwnerKey(said.new, "a step's new key")];
    const claims = await verifiedByBoth(step, "approval-key-rotation+jwt", [before, after], STEP);
    const found = numberOf(claims, "seq", STEP);
    if (claims.iss !== issuer || claims.sub !== asked.user_id || claims.aud !== asked.app_id || (seq && found !== seq + 1)) {
      throw new Refused(`${STEP} is of another person, app or place`, "key_history");
    }
    seq = found;
    if (before.x === current.x) current = after;
  }
  return current.x === end.x;
}
