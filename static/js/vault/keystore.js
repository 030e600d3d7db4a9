// @ts-check
// The one place on this machine that holds an unlocked vault key between pages: an IndexedDB record of a key that
// cannot be read.

import { openDatabase } from "./device.js";

/**
 * @typedef {{userId: string, sessionTag: string, keyId: string, key: CryptoKey, hasNotes?: boolean, activeAt: number}} Held
 */

const DATABASE = "consent-vault";
const STORE = "unlocked";
const RECORD = "key";

/** Where the browser refuses IndexedDB, the key lives as long as this page. @type {Held | null} */
let inMemory = null;

// Written at once, where a database takes its time: a page may be gone before its database has deleted the record.
const LOCKED = "vault-locked";

/** What is held now is not to be used again, whatever becomes of this page. */
export function markLocked() {
  try {
    localStorage.setItem(LOCKED, "1");
  } catch {
    // without it, the record goes as soon as the database deletes it
  }
}

/** Whether what is held is not to be used. @returns {boolean} */
export function isMarkedLocked() {
  try {
    return localStorage.getItem(LOCKED) !== null;
  } catch {
    return false;
  }
}

/** What is held from now on was unlocked after that. */
export function unmarkLocked() {
  try {
    localStorage.removeItem(LOCKED);
  } catch {
    // then there was no mark either
  }
}

const database = () => openDatabase(DATABASE, STORE);

/**
 * Reads the record and leaves what `change` says, in one transaction, so that a lock in one tab is never undone by
 * an activity mark of another.
 * @param {(held: Held | null) => Held | null | undefined} change undefined leaves it as it is, null deletes it
 * @returns {Promise<Held | null>} what is held now
 */
export async function update(change) {
  const db = await database();
  if (!db) return changeInMemory(change);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(STORE, "readwrite");
      const store = transaction.objectStore(STORE);
      /** @type {Held | null} */
      let now = null;
      store.get(RECORD).onsuccess = (event) => {
        const held = /** @type {IDBRequest} */ (event.target).result ?? null;
        const next = change(held);
        now = next === undefined ? held : next;
        if (next === null && held) store.delete(RECORD);
        if (next) store.put(next, RECORD);
      };
      transaction.oncomplete = () => resolve(now);
      transaction.onabort = () => reject(transaction.error ?? new Error("the browser could not keep the key"));
    });
  } finally {
    db.close();
  }
}

/** @param {(held: Held | null) => Held | null | undefined} change @returns {Held | null} */
function changeInMemory(change) {
  const next = change(inMemory);
  if (next !== undefined) inMemory = next;
  return inMemory;
}
