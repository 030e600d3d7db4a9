// @ts-check
// Opening a vault, and locking it.

import { Refused } from "../formats/errors.js";
import { newRoot } from "../formats/signing.js";
import { openRoot, rootMembers } from "../formats/vault.js";
import { hasNotes, sealingKey, unwrap } from "../formats/wrappers.js";
import * as api from "./api.js";
import { CannotUnlock, current, hold, lock as drop, Locked, pageOwner } from "./keyring.js";
import { usePasskey } from "./passkey.js";

/** @typedef {import("./types.js").Keys} Keys */
/** @typedef {import("./types.js").StoredWrapper} StoredWrapper */
/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {import("./types.js").WrapperKind} WrapperKind */

/**
 * What unlocks: `secret` is the passphrase or the recovery code as typed; a passkey asks the device itself.
 * @typedef {{kind: WrapperKind, secret?: string}} Unlocking
 */

/**
 * @typedef {{bytes: Uint8Array<ArrayBuffer>, wrapperId: string, hasNotes: boolean}} Opened the vault key's octets, to be zeroed after use
 */

const MISMATCHES = ["segment_mismatch", "notes_mismatch"];

/**
 * @param {Unlocking} unlocking
 * @returns {Promise<void>}
 * @throws {CannotUnlock | Refused}
 */
export async function unlock(unlocking) {
  const keys = await ownKeys();
  await opened(keys, await rawKey(keys, unlocking));
}

/**
 * With what the sign-in's passkey gave, where that is a way to unlock this vault; else it stays locked.
 * @param {{credentialId: string, key: CryptoKey}} carried
 * @throws {CannotUnlock | Refused}
 */
export async function unlockAsSignedIn({ credentialId, key }) {
  const keys = await ownKeys();
  const own = keys.wrappers.filter((wrapper) => wrapper.kind === "passkey" && wrapper.credential_id === credentialId);
  if (own.length) await opened(keys, await firstThatOpens(own, key, { userId: keys.user_id, keyId: keys.key_id }));
}

/** @param {Keys} keys @param {Opened} raw */
async function opened(keys, { bytes, wrapperId, hasNotes }) {
  const key = await sealingKey(bytes).finally(() => bytes.fill(0));
  await hold({ keyId: keys.key_id, key, hasNotes });
  await lookAtRoot(keys, key, hasNotes);
  // "Last used" is a courtesy: the vault is open whether or not the server hears of it.
  api.noteUnlocked(wrapperId).catch(() => undefined);
}

/**
 * A root that somebody changed on the server alarms at once, and keeps anything from being approved (`approvalRoot`); what
 * is kept can still be read. A vault without one gets it now, where the sign-in is fresh enough, else at the first approval;
 * one that was made with notes was made with a root, too.
 * @param {Keys} keys @param {CryptoKey} key @param {boolean} hasNotes
 */
async function lookAtRoot(keys, key, hasNotes) {
  const vault = { userId: keys.user_id, keyId: keys.key_id, key };
  try {
    if ((await openRoot(keys, vault)) || keys.vault_status !== "active") return;
    if (hasNotes) throw new Refused("the approval root is gone", "signing_jwe", "signing_key");
    await api.setSigningKey(await rootMembers(newRoot(), vault), { quiet: true });
  } catch (error) {
    if (error instanceof Refused) dispatchEvent(new CustomEvent("interrupted", { detail: "signing_key" }));
  }
}

/** Locks this vault in every tab. @param {"locked" | "signed_out"} [reason] */
export const lock = (reason) => drop(reason);

/**
 * A page that was left open while someone else signed in must not take that person's key for its own.
 * @returns {Promise<Keys>}
 */
export async function ownKeys() {
  const keys = await api.getKeys();
  if (keys.user_id !== pageOwner()?.userId) {
    throw new Refused("someone else is signed in now, load the page again", "user_id", "mismatch");
  }
  return keys;
}

/**
 * @param {Pick<Keys, "user_id" | "key_id" | "wrappers">} keys
 * @param {Unlocking} unlocking
 * @returns {Promise<Opened>}
 */
export async function rawKey(keys, { kind, secret }) {
  const wrappers = keys.wrappers.filter((wrapper) => wrapper.kind === kind);
  if (!wrappers.length) throw new CannotUnlock("no_such_wrapper", "This vault was not set up to be unlocked that way.");
  const owner = { userId: keys.user_id, keyId: keys.key_id };
  if (kind !== "passkey") return firstThatOpens(wrappers, secret ?? "", owner);
  const used = await usePasskey(wrappers.flatMap((wrapper) => wrapper.credential_id ?? []));
  const own = wrappers.filter((wrapper) => wrapper.credential_id === used.credentialId);
  return firstThatOpens(own, used.secret, owner);
}

/**
 * A wrong secret moves on to the next wrapper, and so does a wrapper that breaks the format's rules: one spoilt wrapper
 * must not keep the person out. It is told where no other one opens.
 * @param {StoredWrapper[]} wrappers
 * @param {import("../formats/wrappers.js").Secret} secret
 * @param {{userId: string, keyId: string}} owner
 * @returns {Promise<Opened>}
 */
async function firstThatOpens(wrappers, secret, owner) {
  let spoilt = null;
  for (const { kind, jwe, wrapper_id } of wrappers) {
    try {
      return { bytes: await unwrap(kind, jwe, secret, owner), wrapperId: wrapper_id, hasNotes: hasNotes(jwe) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.reason !== "cannot_open") spoilt ??= error;
    }
  }
  if (spoilt) throw spoilt;
  throw new CannotUnlock("wrong_secret", "That does not open the vault. Check it and try again.");
}

// Another tab or device may have changed the vault's key: what is held here then opens and seals nothing any more.

/** @param {unknown} error */
const isAboutAnotherKey = (error) =>
  (error instanceof Refused && error.reason === "mismatch" && error.member === "kid") ||
  (error instanceof api.ApiError && MISMATCHES.includes(error.code) && error.body.member === "kid");

/**
 * Does this with the key that is held; once more where another tab put the new key in its place meanwhile. Where another
 * device changed it, the vault is locked here, since only a way in leads to the new one.
 * @template T
 * @param {(vault: VaultKey) => Promise<T>} work it must be able to be done again
 * @returns {Promise<T>}
 * @throws {Locked}
 */
export async function withPresentKey(work) {
  const vault = await current();
  try {
    return await work(vault);
  } catch (error) {
    if (!isAboutAnotherKey(error)) throw error;
    const present = await current();
    if (present.keyId !== vault.keyId) return work(present);
    if ((await ownKeys()).key_id === vault.keyId) throw error;
    await drop("key_changed");
    throw new Locked();
  }
}
