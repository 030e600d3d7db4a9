// @ts-check
// Making a vault, opening and locking it.

import { toHex, utf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { keyThumbprint } from "../formats/jws.js";
import { sha256 } from "../formats/sha256.js";
import { newRoot } from "../formats/signing.js";
import { openRoot, rootMembers, sealNotes } from "../formats/vault.js";
import { newRecoveryCode, newVaultKey, possessionOf, saysNotes, sealingKey, unwrap, wrap } from "../formats/wrappers.js";
import * as api from "./api.js";
import { forgetVault, nextGeneration } from "./device.js";
import { CannotUnlock, current, hold, lock as drop, Locked, pageOwner } from "./keyring.js";
import { createPasskey, usePasskey } from "./passkey.js";

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
const LABELS = { passphrase: "Passphrase", passkey: "Passkey", recovery: "Recovery code" };

/**
 * Makes a vault key with a passphrase, or with a passkey made for this `person`, and a recovery code. Nothing is sent
 * before `confirm()`, so that the code can be written down first; a page that is left before that has made nothing.
 * @param {{passphrase?: string, person?: {name: string, displayName: string, signIn?: string[]}, labels?: typeof LABELS}} choice
 * @returns {Promise<{keyId: string, recoveryCode: string, confirm: () => Promise<Keys>}>} confirm() also unlocks
 */
export async function createVault({ passphrase, person, labels = LABELS }) {
  const page = pageOwner();
  if (!page) throw new TypeError("this page belongs to nobody");
  const kind = /** @type {WrapperKind} */ (person ? "passkey" : "passphrase");
  const { secret, credentialId } = await newSecret({ kind, secret: passphrase, person });
  const { keyId, bytes } = newVaultKey();
  const owner = { userId: page.userId, keyId, hasNotes: true };
  const recoveryCode = newRecoveryCode();
  try {
    const wrappers = [
      {
        kind,
        label: labels[kind],
        jwe: await wrap(kind, bytes, secret, owner),
        ...(credentialId ? { credential_id: credentialId } : {}),
      },
      {
        kind: /** @type {WrapperKind} */ ("recovery"),
        label: labels.recovery,
        jwe: await wrap("recovery", bytes, recoveryCode, owner),
      },
    ];
    const key = await sealingKey(bytes);
    const possession_sha256 = toHex(sha256(utf8(await possessionOf(bytes))));
    const root = await rootMembers(newRoot(), { ...owner, key });
    const first = { root: await keyThumbprint(root.signing_public_key), approvals: {}, generation: await nextGeneration(owner.userId) };
    const notes = await sealNotes(first, { ...owner, key }, 1);
    const confirm = async () => {
      const keys = await api.createVault({ key_id: keyId, wrappers, possession_sha256, notes, ...root });
      await forgetVault(owner.userId);
      await hold({ keyId, key, hasNotes: true });
      return keys;
    };
    return { keyId, recoveryCode, confirm };
  } finally {
    bytes.fill(0);
  }
}

/**
 * @param {Unlocking} unlocking
 * @returns {Promise<void>}
 * @throws {CannotUnlock | Refused}
 */
export async function unlock(unlocking) {
  const keys = await ownKeys();
  const { bytes, wrapperId, hasNotes } = await rawKey(keys, unlocking);
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
 * @param {{kind: WrapperKind, secret?: string, person?: {name: string, displayName: string, signIn?: string[]}}} added
 * @returns {Promise<{secret: string | Uint8Array<ArrayBuffer>, credentialId?: string}>}
 */
export async function newSecret({ kind, secret, person }) {
  if (kind === "recovery") return { secret: newRecoveryCode() };
  if (kind === "passphrase") return { secret: secret ?? "" };
  if (!person) throw new TypeError("a passkey is made for a person");
  return createPasskey(person);
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
 * @param {string | Uint8Array<ArrayBuffer>} secret
 * @param {{userId: string, keyId: string}} owner
 * @returns {Promise<Opened>}
 */
async function firstThatOpens(wrappers, secret, owner) {
  let spoilt = null;
  for (const { kind, jwe, wrapper_id } of wrappers) {
    try {
      return { bytes: await unwrap(kind, jwe, secret, owner), wrapperId: wrapper_id, hasNotes: saysNotes(jwe) };
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
    const held = await current();
    if (held.keyId !== vault.keyId) return work(held);
    if ((await ownKeys()).key_id === vault.keyId) throw error;
    await drop("key_changed");
    throw new Locked();
  }
}
