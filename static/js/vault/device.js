// @ts-check
// What this browser remembers of a person between pages: never a value, and nothing that opens anything.

const DATABASE = "consent-log";
const STORE = "seen";
export const PASSWORD = "sign-in-password"; // static/js/password.js says what of it

/** As somebody signs out. */
export const forgetPassword = () => sessionStorage.removeItem(PASSWORD);

/** @param {string} name @param {string} store its one store @returns {Promise<IDBDatabase | null>} null where the browser refuses to keep anything */
export function openDatabase(name, store) {
  return new Promise((resolve) => {
    let request;
    try {
      request = indexedDB.open(name, 1);
    } catch {
      resolve(null);
      return;
    }
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      resolve(null);
    };
  });
}

/** @template T @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} work @returns {Promise<T | null>} */
async function within(mode, work) {
  const opened = await openDatabase(DATABASE, STORE);
  if (!opened) return null;
  try {
    return await new Promise((resolve) => {
      const transaction = opened.transaction(STORE, mode);
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => resolve(null);
    });
  } finally {
    opened.close();
  }
}

/** @param {string} name @returns {Promise<any>} null where nothing is remembered */
export const recalled = async (name) => (await within("readonly", (store) => store.get(name))) ?? null;

/** @param {string} name @param {unknown} what @returns {Promise<unknown>} */
export const keep = (name, what) => within("readwrite", (store) => store.put(what, name));

/**
 * Keeps what `change` makes of it, in one transaction: two tabs may do so at once.
 * @param {string} name @param {(kept: any) => any} change of null where nothing is remembered; undefined leaves it as it is
 * @returns {Promise<unknown>}
 */
export const rekeep = (name, change) =>
  within("readwrite", (store) => {
    const request = store.get(name);
    request.onsuccess = () => {
      const next = change(request.result ?? null);
      if (next !== undefined) store.put(next, name);
    };
    return request;
  });

/** What was seen of a vault of this person; a new one begins without. @param {string} userId */
export const forgetVault = (userId) => Promise.all([keep(`notes:${userId}`, null), keep(`segments:${userId}`, null)]);

/** @param {string} userId @returns {Promise<boolean>} whether this browser saw one, whatever the service says */
export const remembersVault = async (userId) => (await Promise.all([recalled(`notes:${userId}`), recalled(`segments:${userId}`)])).some(Boolean);

/**
 * The generation of a new vault's first notes: above that of any vault of this person, so that the devices that remember an
 * earlier one take it over. This browser may remember none of those that others remember, so that it is at least the seconds
 * since 1970: a change of the key counts one, and one a second is more than anybody makes.
 * @param {string} userId @returns {Promise<number>}
 */
export async function nextGeneration(userId) {
  const seen = await recalled(`notes:${userId}`);
  return Math.max((seen?.generation ?? 0) + 1, Math.floor(Date.now() / 1000));
}
