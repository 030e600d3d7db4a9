// @ts-check
// Another tab or device may have changed the vault's key: what is held here then opens and seals nothing any more.

import { Refused } from "../formats/errors.js";
import { ApiError } from "./api.js";
import { current, lock, Locked } from "./keyring.js";
import { ownKeys } from "./unlocking.js";

/** @typedef {import("./types.js").VaultKey} VaultKey */

const MISMATCHES = ["segment_mismatch", "notes_mismatch"];

/** @param {unknown} error */
const isAboutAnotherKey = (error) =>
  (error instanceof Refused && error.reason === "mismatch" && error.member === "kid") ||
  (error instanceof ApiError && MISMATCHES.includes(error.code) && error.body.member === "kid");

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
    await lock("key_changed");
    throw new Locked();
  }
}
