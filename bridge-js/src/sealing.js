// @ts-check
// Sealing for a person whom this process plays: the wrapper of a vault key, segments and exports.

import { CompactEncrypt, compactDecrypt, importJWK } from "./jose.js";
import { decodeBase64url, toBase64url, utf8 } from "./formats/bytes.js";
import { CannotOpen, Refused, shown } from "./formats/errors.js";
import { parseObject } from "./formats/json.js";
import { checkConnectorKey } from "./keys.js";

/** @typedef {import("./index.js").VaultKey} VaultKey */

const { subtle } = globalThis.crypto;
const ENC = "A256GCM";
const SECRET_BYTES = 20;
const SALT_BYTES = 32;

/** @param {number} length */
const random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** A fresh vault key. @returns {VaultKey} */
export const generateVaultKey = () => ({
  key_id: `vk_${toBase64url(random(16))}`,
  secret: toBase64url(random(32)),
});

/** The vault key under a code that nobody keeps: a vault has at least one way in. @param {VaultKey} key @param {string} userId */
export async function wrapUnderNewCode(key, userId) {
  const salt = random(SALT_BYTES);
  const source = await subtle.importKey("raw", random(SECRET_BYTES), "HKDF", false, ["deriveBits"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt, info: utf8("consent-vault-recovery") };
  const wrapping = new Uint8Array(await subtle.deriveBits(derivation, source, 256));
  const header = { typ: "vault-key+jwe", kid: key.key_id, sub: userId, kind: "recovery", salt: toBase64url(salt) };
  return seal(bytesOf(key), { alg: "A256KW", ...header }, wrapping);
}

/** @param {Uint8Array} root @param {VaultKey} key @param {string} userId */
export const sealRoot = (root, key, userId) =>
  seal(root, { alg: "A256KW", typ: "vault-signing-root+jwe", kid: key.key_id, sub: userId }, bytesOf(key));

/** @param {string} sealed @param {VaultKey} key @param {string} userId @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function openRoot(sealed, key, userId) {
  const found = parseObject(decodeBase64url(sealed.split(".")[0], "the header"), "the header");
  const wanted = { alg: "A256KW", enc: ENC, typ: "vault-signing-root+jwe", kid: key.key_id, sub: userId };
  for (const [member, value] of Object.entries(wanted)) {
    if (found[member] !== value) throw new Refused(`header member ${member} is ${shown(found[member])}, not ${shown(value)}`, member);
  }
  const options = { keyManagementAlgorithms: ["A256KW"], contentEncryptionAlgorithms: [ENC] };
  try {
    return new Uint8Array((await compactDecrypt(sealed, bytesOf(key), options)).plaintext);
  } catch {
    throw new CannotOpen("the approval root does not open: another key sealed it, or it was changed");
  }
}

/** @param {VaultKey} key @param {Record<string, unknown>} place sub, domain, segment_id, content_revision @param {Record<string, unknown>} values */
export async function sealSegment(key, place, values) {
  return seal(utf8(JSON.stringify(values)), segmentHeader(key, place), bytesOf(key));
}

/** The values of a segment that is exactly the one at this place. @param {VaultKey} key @param {Record<string, unknown>} place @param {string} sealed */
export async function openSegment(key, place, sealed) {
  const found = parseObject(decodeBase64url(sealed.split(".")[0], "the header"), "the header");
  for (const [member, value] of Object.entries({ ...segmentHeader(key, place), enc: ENC })) {
    if (found[member] !== value) throw new Refused(`header member ${member} is ${shown(found[member])}, not ${shown(value)}`, member);
  }
  const options = { keyManagementAlgorithms: ["A256KW"], contentEncryptionAlgorithms: [ENC] };
  let plaintext;
  try {
    ({ plaintext } = await compactDecrypt(sealed, bytesOf(key), options));
  } catch {
    throw new CannotOpen("the segment does not open: another key sealed it, or it was changed");
  }
  return parseObject(plaintext, "the segment's content");
}

/** @param {import("./index.js").ExportContent} content @param {unknown} connectorKey @param {import("./index.js").ExportHeader} members */
export async function sealExport(content, connectorKey, members) {
  const alg = "ECDH-ES+A256KW";
  const key = await importJWK({ ...(await checkConnectorKey(connectorKey)) }, alg);
  return seal(utf8(JSON.stringify(content)), { alg, typ: "consent-export+jwe", cty: "application/json", ...members }, key);
}

/** @param {VaultKey} key */
function bytesOf(key) {
  const bytes = decodeBase64url(key.secret, "the vault key");
  if (bytes.length !== 32) throw new Refused(`the vault key has ${bytes.length} bytes, not 32`);
  return bytes;
}

/** @param {VaultKey} key @param {Record<string, unknown>} place */
const segmentHeader = (key, { sub, domain, segment_id, content_revision }) => ({
  alg: "A256KW",
  typ: "pkm-segment+jwe",
  kid: key.key_id,
  sub,
  domain,
  segment_id,
  content_revision,
});

/** @param {Uint8Array} plaintext @param {Record<string, unknown>} header @param {any} key */
const seal = (plaintext, header, key) =>
  new CompactEncrypt(plaintext).setProtectedHeader(/** @type {any} */ ({ ...header, enc: ENC })).encrypt(key);
