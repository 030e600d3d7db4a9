// @ts-check
// What a vault remembers of its own approvals, in its sealed notes: the only authority for sealing newer copies.

import { Refused } from "./errors.js";

/**
 * Attributes are "all" of what was asked, or of each its place in the request's list, and the path of one that is not in it.
 * Times are seconds since 1970.
 * @typedef {[attributes: "all" | (number | string)[], endsAt: number, revision: number, approvalSha256: string]} Kept
 */
/** @typedef {Record<string, {sub: string, keys: Record<string, Record<string, Kept>>}>} Records app → thumbprint of its key → request digest */
/**
 * A request as it was frozen, whose digest was computed again.
 * @typedef {{user_id: string, app_id: string, connector_thumbprint: string, attributes: string[], required_attributes: string[] | null, optional_attributes: string[] | null}} Frozen
 */
/** @typedef {{attributes: string[], endsAt: number, revision: number, approvalSha256: string}} Approved */

/** What the places in a record count through. @param {Frozen} request @returns {string[]} */
function listOf({ attributes, required_attributes, optional_attributes }) {
  const named = [...(required_attributes ?? []), ...(optional_attributes ?? [])];
  return [...new Set(named.length ? named : attributes)];
}

/** @param {string[]} list @param {string[]} attributes @returns {Kept[0]} */
function packed(list, attributes) {
  const chosen = new Set(attributes);
  if (chosen.size === list.length && list.every((path) => chosen.has(path))) return "all";
  const places = list.flatMap((path, place) => (chosen.has(path) ? [place] : []));
  return [...places, ...[...chosen].filter((path) => !list.includes(path)).sort()];
}

/** @param {string[]} list @param {Kept[0]} kept @returns {string[]} */
const unpacked = (list, kept) => (kept === "all" ? list : kept.flatMap((one) => (typeof one === "string" ? one : (list[one] ?? [])))).toSorted();

/**
 * With the record of an approval, in the place of an older one of the same request; what is over by now leaves.
 * @param {Records | undefined} records @param {Frozen} request @param {string} digest of that request
 * @param {Approved} approved @param {number} now
 * @returns {Records}
 * @throws {Refused} reason request_changed, where the app knows this person by another ID, or another app by this one
 */
export function withRecord(records, request, digest, { attributes, endsAt, revision, approvalSha256 }, now) {
  const { app_id, user_id: sub, connector_thumbprint } = request;
  const kept = own(records, app_id);
  if (kept && kept.sub !== sub) throw new Refused("this app knows you by another ID", "user_id", "request_changed");
  const others = Object.entries(records ?? {}).filter(([other]) => other !== app_id);
  if (others.some(([, app]) => app.sub === sub)) throw new Refused("another app knows you by this ID", "user_id", "request_changed");
  const record = /** @type {Kept} */ ([packed(listOf(request), attributes), endsAt, revision, approvalSha256]);
  const keys = { ...kept?.keys, [connector_thumbprint]: { ...own(kept?.keys, connector_thumbprint), [digest]: record } };
  return withoutRecords({ ...records, [app_id]: { sub, keys } }, [], now);
}

/**
 * What the vault approved of this very request, to this key.
 * @param {Records | undefined} records @param {Frozen} request @param {string} digest
 * @returns {Approved | null} attributes are sorted
 */
export function recordOf(records, request, digest) {
  const app = own(records, request.app_id);
  const found = app?.sub === request.user_id ? own(own(app.keys, request.connector_thumbprint), digest) : undefined;
  if (!found) return null;
  const [attributes, endsAt, revision, approvalSha256] = found;
  return { attributes: unpacked(listOf(request), attributes), endsAt, revision, approvalSha256 };
}

/**
 * Without the records of these requests, or of all, and without what is over by now. By which ID an app knows the person stays.
 * @param {Records | undefined} records @param {string[] | null} digests null for all @param {number} now @returns {Records}
 */
export function withoutRecords(records, digests, now) {
  const stays = (/** @type {[string, Kept]} */ [digest, [, endsAt]]) => endsAt > now && digests !== null && !digests.includes(digest);
  return mapped(records ?? {}, ({ sub, keys }) => ({
    sub,
    keys: nonEmpty(mapped(keys, (requests) => Object.fromEntries(Object.entries(requests).filter(stays)))),
  }));
}

/** @template T @param {Record<string, T> | undefined} object @param {string} name @returns {T | undefined} */
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** @template T, R @param {Record<string, T>} object @param {(value: T) => R} change @returns {Record<string, R>} */
const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** @template {object} T @param {Record<string, T>} object @returns {Record<string, T>} */
const nonEmpty = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => Object.keys(value).length));
