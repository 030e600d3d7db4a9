// @ts-check
// Reading what is in the vault.

import { openSegment } from "../formats/vault.js";
import { getSegments } from "./api.js";
import { noteRevisions, placeOf, readNotes, recalledRevisions, rolledBack } from "./notes.js";
import { withPresentKey } from "./unlocking.js";

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
    const found = await Promise.all(stored.map((segment) => opened(segment, vault)));
    await noteRevisions(vault, found);
    return found;
  });
}

/**
 * The same to be sealed for an app.
 * @param {{scope: string}} which
 * @returns {Promise<OpenedSegment[]>}
 * @throws {import("../formats/errors.js").Refused} reason rolled_back, where one is older than this browser saw it, or than
 *   what was sealed of it before
 */
export async function openToSeal(which) {
  const seen = await withPresentKey(recalledRevisions); // before the service is asked
  const { notes } = await readNotes();
  const found = await openAll(which);
  const older = found.find((one) => one.content_revision < Math.max(seen[placeOf(one)] ?? 0, notes.segments?.[placeOf(one)] ?? 0));
  if (older) throw rolledBack(`${placeOf(older)} is older than it was seen before`);
  return found;
}

/** @param {StoredSegment} segment @param {VaultKey} vault @returns {Promise<OpenedSegment>} */
async function opened({ domain, segment_id, content_revision, manifest_revision, updated_at, jwe }, vault) {
  const values = await openSegment(jwe, vault, { domain, segment_id, content_revision });
  return { domain, segment_id, content_revision, manifest_revision, updated_at, values };
}
