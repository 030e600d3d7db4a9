// @ts-check
// The vault key, sealed under something a person has: a passphrase, a recovery code, a passkey.

import { fromBase32, fromBase64url, random, toBase32, toBase64url, utf8 } from "./bytes.js";
import { BadSecret, Refused } from "./errors.js";
import { open, seal } from "./jwe.js";
import { readHeader } from "./profiles.js";

/** @typedef {import("../jose.js").CryptoKey} CryptoKey */
/** @typedef {import("./profiles.js").WrapperKind} WrapperKind */
/** @typedef {{userId: string, keyId: string, hasNotes?: boolean}} Owner `hasNotes`: the vault was made with notes, and without them nothing is approved */
/**
 * @typedef {string | Uint8Array<ArrayBuffer> | CryptoKey} Secret a passphrase or recovery code as typed, or the 32 octets of
 *   a passkey's PRF, or `unreadableSecret` of them
 */

export const MIN_PASSPHRASE = 12;
const ITERATIONS = 250000;
const POSSESSION_INFO = "consent-vault-possession";
const INFO = { recovery: "consent-vault-recovery", passkey: "consent-vault-passkey" };

/** @returns {{keyId: string, bytes: Uint8Array<ArrayBuffer>}} a new vault key; the caller zeroes the octets */
export const newVaultKey = () => ({ keyId: `vk_${toBase32(random(16))}`, bytes: random(32) });

/** @returns {string} 160 random bits as eight groups of four, to be written down */
export const newRecoveryCode = () =>
  /** @type {string[]} */ (toBase32(random(20)).toUpperCase().match(/.{4}/g)).join("-");

/**
 * Case, spaces and dashes do not matter.
 * @param {string} code
 * @returns {Uint8Array<ArrayBuffer>} 20 octets
 */
export function parseRecoveryCode(code) {
  const plain = code
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\u2010-\u2015\u2212-]/g, "");
  const bytes = fromBase32(plain);
  if (bytes?.length !== 20)
    throw new BadSecret("not_a_recovery_code", "A recovery code has eight groups of four letters and digits.");
  return bytes;
}

/** @param {string} passphrase @returns {Uint8Array<ArrayBuffer>} */
const passphraseBytes = (passphrase) => utf8(passphrase.normalize("NFKC"));

/** Counts code points after NFKC. @param {string} passphrase */
export function checkPassphrase(passphrase) {
  if ([...passphrase.normalize("NFKC")].length < MIN_PASSPHRASE) {
    throw new BadSecret("too_short", `A passphrase has at least ${MIN_PASSPHRASE} characters.`);
  }
}

/**
 * The same secret, as what opens a wrapper and cannot be read again.
 * @param {Uint8Array<ArrayBuffer>} secret @returns {Promise<CryptoKey>}
 */
export const unreadableSecret = (secret) => crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);

/**
 * @param {Uint8Array<ArrayBuffer> | CryptoKey} secret
 * @param {Uint8Array<ArrayBuffer>} salt
 * @param {string} info
 * @returns {Promise<CryptoKey>}
 */
async function derived(secret, salt, info) {
  const material = secret instanceof Uint8Array ? await unreadableSecret(secret) : secret;
  const how = { name: "HKDF", hash: "SHA-256", salt, info: utf8(info) };
  return crypto.subtle.deriveKey(how, material, { name: "AES-KW", length: 256 }, false, ["wrapKey", "unwrapKey"]);
}

/** @param {"recovery" | "passkey"} kind @param {Secret} secret @returns {Uint8Array<ArrayBuffer> | CryptoKey} */
function secretBytes(kind, secret) {
  if (kind === "recovery") return parseRecoveryCode(/** @type {string} */ (secret));
  if (typeof secret === "string" || (secret instanceof Uint8Array && secret.length !== 32)) throw new TypeError("a passkey's secret is 32 octets");
  return secret;
}

/**
 * @param {WrapperKind} kind
 * @param {Uint8Array<ArrayBuffer>} vaultKey the 32 octets
 * @param {Secret} secret
 * @param {Owner} owner
 * @returns {Promise<string>} compact JWE
 */
export async function wrap(kind, vaultKey, secret, owner) {
  const members = { kid: owner.keyId, sub: owner.userId, kind, ...(owner.hasNotes ? { notes: 1 } : {}) };
  if (kind === "passphrase") {
    checkPassphrase(/** @type {string} */ (secret));
    const key = passphraseBytes(/** @type {string} */ (secret));
    return seal(kind, members, vaultKey, key, { p2c: ITERATIONS, p2s: random(16) });
  }
  const salt = random(32);
  const key = await derived(secretBytes(kind, secret), salt, INFO[kind]);
  return seal(kind, { ...members, salt: toBase64url(salt) }, vaultKey, key);
}

/**
 * @param {WrapperKind} kind
 * @param {string} jwe
 * @param {Secret} secret
 * @param {Owner} owner
 * @returns {Promise<Uint8Array<ArrayBuffer>>} the 32 octets of the vault key; the caller zeroes them
 * @throws {Refused} `cannot_open` where the secret is wrong
 */
export async function unwrap(kind, jwe, secret, owner) {
  const expected = { kid: owner.keyId, sub: owner.userId, kind };
  const key = kind === "passphrase" ? passphraseBytes(/** @type {string} */ (secret)) : await keyFor(kind, jwe, secret);
  const { plaintext } = await open(kind, jwe, key, expected);
  if (plaintext.length !== 32) throw new Refused("a vault key has 32 octets", null, "plaintext");
  return plaintext;
}

/** Whether the vault of this wrapper, which opened, has notes. @param {string} jwe @returns {boolean} */
export const hasNotes = (jwe) => readHeader(jwe).notes === 1;

/** @param {"recovery" | "passkey"} kind @param {string} jwe @param {Secret} secret */
async function keyFor(kind, jwe, secret) {
  const salt = fromBase64url(readHeader(jwe).salt);
  if (!salt) throw new Refused("is not what the format allows", "salt", "bad_value");
  return derived(secretBytes(kind, secret), salt, INFO[kind]);
}

/**
 * What shows the server that one holds this key, when it is to be replaced; it gives nothing of the key away.
 * @param {Uint8Array<ArrayBuffer>} vaultKey the 32 octets
 * @returns {Promise<string>} base64url; the server keeps its SHA-256
 */
export async function possessionOf(vaultKey) {
  const material = await crypto.subtle.importKey("raw", vaultKey, "HKDF", false, ["deriveBits"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8(POSSESSION_INFO) };
  return toBase64url(new Uint8Array(await crypto.subtle.deriveBits(how, material, 256)));
}

/**
 * A key that opens and seals but cannot be read again, not even by this page.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<CryptoKey>}
 */
export async function sealingKey(bytes) {
  return crypto.subtle.importKey("raw", bytes, "AES-KW", false, ["wrapKey", "unwrapKey"]);
}
