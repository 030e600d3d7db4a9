// @ts-check
// What lies sealed under the vault key: segments of what a person keeps, the vault's own notes, the approval root.

import { Refused } from "./errors.js";
import { jsonBytes, jsonObject, open, seal } from "./jwe.js";
import { ROOT_LENGTH, rootKey } from "./signing.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {import("./jws.js").OwnerKey} OwnerKey */
/** @typedef {import("./profiles.js").Json} Json */
/** @typedef {import("./signing.js").Root} Root */
/** @typedef {{userId: string, keyId: string, key: import("../jose.js").CryptoKey | Bytes}} VaultKey in pages one that cannot be read */
/** @typedef {{domain: string, segment_id: string, content_revision: number}} Source */

/** @param {VaultKey} vault @param {Source} address @returns {Json} */
const members = (vault, { domain, segment_id, content_revision }) => ({
  kid: vault.keyId,
  sub: vault.userId,
  domain,
  segment_id,
  content_revision,
});

/**
 * @param {Json} values attribute → value
 * @param {VaultKey} vault
 * @param {Source} address with the revision that this writing will have
 * @returns {Promise<string>} compact JWE
 */
export async function sealSegment(values, vault, address) {
  return sealSegmentBytes(await jsonBytes(values), vault, address);
}

/**
 * The same for a JSON object that stays as it is written, octet for octet.
 * @param {Bytes} plaintext
 * @param {VaultKey} vault
 * @param {Source} address
 * @returns {Promise<string>} compact JWE
 */
export const sealSegmentBytes = (plaintext, vault, address) => seal("segment", members(vault, address), plaintext, vault.key);

/**
 * A swapped, replayed or older segment differs in a header member and is refused with its name.
 * @param {string} jwe
 * @param {VaultKey} vault
 * @param {Source} address where it was read from, and the revision it should have
 * @returns {Promise<Json>} attribute → value
 */
export async function openSegment(jwe, vault, address) {
  return jsonObject(await openSegmentBytes(jwe, vault, address));
}

/**
 * The same, as it is written.
 * @param {string} jwe
 * @param {VaultKey} vault
 * @param {Source} address
 * @returns {Promise<Bytes>}
 */
export async function openSegmentBytes(jwe, vault, address) {
  const { plaintext } = await open("segment", jwe, vault.key, members(vault, address));
  return plaintext;
}

/** @param {VaultKey} vault @param {number} revision */
const notesMembers = ({ keyId, userId }, revision) => ({ kid: keyId, sub: userId, revision });

/** @param {Json} notes @param {VaultKey} vault @param {number} revision @returns {Promise<string>} compact JWE */
export const sealNotes = async (notes, vault, revision) =>
  seal("notes", notesMembers(vault, revision), await jsonBytes(notes), vault.key);

/** @param {string} jwe @param {VaultKey} vault @param {number} revision @returns {Promise<Json>} */
export async function openNotes(jwe, vault, revision) {
  const { plaintext } = await open("notes", jwe, vault.key, notesMembers(vault, revision));
  return jsonObject(plaintext);
}

/**
 * The two members that tell the service of a root.
 * @param {Root} root @param {VaultKey} vault
 * @returns {Promise<{signing_public_key: OwnerKey, signing_jwe: string}>}
 */
export async function rootMembers(root, { userId, keyId, key }) {
  const { jwk } = await rootKey(root);
  return { signing_public_key: jwk, signing_jwe: await seal("root", { kid: keyId, sub: userId }, root, key) };
}

/**
 * The root that the vault holds, once its public half is the one that the service names.
 * @param {{signing_jwe?: string | null, signing_public_key?: {x: string} | null}} keys @param {VaultKey} vault
 * @returns {Promise<Root | null>} null where there is none yet
 * @throws {Refused} reason signing_key, where somebody changed it on the server
 */
export async function openRoot({ signing_jwe, signing_public_key }, { userId, keyId, key }) {
  if (!signing_jwe) return null;
  const { plaintext: root } = await open("root", signing_jwe, key, { kid: keyId, sub: userId });
  if (root.length !== ROOT_LENGTH) throw new Refused("the approval root is not 32 octets", null, "plaintext");
  const { jwk } = await rootKey(root);
  if (signing_public_key?.x !== jwk.x) {
    throw new Refused("the service names another approval key than the vault's", "signing_public_key", "signing_key");
  }
  return root;
}
