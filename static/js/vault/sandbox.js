// @ts-check
// Sandbox people: a developer's browser holds their vault keys, apart from the developer's own vault. Everything here is
// given whom it is about; nothing of the person who is signed in is read or changed.

import { withAnswers } from "../formats/derived.js";
import { newRoot, signApproval, signResumption } from "../formats/signing.js";
import { openRoot, openSegment, rootMembers, sealSegment } from "../formats/vault.js";
import { newRecoveryCode, newVaultKey, sealingKey, unwrap, wrap } from "../formats/wrappers.js";
import { call } from "./api.js";
import * as sealing from "../formats/exports.js";
import { buildSlice, checkRequest, isRequested } from "./review.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").Keys} Keys */
/** @typedef {import("./types.js").OpenedSegment} OpenedSegment */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("./types.js").StoredSegment} StoredSegment */
/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {{userId: string, addresses: string}} Person `addresses` ends in a slash: where the person is addressed */

/** Somebody made up, with a little of everything that apps like to ask for. @type {Record<string, Record<string, Json>>} */
export const PROFILE = {
  identity: { basic: { full_name: "Ada Sandberg", age: 34 } },
  contact: { email: { email: "ada.sandberg@example.com" }, phone: { phone: "+46701740605" } },
  location: { home: { address: "Storgatan 4", city: "Uppsala", postal_code: "753 31", country: "Sweden" } },
  professional: { work: { occupation: "Carpenter" } },
  lifestyle: {
    food: { diet_preference: "Vegetarian", favorite_cuisine: "Thai", coffee_or_tea: "Tea" },
    habits: { transport: "Bicycle" },
  },
  technology: { use: { primary_device: "Phone" } },
  interests: { leisure: { sports_interest: "Climbing", travel_frequency: "Twice a year" } },
};

// --- the keys that this browser holds ------------------------------------------------------------------------------

const DATABASE = "consent-sandbox";
const STORE = "keys";

/** @returns {Promise<IDBDatabase>} */
function database() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
async function inStore(mode, work) {
  const db = await database();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(STORE, mode);
      const done = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(done.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    db.close();
  }
}

/** The key of this person's vault, where this browser holds it. @param {Person} person @returns {Promise<VaultKey | null>} */
export const storedKey = async ({ userId }) => (await inStore("readonly", (store) => store.get(userId))) ?? null;

/** @param {VaultKey} vault */
const hold = (vault) => inStore("readwrite", (store) => store.put(vault, vault.userId));

/** Nothing of a person who was deleted stays in this browser. @param {string} userId */
export const forgetKey = (userId) => inStore("readwrite", (store) => store.delete(userId));

// --- their vault ----------------------------------------------------------------------------------------------------

/** @param {Person} person @returns {Promise<Keys>} */
export const getKeys = ({ addresses }) => call("GET", `${addresses}keys`);

/**
 * Makes the vault and holds its key here. With the recovery code another browser can hold it, too.
 * @param {Person} person
 * @returns {Promise<{vault: VaultKey, recoveryCode: string}>}
 */
export async function makeVault({ userId, addresses }) {
  const { keyId, bytes } = newVaultKey();
  const recoveryCode = newRecoveryCode();
  try {
    const jwe = await wrap("recovery", bytes, recoveryCode, { userId, keyId });
    const vault = { userId, keyId, key: await sealingKey(bytes) };
    const wrappers = [{ kind: "recovery", label: "Sandbox", jwe }];
    const root = await rootMembers(newRoot(), vault);
    await call("POST", `${addresses}keys`, { key_id: keyId, wrappers, ...root });
    await hold(vault);
    return { vault, recoveryCode };
  } finally {
    bytes.fill(0);
  }
}

/**
 * Holds the key of a vault that another browser or program made.
 * @param {Person} person @param {string} recoveryCode
 * @returns {Promise<VaultKey>}
 * @throws {import("../formats/errors.js").Refused | import("../formats/wrappers.js").BadSecret}
 */
export async function openVault(person, recoveryCode) {
  const keys = await getKeys(person);
  const wrapper = keys.wrappers.find(({ kind }) => kind === "recovery");
  const owner = { userId: person.userId, keyId: keys.key_id };
  const bytes = await unwrap("recovery", wrapper?.jwe ?? "", recoveryCode, owner);
  try {
    const vault = { ...owner, key: await sealingKey(bytes) };
    await hold(vault);
    return vault;
  } finally {
    bytes.fill(0);
  }
}

/**
 * Writes each segment of the profile that the vault does not have.
 * @param {Person} person @param {VaultKey} vault
 * @param {(done: number, total: number) => void} tell
 */
export async function fill({ addresses }, vault, tell) {
  const wanted = Object.entries(PROFILE).flatMap(([domain, segments]) =>
    Object.entries(segments).map(([segmentId, values]) => ({ domain, segmentId, values })),
  );
  for (const [index, { domain, segmentId, values }] of wanted.entries()) {
    tell(index, wanted.length);
    const jwe = await sealSegment(values, vault, { domain, segment_id: segmentId, content_revision: 1 });
    const attributes = Object.keys(values).sort();
    await call("PUT", `${addresses}segments/${domain}/${segmentId}`, { jwe, base_content_revision: 0, attributes });
  }
  tell(wanted.length, wanted.length);
}

/** @param {Person} person @param {VaultKey} vault @param {string} [scope] @returns {Promise<OpenedSegment[]>} */
export async function openAll({ addresses }, vault, scope) {
  const query = scope ? `?${new URLSearchParams({ scope })}` : "";
  const { segments } = await call("GET", `${addresses}segments${query}`);
  return Promise.all(
    /** @type {StoredSegment[]} */ (segments).map(async ({ jwe, ...address }) => ({
      ...address,
      values: await openSegment(jwe, vault, address),
    })),
  );
}

// --- their decisions ------------------------------------------------------------------------------------------------

/**
 * A request as this person is to see it, and what they hold of it.
 * @param {Person} person @param {VaultKey} vault @param {string} requestId
 * @returns {Promise<{data: RequestData, segments: OpenedSegment[], attributes: {path: string, value: unknown}[]}>}
 */
export async function preview(person, vault, requestId) {
  const data = /** @type {RequestData} */ (await call("GET", `${person.addresses}requests/${requestId}/data`));
  await checkRequest(data, { requestId, userId: person.userId });
  const segments = withAnswers(await openAll(person, vault, data.request.scope), data.request.derived, new Date().toISOString());
  const attributes = segments.flatMap(({ domain, segment_id, values }) =>
    Object.entries(values).map(([name, value]) => ({ path: `${domain}.${segment_id}.${name}`, value })),
  );
  return { data, segments, attributes: attributes.filter(({ path }) => isRequested(data.request, path)) };
}

/** As the person's own browser has it; made where the vault is without. @param {Person} person @param {VaultKey} vault */
async function rootOf(person, vault) {
  const found = await openRoot(await getKeys(person), vault);
  if (found) return found;
  const root = newRoot();
  await call("PUT", `${person.addresses}signing-key`, await rootMembers(root, vault));
  return root;
}

/**
 * @param {Person} person
 * @param {VaultKey} vault
 * @param {{data: RequestData, segments: OpenedSegment[]}} shown what was previewed: that is what is sealed
 * @param {{attributes: string[], accessDuration: number}} choice
 * @returns {Promise<any>} the status body
 */
export async function approve(person, vault, { data, segments }, { attributes, accessDuration }) {
  const slice = buildSlice(data.request.scope, attributes, segments, data.request.derived);
  const members = sealing.exportHeader(data);
  const jwe = await sealing.sealExport(slice, members, data.connector_public_key);
  const what = { attributes: slice.approved_attributes, accessDuration, jwe };
  const signed = await signApproval(await rootOf(person, vault), members, what);
  return call("POST", `${person.addresses}requests/${data.request.request_id}/decision`, {
    decision: "approve",
    request_digest: data.request_digest,
    access_duration: accessDuration,
    approved_attributes: slice.approved_attributes,
    sources: slice.sources,
    jwe,
    ...signed,
  });
}

/** @param {Person} person @param {string} requestId @returns {Promise<any>} the status body */
export const deny = ({ addresses }, requestId) =>
  call("POST", `${addresses}requests/${requestId}/decision`, { decision: "deny" });

/** @param {Person} person @param {VaultKey} vault @param {string} grantId @returns {Promise<any>} */
export async function resume(person, vault, grantId) {
  const grant = `${person.addresses}grants/${grantId}`;
  const { request_id } = await call("GET", `${grant}/approval`);
  const { data } = await preview(person, vault, request_id);
  const { nonce } = await call("GET", `${grant}/nonce`);
  const { iss, sub, aud, request_digest } = sealing.exportHeader(data);
  const signed = await signResumption(await rootOf(person, vault), { iss, sub, aud, grant_id: grantId, request_digest, nonce });
  return call("POST", `${grant}/resume`, signed);
}

/** @param {Person} person @param {string} grantId @param {"pause" | "revoke"} move @returns {Promise<any>} */
export const moveGrant = ({ addresses }, grantId, move) => call("POST", `${addresses}grants/${grantId}/${move}`, {});
