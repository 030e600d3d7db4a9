// @ts-check
// The approval root of the vault that is unlocked here: made where there is none, held to what the server names, and kept
// for this page alone.

import { Refused } from "../formats/errors.js";
import { verified } from "../formats/jws.js";
import { appKey, newRoot, signApproval, signResumption, signRotation } from "../formats/signing.js";
import { openRoot, rootMembers } from "../formats/vault.js";
import * as api from "./api.js";
import { changes, current } from "./keyring.js";

/** @typedef {import("./types.js").ExportMembers} ExportMembers */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("../formats/signing.js").Root} Root */
/** @typedef {{accessDuration: number, endsAt: number}} Terms seconds, and seconds since 1970 */

/** @type {Promise<Root> | null} */
let held = null;
changes.addEventListener("locked", () => {
  held = null;
});

/**
 * @returns {Promise<Root>}
 * @throws {Refused} reason signing_key, where the server names another; nothing may be approved then
 */
export function approvalRoot() {
  held ??= loaded();
  held.catch(() => {
    held = null;
  });
  return held;
}

/** @returns {Promise<Root>} */
async function loaded() {
  const vault = await current();
  const keys = await api.getKeys();
  if (keys.user_id !== vault.userId) throw new Refused("someone else is signed in now", "user_id", "mismatch");
  const found = await openRoot(keys, vault);
  if (found) return found;
  const root = newRoot(); // the program that made the vault made none
  await api.setSigningKey(await rootMembers(root, vault));
  return root;
}

/**
 * @param {ExportMembers} members
 * @param {{attributes: string[], accessDuration: number, jwe: string}} what
 */
export const signedApproval = async (members, what) => signApproval(await approvalRoot(), members, what);

/**
 * Under what this vault approved: how long, and until when. Nothing that the server says takes its place, so a grant that
 * this vault did not approve, or not so widely, has no terms.
 * @param {string} grantId
 * @param {ExportMembers} members of the revision that is to be sealed
 * @param {string[]} attributes what it is to hold
 * @returns {Promise<Terms>}
 * @throws {Refused} reason not_approved
 */
export async function approvedTerms(grantId, members, attributes) {
  const root = await approvalRoot();
  const { jwk } = await appKey(root, members.iss, members.aud);
  const { approval } = await api.getApproval(grantId);
  const own = await verified(String(approval), "consent-approval+jwt", jwk, "the approval").catch((error) => {
    throw error instanceof Refused ? notApproved("approval", error.message) : error;
  });
  for (const name of /** @type {const} */ (["iss", "sub", "aud", "request_id", "request_digest"])) {
    if (own[name] !== members[name]) throw notApproved(name, "what was approved says otherwise");
  }
  if (own.ends_at * 1000 <= Date.now()) throw notApproved("ends_at", "what was approved is over");
  if (!attributes.every((path) => own.approved_attributes.includes(path))) {
    throw notApproved("approved_attributes", "less was approved");
  }
  return { accessDuration: own.access_duration, endsAt: own.ends_at };
}

/** @param {string} member @param {string} message */
const notApproved = (member, message) => new Refused(message, member, "not_approved");

/**
 * A newer revision ends when the first one does.
 * @param {ExportMembers} members
 * @param {{attributes: string[], jwe: string} & Terms} what
 */
export const signedRevision = async (members, what) => signApproval(await approvalRoot(), members, what);

/**
 * Lets a paused grant go on.
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
  return api.resumeGrant(grantId, await signResumption(root, names));
}

/**
 * Another root takes the place of the present one, which may be known to somebody else: each app is handed the proof that
 * its new key comes of the old one. Needs a fresh sign-in.
 * @returns {Promise<void>}
 */
export async function replaceRoot() {
  const old = await approvalRoot();
  const vault = await current();
  const { keys, issuer, rotations } = await api.getApprovalKeys();
  const next = newRoot();
  const rotation = await signRotation(old, next, { iss: issuer, sub: vault.userId }, rotations + 1, keys);
  await api.setSigningKey({ ...(await rootMembers(next, vault)), rotation });
  held = Promise.resolve(next);
}
