// @ts-check
// What this browser remembers of the log for one person: the keys that it pinned and the last checkpoint that it saw.

/** @typedef {{keys: string[], note: string, size: number, head: {sequence: number, entry_hash: string}}} Memory */

const DATABASE = "consent-log";
const STORE = "seen";

/** @returns {Promise<IDBDatabase | null>} null where the browser refuses to keep anything */
function database() {
  return new Promise((resolve) => {
    let request;
    try {
      request = indexedDB.open(DATABASE, 1);
    } catch {
      resolve(null);
      return;
    }
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      resolve(null);
    };
  });
}

/** @template T @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} work @returns {Promise<T | null>} */
async function within(mode, work) {
  const opened = await database();
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

/** @param {string} chain the person's own chain @returns {Promise<Memory | null>} */
export const recall = async (chain) => (await within("readonly", (store) => store.get(chain))) ?? null;

/** @param {string} chain @param {Memory} memory @returns {Promise<unknown>} */
export const remember = (chain, memory) => within("readwrite", (store) => store.put(memory, chain));
