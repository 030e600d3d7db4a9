// @ts-check
// Reading what is in the vault.

import { openSegment } from "../formats/vault.js";
import { getSegments } from "./api.js";
import { withPresentKey } from "./present_key.js";

/** @typedef {import("./types.js").OpenedSegment} OpenedSegment */
/** @typedef {import("./types.js").StoredSegment} StoredSegment */
/** @typedef {import("./types.js").VaultKey} VaultKey */

/**
 * @param {{scope: string} | {domain: string} | {}} which nothing for all
 * @returns {Promise<OpenedSegment[]>} every one checked against its address, key, owner and revision
 */
export async function openAll(which) {
  return withPresentKey(async (vault) => {
    const stored = await getSegments(which);
    return Promise.all(stored.map((segment) => opened(segment, vault)));
  });
}

/** @param {StoredSegment} segment @param {VaultKey} vault @returns {Promise<OpenedSegment>} */
async function opened({ domain, segment_id, content_revision, manifest_revision, updated_at, jwe }, vault) {
  const values = await openSegment(jwe, vault, { domain, segment_id, content_revision });
  return { domain, segment_id, content_revision, manifest_revision, updated_at, values };
}
