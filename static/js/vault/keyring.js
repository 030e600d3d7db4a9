// @ts-check
// How long an unlocked vault key lives. It belongs to one person and one session, as `<html data-user-id
// data-session-tag>` names them, and is gone at lock, at sign-out, when another person or session shows up, and after
// fifteen minutes without activity. All tabs agree.

import { openDatabase } from "./device.js";

/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {{userId: string, sessionTag: string, keyId: string, key: CryptoKey, hasNotes?: boolean, activeAt: number}} UnlockedKey */
/** @typedef {"locked" | "idle" | "other_session" | "signed_out" | "key_changed"} LockReason */

export const IDLE_MILLISECONDS = 15 * 60 * 1000;
const DATABASE = "consent-vault";
const STORE = "unlocked";
const RECORD = "key";
const CARRIED = "sign-in";
const CARRIED_MILLISECONDS = 2 * 60 * 1000;
const CHECK_EVERY = 10 * 1000;
const MARK_EVERY = 10 * 1000;
const SIGNS_OF_LIFE = ["pointerdown", "keydown", "wheel", "touchstart"];

/** The vault is locked: unlock, then try again. */
export class Locked extends Error {
  constructor() {
    super("The vault is locked.");
    this.name = "Locked";
  }
}

/** None of the wrappers of that kind opens with what was given; `code` is wrong_secret or no_such_wrapper. */
export class CannotUnlock extends Error {
  /** @param {"wrong_secret" | "no_such_wrapper"} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.name = "CannotUnlock";
    this.code = code;
  }
}

/**
 * `locked` (detail: {reason}) and `unlocked`, whichever tab did it.
 */
export const changes = new EventTarget();

const channel = new BroadcastChannel("consent-vault");
/** @param {MessageEvent} event */
channel.onmessage = (event) => changes.dispatchEvent(new CustomEvent(event.data.type, { detail: event.data.detail }));

/** @param {"locked" | "unlocked"} type @param {{reason?: LockReason}} detail */
function tell(type, detail = {}) {
  channel.postMessage({ type, detail });
  changes.dispatchEvent(new CustomEvent(type, { detail }));
}

/**
 * Whose page this is, as the server wrote it.
 * @returns {{userId: string, sessionTag: string} | null} null for a page without a person
 */
export function pageOwner() {
  const { userId, sessionTag } = document.documentElement.dataset;
  return userId && sessionTag ? { userId, sessionTag } : null;
}

/**
 * Whose the record is not. Null where it is this page's own.
 * @param {UnlockedKey} record
 * @returns {LockReason | null}
 */
function reasonForStranger(record) {
  const owner = pageOwner();
  if (!owner) return "signed_out";
  return record.userId === owner.userId && record.sessionTag === owner.sessionTag ? null : "other_session";
}

/** A clock that was set back counts as idle. @param {UnlockedKey} record @returns {boolean} */
function isIdle(record) {
  const idle = Date.now() - record.activeAt;
  return idle >= IDLE_MILLISECONDS || idle < -CHECK_EVERY;
}

// Only a page that was just loaded knows who is signed in. A tab left open from an earlier session must not use the key
// of the present one, and must not take it away either.
let justLoaded = true;

/**
 * Drops what may not be used; otherwise leaves it, or marks it as used now.
 * @param {boolean} active
 * @returns {Promise<UnlockedKey | null>} the record, if this page may use it
 */
async function checked(active) {
  const fresh = justLoaded;
  justLoaded = false;
  /** @type {LockReason | null} */
  let dropped = null;
  /** @type {UnlockedKey | null} */
  let usable = null;
  await update((/** @type {UnlockedKey | null} */ record) => {
    if (!record) return undefined;
    const stranger = reasonForStranger(record);
    if (stranger && !fresh) return undefined;
    dropped = stranger ?? (isMarkedLocked() ? "locked" : isIdle(record) ? "idle" : null);
    if (dropped) return null;
    usable = active ? { ...record, activeAt: Date.now() } : record;
    return active ? usable : undefined;
  });
  if (dropped) tell("locked", { reason: dropped });
  return usable;
}

/** The key for use now; using it is activity. @returns {Promise<VaultKey>} @throws {Locked} */
export async function current() {
  const record = await checked(true);
  if (!record) throw new Locked();
  return { userId: record.userId, keyId: record.keyId, key: record.key, hasNotes: record.hasNotes ?? false };
}

/** Looking is no activity. @returns {Promise<boolean>} */
export const isUnlocked = async () => (await checked(false)) !== null;

/** @param {Omit<VaultKey, "userId">} unlocked a key that is not extractable */
export async function hold({ keyId, key, hasNotes = false }) {
  if (key.extractable) throw new TypeError("a key that can be read is never kept");
  const owner = pageOwner();
  if (!owner) throw new Locked();
  justLoaded = false;
  await update(() => null, CARRIED); // a vault is made, or opened: nothing more is to come of a sign-in
  await update(() => {
    unmarkLocked(owner.sessionTag); // while the record is this transaction's: an earlier one is overwritten
    return { ...owner, keyId, key, hasNotes, activeAt: Date.now() };
  });
  tell("unlocked");
}

/** @param {LockReason} [reason] */
export async function lock(reason = "locked") {
  markLocked();
  await update(() => null);
  await update(() => null, CARRIED);
  tell("locked", { reason });
}

/** @typedef {{credentialId: string, key: CryptoKey}} Carried */

/**
 * For the page that comes after the sign-in: what its passkey gave, which opens at most the wrapper of this very passkey.
 * Of a sign-up it is for the vault that is to be made, a few pages later.
 * @param {string} credentialId @param {CryptoKey} key `unreadableSecret`, which cannot be read
 */
export const carry = (credentialId, key, { forNewVault = false } = {}) => update(() => ({ credentialId, key, forNewVault, at: Date.now() }), CARRIED);

/** @param {{at: number}} carried @param {number} most milliseconds */
const isRecent = ({ at }, most) => Math.abs(Date.now() - at) < most;

/** Once, and not long after; a page of nobody takes what is for a new vault, too. @returns {Promise<Carried | null>} */
export async function takeCarried() {
  let taken = null;
  await update((carried) => {
    if (carried?.forNewVault && pageOwner() && isRecent(carried, IDLE_MILLISECONDS)) return undefined;
    taken = carried && !carried.forNewVault && isRecent(carried, CARRIED_MILLISECONDS) ? carried : null;
    return null;
  }, CARRIED);
  return taken;
}

/** Once, for the new vault of whom these passkeys sign in. @param {string[]} credentialIds @returns {Promise<Carried | null>} */
export async function takeForNewVault(credentialIds) {
  let taken = null;
  await update((carried) => {
    if (!carried?.forNewVault) return undefined;
    taken = credentialIds.includes(carried.credentialId) && isRecent(carried, IDLE_MILLISECONDS) ? carried : null;
    return null;
  }, CARRIED);
  return taken;
}

let marked = 0;
let watching = false;

/** The person did something: at most one mark every ten seconds. */
function alive() {
  if (Date.now() - marked < MARK_EVERY) return;
  marked = Date.now();
  void checked(true);
}

/**
 * Runs on every page, signed in or not: a page of nobody, of someone else, or of a later session drops the key at once.
 * Checks again by timer, when the tab comes to the front, and when the browser brings a page back from its cache.
 * @returns {Promise<boolean>} whether the vault is unlocked
 */
export async function watch() {
  if (watching) return isUnlocked();
  watching = true;
  const look = () => void checked(false);
  setInterval(look, CHECK_EVERY);
  addEventListener("pageshow", look);
  document.addEventListener("visibilitychange", look);
  for (const sign of SIGNS_OF_LIFE) addEventListener(sign, alive, { passive: true, capture: true });
  return isUnlocked();
}

// The one place on this machine that holds an unlocked vault key between pages: an IndexedDB record of a key that cannot
// be read.

/** Where the browser refuses IndexedDB, the key lives as long as this page. @type {UnlockedKey | null} */
let inMemory = null;

// Written at once, where a database takes its time: a page may be gone before its database has deleted the record.
const LOCKED = "vault-locked";
// The session in which it was unlocked: what a page looks like before it has asked the database. It opens nothing.
const OPEN = "vault-open";

/** What is held now is not to be used again, whatever becomes of this page. */
function markLocked() {
  try {
    localStorage.setItem(LOCKED, "1");
    localStorage.removeItem(OPEN);
  } catch {
    // without it, the record goes as soon as the database deletes it
  }
}

/** Whether what is held is not to be used. @returns {boolean} */
function isMarkedLocked() {
  try {
    return localStorage.getItem(LOCKED) !== null;
  } catch {
    return false;
  }
}

/** What is held from now on was unlocked after that. @param {string} sessionTag */
function unmarkLocked(sessionTag) {
  try {
    localStorage.removeItem(LOCKED);
    localStorage.setItem(OPEN, sessionTag);
  } catch {
    // then there was no mark either, and none is needed
  }
}

const database = () => openDatabase(DATABASE, STORE);

/**
 * Reads the record and leaves what `change` says, in one transaction, so that a lock in one tab is never undone by
 * an activity mark of another.
 * @param {(record: any) => any} change of null where nothing is held; undefined leaves it as it is, null deletes it
 * @param {string} name which record
 * @returns {Promise<any>} what is held now
 */
async function update(change, name = RECORD) {
  const db = await database();
  if (!db) return name === RECORD ? changeInMemory(change) : null; // nothing is carried where nothing is kept
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(STORE, "readwrite");
      const store = transaction.objectStore(STORE);
      /** @type {unknown} */
      let now = null;
      store.get(name).onsuccess = (event) => {
        const record = /** @type {IDBRequest} */ (event.target).result ?? null;
        const next = change(record);
        now = next === undefined ? record : next;
        if (next === null && record) store.delete(name);
        if (next) store.put(next, name);
      };
      transaction.oncomplete = () => resolve(now);
      transaction.onabort = () => reject(transaction.error ?? new Error("the browser could not keep the key"));
    });
  } finally {
    db.close();
  }
}

/** @param {(record: UnlockedKey | null) => UnlockedKey | null | undefined} change @returns {UnlockedKey | null} */
function changeInMemory(change) {
  const next = change(inMemory);
  if (next !== undefined) inMemory = next;
  return inMemory;
}
