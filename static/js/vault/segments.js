// @ts-check
// One segment of what a person keeps, sealed under the vault key.

import { jsonBytes, jsonObject, open, seal } from "./compact.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").VaultKey} VaultKey */

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
 * @param {Uint8Array<ArrayBuffer>} plaintext
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
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function openSegmentBytes(jwe, vault, address) {
  const { plaintext } = await open("segment", jwe, vault.key, members(vault, address));
  return plaintext;
}
