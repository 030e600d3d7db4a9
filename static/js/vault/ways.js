// @ts-check
// Making a vault, and changing the ways into it. A new way is kept and read back before the one that it replaces goes.

import { random, toBase64url, toHex, utf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { keyThumbprint } from "../formats/jws.js";
import { sha256 } from "../formats/sha256.js";
import { newRoot } from "../formats/signing.js";
import { rootMembers, sealNotes } from "../formats/vault.js";
import { newRecoveryCode, newVaultKey, possessionOf, sealingKey, unwrap, wrap } from "../formats/wrappers.js";
import * as api from "./api.js";
import { forgetVault, nextGeneration, remembersVault } from "./device.js";
import { hold, pageOwner, takeForNewVault } from "./keyring.js";
import { credential, noPrf, PasskeyError, PRF_INPUT, prfOutput, TIMEOUT, usePasskey } from "./passkey.js";
import { ownKeys, rawKey } from "./unlocking.js";

/** @typedef {import("./types.js").Keys} Keys */
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

const LABELS = { passphrase: "Passphrase", passkey: "Passkey", recovery: "Recovery code" };

/**
 * Makes a vault key with a passphrase, or with a passkey made for this `person`, and a recovery code. Nothing is sent
 * before `confirm()`, so that the code can be written down first; a page that is left before that has made nothing.
 * @param {{passphrase?: string, person?: {name: string, displayName: string, signIn?: string[]}, labels?: typeof LABELS, withCode?: boolean, knowsOfOlder?: boolean}} choice
 *   without a code, whoever loses the only way in loses the data: the page has to say so before; `knowsOfOlder` where the person
 *   goes on though this browser remembers a vault of theirs
 * @returns {Promise<{keyId: string, recoveryCode: string, confirm: () => Promise<Keys>}>} confirm() also unlocks; no code is ""
 * @throws {Refused} reason remembered_vault
 */
export async function createVault({ passphrase, person, labels = LABELS, withCode = true, knowsOfOlder = false }) {
  const page = pageOwner();
  if (!page) throw new TypeError("this page belongs to nobody");
  if (!knowsOfOlder && (await remembersVault(page.userId))) throw new Refused("this browser remembers a vault", "key_id", "remembered_vault");
  const kind = /** @type {WrapperKind} */ (person ? "passkey" : "passphrase");
  const { secret, credentialId } = await newSecret({ kind, secret: passphrase, person });
  const { keyId, bytes } = newVaultKey();
  const owner = { userId: page.userId, keyId, hasNotes: true };
  const recoveryCode = withCode ? newRecoveryCode() : "";
  try {
    const wrappers = [
      {
        kind,
        label: labels[kind],
        jwe: await wrap(kind, bytes, secret, owner),
        ...(credentialId ? { credential_id: credentialId } : {}),
      },
    ];
    if (withCode) wrappers.push({ kind: "recovery", label: labels.recovery, jwe: await wrap("recovery", bytes, recoveryCode, owner) });
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
 * @param {{kind: WrapperKind, secret?: string, person?: {name: string, displayName: string, signIn?: string[]}}} added
 * @returns {Promise<{secret: Secret, credentialId?: string}>}
 */
export async function newSecret({ kind, secret, person }) {
  if (kind === "recovery") return { secret: newRecoveryCode() };
  if (kind === "passphrase") return { secret: secret ?? "" };
  if (!person) throw new TypeError("a passkey is made for a person");
  const carried = person.signIn ? await takeForNewVault(person.signIn) : null;
  return carried ? { secret: carried.key, credentialId: carried.credentialId } : createPasskey(person);
}

/**
 * A passkey for the vault: one that signs in where it can open the vault as well, else a new one for the vault alone.
 * Nothing is signed in with that, so nobody checks the challenge.
 * @param {{name: string, displayName: string, signIn?: string[]}} person names shown by the device; `signIn` the
 *   credential IDs of passkeys that may serve, base64url
 * @returns {Promise<{credentialId: string, secret: Uint8Array<ArrayBuffer>}>}
 */
async function createPasskey({ name, displayName, signIn = [] }) {
  if (signIn.length) {
    try {
      return await usePasskey(signIn);
    } catch (error) {
      if (!(error instanceof PasskeyError && error.code === "no_prf")) throw error;
    }
  }
  const given = await credential(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: random(32),
        rp: { name: "Consent vault" },
        // A handle of its own: the same one as a sign-in passkey's would make some devices overwrite that one.
        user: { id: random(32), name, displayName },
        pubKeyCredParams: [
          { type: "public-key", alg: -8 },
          { type: "public-key", alg: -7 },
          { type: "public-key", alg: -257 },
        ],
        authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
        timeout: TIMEOUT,
        extensions: { prf: { eval: { first: PRF_INPUT } } },
      },
    }),
  );
  if (!given.getClientExtensionResults().prf?.enabled) throw noPrf();
  const credentialId = toBase64url(new Uint8Array(given.rawId));
  // Most devices give the output only when the passkey is used, not when it is made.
  const secret = prfOutput(given) ?? (await usePasskey([credentialId])).secret;
  return { credentialId, secret };
}

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
