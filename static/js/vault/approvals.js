// @ts-check
// The approval root of the vault that is unlocked here: made where there is none, held to what the server names, and kept
// for this page alone.

import { Refused } from "../formats/errors.js";
import { keyThumbprint, verified } from "../formats/jws.js";
import { recordOf, withoutRecords, withRecord } from "../formats/records.js";
import { appKey, newRoot, rootKey, sealedDigest, signApproval, signResumption, signRotation } from "../formats/signing.js";
import { openRoot, rootMembers } from "../formats/vault.js";
import * as api from "./api.js";
import { changes, current } from "./keyring.js";
import { changeNotes, readNotes, sealedChange, withConnector, withDomain, withPaused, withRevisions } from "./notes.js";

/** @typedef {import("../formats/exports.js").ExportHeader} ExportHeader */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("../formats/signing.js").Root} Root */
/** @typedef {{accessDuration: number, endsAt: number}} Terms seconds, and seconds since 1970 */

const TYP = "consent-approval+jwt";

/** @type {Promise<Root> | null} */
let cachedRoot = null;
changes.addEventListener("locked", () => {
  cachedRoot = null;
});

/**
 * @returns {Promise<Root>}
 * @throws {Refused} reason signing_key, where the server names another; nothing may be approved then
 */
export function approvalRoot() {
  cachedRoot ??= loaded();
  cachedRoot.catch(() => {
    cachedRoot = null;
  });
  return cachedRoot;
}

/** @returns {Promise<Root>} */
async function loaded() {
  const vault = await current();
  const keys = await api.getKeys();
  if (keys.user_id !== vault.userId) throw new Refused("someone else is signed in now", "user_id", "mismatch");
  const found = await openRoot(keys, vault);
  if (vault.hasNotes) {
    const { root, next_root } = (await readNotes()).notes;
    const own = found && (await keyThumbprint((await rootKey(found)).jwk));
    if (own === null || (own !== root && own !== next_root)) throw new Refused("the approval root is not the vault's own", "signing_jwe", "signing_key");
  }
  if (found) return found;
  const root = newRoot(); // the program that made the vault made none
  await api.setSigningKey(await rootMembers(root, vault));
  return root;
}

/**
 * @param {ExportHeader} members
 * @param {{attributes: string[], accessDuration: number, jwe: string}} what
 */
export const signedApproval = async (members, what) => signApproval(await approvalRoot(), members, what);

/**
 * Under what this vault approved: how long, and until when. The vault's own notes alone are the authority, and what the
 * server has of it is compared with them: a grant that is not in them, or not so wide, has no terms.
 * @param {string} grantId
 * @param {RequestData} data
 * @param {ExportHeader} members of the revision that is to be sealed
 * @param {string[]} attributes what it is to hold
 * @returns {Promise<Terms>}
 * @throws {Refused} reason not_approved; stale, where another tab or device sealed this revision meanwhile
 */
export async function approvedTerms(grantId, { request, request_digest }, members, attributes) {
  const { approval } = await api.getApproval(grantId); // before the notes: a faster tab's is then older than they are
  const { notes } = await readNotes();
  const record = recordOf(notes.approvals, request, request_digest);
  if (!record) throw notApproved("approval", "the vault remembers no such approval");
  if (record.revision >= members.revision) throw new Refused("this revision was sealed meanwhile", "revision", "stale");
  if (record.revision !== members.revision - 1) throw notApproved("revision", "the vault did not seal the one before it");
  if (notes.paused?.includes(request_digest)) throw notApproved("paused", "it is paused, and the vault did not resume it");
  if (record.endsAt * 1000 <= Date.now()) throw notApproved("ends_at", "what was approved is over");
  if (!attributes.every((path) => record.attributes.includes(path))) throw notApproved("approved_attributes", "less was approved");
  if (!approval || (await sealedDigest(approval)) !== record.approvalSha256) throw notApproved("approval", "the vault remembers another one");
  const { jwk } = await appKey(await approvalRoot(), members.iss, members.aud);
  const own = await verified(approval, TYP, jwk, "the approval").catch((error) => {
    throw error instanceof Refused ? notApproved("approval", error.message) : error;
  });
  return { accessDuration: own.access_duration, endsAt: record.endsAt };
}

/** @param {string} member @param {string} message */
const notApproved = (member, message) => new Refused(message, member, "not_approved");

/**
 * A newer revision ends when the first one does.
 * @param {ExportHeader} members
 * @param {{attributes: string[], jwe: string} & Terms} what
 */
export const signedRevision = async (members, what) => signApproval(await approvalRoot(), members, what);

/**
 * Sends what was signed together with notes that remember it.
 * @template T
 * @param {RequestData} data
 * @param {import("../formats/signing.js").Signed} signed
 * @param {import("./types.js").ExportPlaintext} slice that was sealed
 * @param {(notes: import("./types.js").NewNotes) => Promise<T>} send
 * @param {string | null} [domain] the app's, where the person decided with it before their eyes
 * @returns {Promise<T>}
 */
export async function sendRemembered({ request, request_digest }, { approval, approval_key }, slice, send, domain = null) {
  const claims = await verified(approval, TYP, approval_key, "the approval");
  const approved = {
    attributes: claims.approved_attributes,
    endsAt: claims.ends_at,
    revision: claims.revision,
    approvalSha256: await sealedDigest(approval),
  };
  const { withGiven } = slice.derived ? await import("../formats/derived.js") : { withGiven: null };
  const answer = await changeNotes((notes) => {
    const known = withDomain(withConnector(notes, request.app_id, request.connector_thumbprint), request.app_id, domain);
    if (withGiven) known.answers = withGiven(known.answers, request.app_id, slice, slice.sealed_at);
    return { ...known, segments: withRevisions(known.segments, slice.sources), approvals: withRecord(known.approvals, request, request_digest, approved, Date.now() / 1000) };
  }, send);
  return /** @type {T} */ (answer);
}

/**
 * Stops sharing; the vault forgets with it that it approved this.
 * @param {string} grantId @param {string} digest of its request
 * @returns {Promise<unknown>} the status body
 */
export const stopSharing = (grantId, digest) =>
  changeNotes(
    (notes) => ({ ...notes, approvals: withoutRecords(notes.approvals, [digest], Date.now() / 1000) }),
    (notes) => api.revokeGrant(grantId, notes),
  );

/** The notes once all that this app can read is stopped. @param {string} appId */
export const notesWithoutApp = (appId) =>
  sealedChange(({ approvals, ...notes }) => {
    const digests = Object.values(approvals?.[appId]?.keys ?? {}).flatMap((requests) => Object.keys(requests));
    return { ...notes, approvals: withoutRecords(approvals, digests, Date.now() / 1000) };
  });

/**
 * Lets a paused grant go on; the vault notes it first, once it knows of all pauses, since its word alone counts for that.
 * @param {string} grantId
 * @param {(requestId: string) => Promise<RequestData>} load
 * @returns {Promise<any>} the status body
 */
export async function resume(grantId, load) {
  const { request_id } = await api.getApproval(grantId);
  const { request, request_digest, issuer } = await load(request_id);
  const root = await approvalRoot();
  const { nonce } = await api.getNonce(grantId);
  const iss = new URL(issuer).origin;
  const names = { iss, sub: request.user_id, aud: request.app_id, grant_id: grantId, request_digest, nonce };
  const signed = await signResumption(root, names);
  await (await import("./ended.js")).takeOutEnded();
  await changeNotes((notes) => (notes.paused?.includes(request_digest) ? withPaused(notes, notes.paused.filter((one) => one !== request_digest)) : null));
  return api.resumeGrant(grantId, signed);
}

/**
 * Another root takes the place of the present one, which may be known to somebody else: each app is handed the proof that
 * its new key comes of the old one. Needs a fresh sign-in.
 * @returns {Promise<void>}
 */
export async function replaceRoot() {
  cachedRoot = null; // another tab or device may have replaced it
  const old = await approvalRoot();
  const present = await keyThumbprint((await rootKey(old)).jwk);
  const vault = await current();
  const { keys, issuer, rotations } = await api.getApprovalKeys();
  const next = newRoot();
  const rotation = await signRotation(old, next, { iss: issuer, sub: vault.userId }, rotations + 1, keys);
  const members = await rootMembers(next, vault);
  const root = await keyThumbprint(members.signing_public_key);
  // both: the one that the service has may be the next one of an attempt that broke off
  if (vault.hasNotes) await changeNotes((notes) => ({ ...notes, root: present, next_root: root }));
  await api.setSigningKey({ ...members, rotation });
  cachedRoot = Promise.resolve(next);
  if (vault.hasNotes) await changeNotes(({ next_root, ...notes }) => ({ ...notes, root }));
}
