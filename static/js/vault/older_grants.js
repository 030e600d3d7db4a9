// @ts-check
// Approvals that are older than a vault's record of its own: the person is asked about them once, all together.

import { Refused } from "../formats/errors.js";
import { verified } from "../formats/jws.js";
import { recordOf, withRecord } from "../formats/records.js";
import { appKey, sealedDigest } from "../formats/signing.js";
import * as api from "./api.js";
import { approvalRoot } from "./approvals.js";
import { current } from "./keyring.js";
import { changeNotes, readNotes, withConnector } from "./notes.js";
import { stillApproved } from "./own_history.js";
import { isRequested, loadRequest } from "./review.js";

/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("./notes.js").Notes} Notes */
/** @typedef {{data: RequestData, approved: import("../formats/records.js").Approved}} Older what the vault signed once, of a request as it was frozen */

const TYP = "consent-approval+jwt";

/** A vault that was made with notes has no older ones, and what was asked once is not asked again, whoever puts what back. */
const isClosed = async () => (await current()).hasNotes === true || (await readNotes()).notes.older_grants === "closed";

/**
 * What still runs and is kept current, which this vault signed and does not remember. Nothing is sealed by their being listed.
 * @returns {Promise<Older[]>} none once the person was asked
 * @throws {Refused} reason rolled_back, where the person's history is not whole
 */
export async function olderGrants() {
  if (await isClosed()) return [];
  const { grants } = await api.call("GET", "/consent/grants/outdated?also=current");
  const [standing, { notes }] = [await stillApproved(), await readNotes()];
  const found = await Promise.all(/** @type {{grant_id: string, request_id: string}[]} */ (grants).map(older));
  return found.filter((one) => one !== null).filter(({ data: { request, request_digest } }) =>
    standing.has(request_digest) && recordOf(notes.approvals, request, request_digest) === null);
}

/** @param {{grant_id: string, request_id: string}} grant @returns {Promise<Older | null>} null where this vault never signed it */
async function older({ grant_id, request_id }) {
  try {
    const data = await loadRequest(request_id);
    const { approval } = await api.getApproval(grant_id);
    return approval === null ? null : { data, approved: await signedHere(data, approval) };
  } catch (error) {
    if (error instanceof Refused && error.reason !== "rolled_back") return null;
    throw error;
  }
}

/** What it says, once the vault's own root vouches for it. @param {RequestData} data @param {string} approval */
async function signedHere({ request, request_digest, issuer }, approval) {
  const iss = new URL(issuer).origin;
  const { jwk } = await appKey(await approvalRoot(), iss, request.app_id);
  const claims = await verified(approval, TYP, jwk, "the approval");
  const names = { iss, sub: request.user_id, aud: request.app_id, request_id: request.request_id, request_digest };
  const other = Object.entries(names).find(([name, value]) => claims[name] !== value)?.[0];
  const outside = claims.approved_attributes.find((/** @type {string} */ path) => !isRequested(request, path));
  if (other ?? outside) throw new Refused("is of something else", other ?? "approved_attributes", "not_approved");
  return { attributes: claims.approved_attributes, endsAt: claims.ends_at, revision: claims.revision, approvalSha256: await sealedDigest(approval) };
}

/**
 * The person was asked: the notes remember these from now on, and none but these.
 * @param {Older[]} chosen @returns {Promise<unknown>}
 */
export const closeOlderGrants = (chosen) =>
  changeNotes((notes) => {
    const closed = /** @type {Notes} */ ({ ...notes, older_grants: "closed" });
    return chosen.reduce((now, { data: { request, request_digest }, approved }) => ({
      ...withConnector(now, request.app_id, request.connector_thumbprint),
      approvals: withRecord(now.approvals, request, request_digest, approved, Date.now() / 1000),
    }), closed);
  });
