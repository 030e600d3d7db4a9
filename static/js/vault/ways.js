// @ts-check
// Changing the ways into a vault. A new way is kept and read back before the one that it replaces goes.

import { toBase64url } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { sealingKey, unwrap, wrap } from "../formats/wrappers.js";
import * as api from "./api.js";
import { hold } from "./keyring.js";
import { newSecret, ownKeys, rawKey } from "./unlocking.js";

/** @typedef {import("./types.js").WrapperKind} WrapperKind */
/** @typedef {import("./types.js").NewWrapper} NewWrapper */
/** @typedef {import("./types.js").StoredWrapper} StoredWrapper */
/** @typedef {import("./unlocking.js").Unlocking} Unlocking */
/** @typedef {import("../formats/wrappers.js").Owner} Owner */
/** @typedef {import("../formats/wrappers.js").Secret} Secret */

/**
 * A passkey needs `person`; a recovery code is made here.
 * @typedef {{kind: WrapperKind, label: string, secret?: string, person?: {name: string, displayName: string, signIn?: string[]}}} Added
 */

/** @typedef {{body: NewWrapper, secret: Secret, wrapperId: string | null}} Made `wrapperId` once the server has it */

/**
 * Seals the vault key under new secrets. The kept key cannot be read, so an existing secret is asked for again. Nothing
 * is sent before `confirm()`, so that a recovery code can be written down first.
 * @param {Unlocking} existing
 * @param {Added[]} added
 * @returns {Promise<{openedBy: string, recoveryCode: string | null, confirm: (replaced?: string[]) => Promise<void>,
 *   unlock: () => Promise<void>}>} `openedBy` is the wrapper that `existing` opened; `confirm(replaced)` removes those
 *   wrappers once all new ones opened again, and goes on where it stopped if it is called again
 */
export async function prepareWays(existing, added) {
  const keys = await ownKeys();
  const { bytes, wrapperId, hasNotes } = await rawKey(keys, existing);
  try {
    const owner = { userId: keys.user_id, keyId: keys.key_id, hasNotes };
    /** @type {Made[]} */
    const made = [];
    for (const one of added) made.push(await sealedWay(one, await newSecret(one), bytes, owner));
    const recovery = made.find(({ body }) => body.kind === "recovery");
    const mark = await digest(bytes);
    const key = await sealingKey(bytes);
    return {
      openedBy: wrapperId,
      recoveryCode: recovery ? /** @type {string} */ (recovery.secret) : null,
      confirm: async (replaced = []) => {
        for (const way of made) way.wrapperId ??= (await api.addWrapper(way.body)).wrapper_id;
        await opensAgain(made, (await ownKeys()).wrappers, owner, mark);
        for (const old of replaced) await remove(old);
      },
      unlock: () => hold({ keyId: owner.keyId, key, hasNotes }),
    };
  } finally {
    bytes.fill(0);
  }
}

/**
 * Opens the vault key with a recovery code, to see that the code is good, and keeps nothing. The server hears that it
 * was tried, not what it is.
 * @param {string} code as typed
 */
export async function tryRecoveryCode(code) {
  const { bytes, wrapperId } = await rawKey(await ownKeys(), { kind: "recovery", secret: code });
  bytes.fill(0);
  await api.noteUnlocked(wrapperId, { tried: true });
}

/**
 * @param {{kind: WrapperKind, label: string}} added
 * @param {{secret: Secret, credentialId?: string}} having
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {Owner} owner
 * @returns {Promise<Made>}
 */
export async function sealedWay(added, { secret, credentialId }, bytes, owner) {
  const jwe = await wrap(added.kind, bytes, secret, owner);
  const credential = credentialId ? { credential_id: credentialId } : {};
  return { body: { kind: added.kind, label: added.label, jwe, ...credential }, secret, wrapperId: null };
}

/**
 * What the server hands out must open with the new secrets and hold the same key; before that nothing old may go.
 * @param {Made[]} made @param {StoredWrapper[]} wrappers as the server hands them out @param {Owner} owner
 * @param {string} mark the digest of the key
 */
export async function opensAgain(made, wrappers, owner, mark) {
  for (const { body, secret, wrapperId } of made) {
    const kept = wrappers.find(({ wrapper_id, jwe }) => (wrapperId ? wrapper_id === wrapperId : jwe === body.jwe));
    if (!kept) throw new Refused("the new way to unlock was not kept", "wrapper_id", "mismatch");
    const bytes = await unwrap(body.kind, kept.jwe, secret, owner);
    const found = await digest(bytes);
    bytes.fill(0);
    if (found !== mark) throw new Refused("the new way to unlock holds another key", "jwe", "mismatch");
  }
}

/** One that is gone already is no failure: a second attempt may come after a lost answer. @param {string} wrapperId */
async function remove(wrapperId) {
  try {
    await api.removeWrapper(wrapperId);
  } catch (error) {
    if (!(error instanceof api.ApiError && error.status === 404)) throw error;
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
export const digest = async (bytes) => toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
