// @ts-check
// The approval root of the vault that is unlocked here: made where there is none, held to what the server names, and kept
// for this page alone.

import { Refused } from "../formats/errors.js";
import { newRoot, signApproval, signResumption, signRotation } from "../formats/signing.js";
import { openRoot, rootMembers } from "../formats/vault.js";
import * as api from "./api.js";
import { changes, current } from "./keyring.js";
import { ownApproval } from "./signing.js";

/** @typedef {import("./types.js").ExportMembers} ExportMembers */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("../formats/signing.js").Root} Root */

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
 * A newer revision ends when the first one does: as this vault signed it, and not as the server tells it.
 * @param {string} grantId
 * @param {ExportMembers} members
 * @param {{attributes: string[], jwe: string}} what
 */
export async function signedRevision(grantId, members, { attributes, jwe }) {
  const root = await approvalRoot();
  const told = await api.getStandingApproval(grantId);
  const own = told.approval ? await ownApproval(root, members.iss, members.aud, told.approval) : null;
  if (own && own.request_digest !== members.request_digest) {
    throw new Refused("what was approved is another request", "request_digest", "mismatch");
  }
  const { access_duration: accessDuration, ends_at: endsAt } = own ?? told;
  return signApproval(root, members, { attributes, accessDuration, endsAt, jwe });
}

/**
 * Lets a paused grant go on.
 * @param {string} grantId
 * @param {(requestId: string) => Promise<RequestData>} load
 * @returns {Promise<any>} the status body
 */
export async function resume(grantId, load) {
  const { request_id } = await api.getStandingApproval(grantId);
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
