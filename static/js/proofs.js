// @ts-check
// Checks what we signed with what is in this browser: the receipt's text and our public keys, fetched once.

import { compactVerify, decodeProtectedHeader, importJWK } from "../vendor/jose.js";
import { fromUtf8 } from "./formats/bytes.js";
import { gettext, interpolate } from "./i18n.js";
import { call } from "./vault/api.js";

/** @typedef {{kty: string, crv: string, x: string, kid: string}} PublicKey */
/**
 * What was checked, and whether it holds; `waits` where it cannot be said yet, `unchecked` where nothing here can say it. `keys`
 * and `epoch` are what the person may take.
 * @typedef {{words: string, holds: boolean, waits?: boolean, unchecked?: boolean, why?: string, keys?: string[], epoch?: Epoch, lost?: string}} Step
 */
/** @typedef {{last: string, size: number, newest: string, lost: string}} Epoch a log that began anew, and what shows of it */
/** @typedef {{type: string, claims: any, steps: Step[]}} Checked `claims` is null where the signature does not hold */

export const RECEIPT = "consent-receipt+jwt";
const MEMBERS = ["receipt_id", "pii_principal_id", "pii_controller", "purpose", "pii_types", "retention", "event", "request_digest", "iat"];

/** @returns {Promise<PublicKey[]>} */
export const fetchKeys = async () => (await call("GET", "/.well-known/consent-keys.json")).keys;

/** A check that did not hold; the ones after it were not made. */
class Fails extends Error {}

/**
 * Every step up to the first that does not hold.
 * @param {string} text the compact JWS, or an answer of ours that has it as `jws`
 * @param {{type: string, issuer: string, keys: PublicKey[], receiptId?: string}} expected
 * @returns {Promise<Checked>}
 */
export async function check(text, { type, issuer, keys, receiptId }) {
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
    const header = await step(gettext("It is a text of the kind that we sign"), () => readHeader(jws, type));
    const key = await step(gettext("It names one of our public keys"), () => known(keys, header.kid));
    const said = await step(gettext("Nothing in it was changed since we signed it"), () => verified(jws, key));
    await step(interpolate(gettext("It was issued by %(issuer)s"), { issuer }), () => expect(said.iss === issuer, gettext("It names another issuer.")));
    if (type === RECEIPT) await step(gettext("It says who, what, why and when"), () => expect(isWhole(said), gettext("Something is missing in it.")));
    if (receiptId) await step(gettext("It is the receipt that this page shows"), () => expect(said.receipt_id === receiptId, gettext("It is another receipt.")));
    claims = said;
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
  }
  return { type, claims, steps };
}

/** Whether a receipt has what every receipt has. @param {any} said */
function isWhole(said) {
  const { lawful_basis: basis, rights, notice } = said;
  const texts = [basis, notice?.version, notice?.language, ...(Array.isArray(rights) ? rights : [null])];
  return MEMBERS.every((name) => said[name] !== undefined) && texts.every((text) => typeof text === "string");
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

/** @param {string} jws @param {string} type @returns {{kid: string}} */
function readHeader(jws, type) {
  let header;
  try {
    header = decodeProtectedHeader(jws);
  } catch {
    throw new Fails(gettext("This is no signed text. It has three parts with dots between them."));
  }
  expect(jws.split(".").length === 3, gettext("This is no signed text. It has three parts with dots between them."));
  expect(header.typ === type && header.alg === "EdDSA", gettext("It was made for something else."));
  return { kid: String(header.kid) };
}

/** @param {PublicKey[]} keys @param {string} kid */
function known(keys, kid) {
  const found = keys.find((key) => key.kid === kid);
  if (!found) throw new Fails(gettext("It was signed with a key that is none of ours."));
  return found;
}

/** @param {string} jws @param {PublicKey} key */
async function verified(jws, key) {
  /** @type {any} */
  let imported;
  try {
    imported = await importJWK(key, "EdDSA");
  } catch {
    throw new Fails(gettext("This browser cannot check such signatures. Try a newer one."));
  }
  try {
    const { payload } = await compactVerify(jws, imported, { algorithms: ["EdDSA"] });
    return JSON.parse(fromUtf8(/** @type {Uint8Array<ArrayBuffer>} */ (payload)));
  } catch {
    throw new Fails(gettext("The signature does not fit: something was changed, or cut off in copying."));
  }
}
