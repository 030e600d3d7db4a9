// @ts-check
// Checks what we signed with what is in this browser: the receipt's text and our public keys, fetched once.

import { Refused } from "./formats/errors.js";
import { signedContent } from "./formats/jws.js";
import { checkReceipt, publicKeyOf, readReceiptHeader } from "./formats/receipts.js";
import { gettext, interpolate } from "./i18n.js";
import { call } from "./vault/api.js";

/** @typedef {{kty: string, crv: string, x: string, kid: string}} PublicKey */
/**
 * What was checked, and whether it holds; `pending` where it cannot be said yet, `unchecked` where nothing here can say it. `keys`
 * and `epoch` are what the person may take.
 * @typedef {{words: string, holds: boolean, pending?: boolean, unchecked?: boolean, why?: string, keys?: string[], epoch?: Epoch, lost?: string, unapproved?: boolean, unconfirmed?: boolean}} Step
 */
/** @typedef {{last: string, size: number, newest: string, lost: string}} Epoch a log that began anew, and what shows of it */
/** @typedef {{claims: any, steps: Step[]}} Checked `claims` is null where the signature does not hold */

const MEMBERS = ["receipt_id", "pii_principal_id", "pii_controller", "purpose", "pii_types", "retention", "event", "request_digest", "iat"];

/** @returns {Promise<PublicKey[]>} */
export const fetchKeys = async () => (await call("GET", "/.well-known/consent-keys.json")).keys;

/** A check that did not hold; the ones after it were not made. */
class Fails extends Error {}

/**
 * Every step up to the first that does not hold.
 * @param {string} text the compact JWS, or an answer of ours that has it as `jws`
 * @param {{issuer: string, keys: PublicKey[], receiptId?: string}} expected
 * @returns {Promise<Checked>}
 */
export async function check(text, { issuer, keys, receiptId }) {
  /** @type {Step[]} */
  const steps = [];
  /** @param {string} words @param {() => any} look @returns {Promise<any>} */
  const step = async (words, look) => {
    try {
      const found = await look();
      steps.push({ words, holds: true });
      return found;
    } catch (error) {
      steps.push({ words, holds: false, why: error instanceof Fails ? error.message : gettext("This could not be checked here.") });
      throw new Fails();
    }
  };
  let claims = null;
  try {
    const jws = bare(text);
    const header = await step(gettext("It is a text of the kind that we sign"), () => readHeader(jws));
    const key = await step(gettext("It names one of our public keys"), () => known(keys, header.kid));
    const payload = await step(gettext("Nothing in it was changed since we signed it"), () => verified(jws, key));
    await step(interpolate(gettext("It was issued by %(issuer)s"), { issuer }), () => expect(payload.iss === issuer, gettext("It names another issuer.")));
    await step(gettext("It says who, what, why and when"), () => expect(isWhole(payload), gettext("Something is missing in it.")));
    if (receiptId) await step(gettext("It is the receipt that this page shows"), () => expect(payload.receipt_id === receiptId, gettext("It is another receipt.")));
    claims = payload;
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
  }
  return { claims, steps };
}

/** Whether a receipt has what every receipt has. @param {any} claims */
function isWhole(claims) {
  try {
    checkReceipt(claims);
    return MEMBERS.every((name) => claims[name] !== undefined);
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** @param {boolean} holds @param {string} why */
function expect(holds, why) {
  if (!holds) throw new Fails(why);
}

/** @param {string} text */
function bare(text) {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  try {
    return String(JSON.parse(trimmed).jws ?? "");
  } catch {
    return "";
  }
}

/** @param {string} jws @returns {{kid: unknown}} */
function readHeader(jws) {
  try {
    return { kid: readReceiptHeader(jws).kid };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const isOther = ["mismatch", "unexpected_member"].includes(error.reason);
    throw new Fails(isOther ? gettext("It was made for something else.") : gettext("This is no signed text. It has three parts with dots between them."));
  }
}

/** @param {PublicKey[]} keys @param {unknown} kid */
function known(keys, kid) {
  try {
    return publicKeyOf(kid, { keys });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Fails(gettext("It was signed with a key that is none of ours."));
  }
}

/** @param {string} jws @param {import("./formats/jws.js").OwnerKey} key */
async function verified(jws, key) {
  if (!(await canVerify(key))) throw new Fails(gettext("This browser cannot check such signatures. Try a newer one."));
  try {
    return await signedContent(jws, key, "the receipt");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Fails(gettext("The signature does not fit: something was changed, or cut off in copying."));
  }
}

/** @param {import("./formats/jws.js").OwnerKey} key */
async function canVerify(key) {
  try {
    return Boolean(await crypto.subtle.importKey("jwk", key, "Ed25519", false, ["verify"]));
  } catch {
    return false;
  }
}
