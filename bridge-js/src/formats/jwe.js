// @ts-check
// The one place where the JOSE library seals and opens. Everything above it names a kind and its header members.

import { CompactEncrypt, compactDecrypt } from "../jose.js";
import { fromUtf8, utf8 } from "./bytes.js";
import { CannotOpen, Refused } from "./errors.js";
import { isObject } from "./json.js";
import { checkHeader, checkOldHeader, checkSizes, ENC, MAX_ITERATIONS, PROFILES, readHeader } from "./profiles.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {import("../jose.js").CryptoKey} CryptoKey */
/** @typedef {import("./profiles.js").Json} Json */
/** @typedef {import("./profiles.js").SealedKind} SealedKind */

/**
 * @param {SealedKind} kind
 * @param {Json} members header members beyond alg, enc and typ
 * @param {Bytes} plaintext
 * @param {CryptoKey | Uint8Array} key
 * @param {{p2c: number, p2s: Bytes}} [parameters] for a passphrase
 * @returns {Promise<string>} compact JWE
 */
export async function seal(kind, members, plaintext, key, parameters) {
  const { alg, typ } = PROFILES[kind];
  const encrypt = new CompactEncrypt(plaintext).setProtectedHeader({ alg, enc: ENC, typ, ...members });
  if (parameters) encrypt.setKeyManagementParameters(parameters);
  const jwe = await encrypt.encrypt(key);
  await breathe(jwe.length);
  return jwe;
}

/**
 * Checks the header first, then opens.
 * @param {SealedKind} kind
 * @param {unknown} jwe
 * @param {CryptoKey | Uint8Array} key
 * @param {Json} expected header members that must be equal
 * @param {string} [connectorCurve]
 * @returns {Promise<{header: Json, plaintext: Bytes}>}
 * @throws {Refused}
 */
export async function open(kind, jwe, key, expected, connectorCurve) {
  const header = readHeader(jwe);
  checkHeader(header, kind, expected, connectorCurve);
  checkSizes(/** @type {string} */ (jwe));
  const options = {
    keyManagementAlgorithms: [PROFILES[kind].alg],
    contentEncryptionAlgorithms: [ENC],
    maxPBES2Count: MAX_ITERATIONS,
  };
  try {
    await breathe(/** @type {string} */ (jwe).length);
    const { plaintext } = await compactDecrypt(/** @type {string} */ (jwe), key, options);
    return { header, plaintext: /** @type {Bytes} */ (plaintext) };
  } catch {
    throw new CannotOpen("it does not open with this key, or it was changed on the way");
  }
}

/**
 * Opens a document of the old system.
 * @param {string} jwe
 * @param {string} passphrase as typed; the old system may have taken it as it was, or after NFKC as we do
 * @returns {Promise<Bytes>}
 * @throws {Refused} `cannot_open` where the passphrase is another
 */
export async function openOld(jwe, passphrase) {
  const alg = checkOldHeader(readHeader(jwe));
  const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [ENC], maxPBES2Count: MAX_ITERATIONS };
  for (const form of new Set([passphrase.normalize("NFKC"), passphrase])) {
    try {
      await breathe(jwe.length);
      const { plaintext } = await compactDecrypt(jwe, utf8(form), options);
      return /** @type {Bytes} */ (plaintext);
    } catch {
      continue;
    }
  }
  throw new CannotOpen("it does not open with this passphrase, or it was changed on the way");
}

const LARGE = 256 * 1024;

/**
 * Between two steps over something large, lets the page draw and answer.
 * @param {number} size
 * @returns {Promise<void> | undefined}
 */
const breathe = (size) => (size > LARGE ? new Promise((resolve) => setTimeout(resolve)) : undefined);

/** @param {unknown} value @returns {Promise<Bytes>} */
export async function jsonBytes(value) {
  const text = JSON.stringify(value);
  await breathe(text.length);
  const bytes = utf8(text);
  await breathe(bytes.length);
  return bytes;
}

/**
 * @param {Bytes} plaintext
 * @returns {Promise<Json>}
 * @throws {Refused} for anything but a JSON object
 */
export async function jsonObject(plaintext) {
  let value;
  try {
    await breathe(plaintext.length);
    const text = fromUtf8(plaintext);
    await breathe(text.length);
    value = JSON.parse(text);
  } catch {
    throw new Refused("what is sealed is not JSON", null, "plaintext");
  }
  if (!isObject(value)) {
    throw new Refused("what is sealed is not a JSON object", null, "plaintext");
  }
  return value;
}
