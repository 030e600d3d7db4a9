// @ts-check
// A request under review: what is shown is what is checked, and what is checked is what is sealed.

import { requestDigest } from "../formats/canonical.js";
import { Refused } from "../formats/errors.js";
import * as sealing from "../formats/exports.js";
import { checkConnectorKey, thumbprint } from "../formats/keys.js";
import * as api from "./api.js";
import { approvalRoot, resume as resumeSigned, sendRemembered, signedApproval } from "./approvals.js";
import { changes, pageOwner } from "./keyring.js";
import { isOwnInvitation, knownConnector, otherDomain, readNotes } from "./notes.js";
import { openToSeal } from "./reading.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").ExportPlaintext} ExportPlaintext */
/** @typedef {import("./types.js").FrozenRequest} FrozenRequest */
/** @typedef {import("./types.js").OpenedSegment} OpenedSegment */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {{path: string, domain: string, segment_id: string, name: string, value: unknown}} CoveredAttribute */

/** What this page loaded to show, by request: approval seals from these and nothing newer. */
const shown = /** @type {Map<string, Promise<RequestData>>} */ (new Map());
const previewed = /** @type {Map<string, Promise<OpenedSegment[]>>} */ (new Map());
changes.addEventListener("locked", () => previewed.clear());

/**
 * @template T
 * @param {Map<string, Promise<T>>} kept
 * @param {string} requestId
 * @param {() => Promise<T>} load
 * @returns {Promise<T>} kept for this page, unless it failed
 */
function once(kept, requestId, load) {
  const loading = kept.get(requestId) ?? load();
  kept.set(requestId, loading);
  loading.catch(() => kept.delete(requestId));
  return loading;
}

/**
 * The request as the person is to see it. A page shows this, not its own copy. Needs no unlock.
 * @param {string} requestId
 * @returns {Promise<RequestData>}
 * @throws {Refused} reason request_changed, where the thumbprint, the digest or the recipient is not that of what is
 *   shown
 */
export const loadRequest = (requestId) => once(shown, requestId, () => checkedRequest(requestId));

/** @param {string} requestId @returns {Promise<RequestData>} */
async function checkedRequest(requestId) {
  const data = await api.getRequestData(requestId);
  await checkRequest(data, { requestId });
  if (data.request.user_id === pageOwner()?.userId)
    throw new Refused("is your own ID, which no app knows you by", "user_id", "request_changed");
  return data;
}

/**
 * @param {RequestData} data
 * @param {{requestId: string, userId?: string}} expected `userId` where it is known beforehand what the app calls the person
 * @throws {Refused} reason request_changed, as for `loadRequest`
 */
export async function checkRequest(data, { requestId, userId }) {
  const { request } = data;
  const key = await checkConnectorKey(data.connector_public_key);
  same("request_id", requestId, request.request_id);
  if (userId !== undefined) same("user_id", userId, request.user_id);
  same("app_id", request.app_id, data.app?.app_id);
  same("connector_thumbprint", await thumbprint(key), request.connector_thumbprint);
  same("request_digest", await requestDigest(request), data.request_digest);
}

/** @param {string} member @param {unknown} computed @param {unknown} stated */
function same(member, computed, stated) {
  if (computed !== stated)
    throw new Refused(`is ${JSON.stringify(stated)}, but what is shown makes it ${JSON.stringify(computed)}`, member, "request_changed");
}

/**
 * The person's own values in the scope, to show before the decision. Kept, so that the same ones are sealed.
 * @param {string} requestId
 * @returns {Promise<CoveredAttribute[]>} those that exist and that the request covers, in the order of the segments
 */
export async function preview(requestId) {
  const { request } = await loadRequest(requestId);
  approvalRoot().catch(() => undefined); // at hand when it is needed; what is wrong with it is said then
  return attributesOf(await segmentsOf(request)).filter(({ path }) => isRequested(request, path));
}

/** With the answers that are asked for. @param {FrozenRequest} request @returns {Promise<OpenedSegment[]>} */
const segmentsOf = ({ request_id, scope, derived }) =>
  once(previewed, request_id, async () => {
    const segments = await openToSeal({ scope });
    if (!derived) return segments;
    const { withAnswers } = await import("../formats/derived.js"); // few requests ask for answers, and each file costs time
    return withAnswers(segments, derived, new Date().toISOString());
  });

/**
 * Whether the app's key is new, by what this vault remembers and not by what the server says. Needs the vault unlocked.
 * @param {string} requestId
 * @returns {Promise<boolean | null>} null where the vault remembers nothing of this app
 */
export async function isNewConnector(requestId) {
  const { request } = await loadRequest(requestId);
  const known = await knownConnector(request.app_id, request.connector_thumbprint);
  return known === null ? null : !known;
}

/**
 * What this vault remembers of the app, whatever the server says. Needs the vault unlocked.
 * @param {string} requestId
 * @returns {Promise<{key: "first" | "known" | "new", domainBefore: string | null, isInvited: boolean, knows: Record<string, any>}>} `domainBefore`
 *   where the app has another now; not `isInvited` where it used a sharing ID that the vault does not know; `knows` by path the
 *   answers that it has about the values that this request is about
 */
export async function memoryOf(requestId) {
  const data = await loadRequest(requestId);
  const { request, vouching } = data;
  await checkVouching(data);
  const isNew = await isNewConnector(requestId);
  const { notes } = await readNotes();
  const domainBefore = otherDomain(notes, request.app_id, vouching.domain);
  const key = isNew === null ? "first" : isNew ? "new" : "known";
  return { key, domainBefore, isInvited: await isInvited(request), knows: await answersOf(notes, request) };
}

/** @param {import("./notes.js").Notes} notes @param {FrozenRequest} request @returns {Promise<Record<string, any>>} */
async function answersOf({ answers }, { app_id, attributes, required_attributes, optional_attributes, derived }) {
  if (!answers) return {};
  const { knownAnswers } = await import("../formats/derived.js"); // few vaults gave one
  const named = [...(required_attributes ?? []), ...(optional_attributes ?? [])];
  return knownAnswers(answers, app_id, [...(named.length ? named : attributes), ...Object.values(derived ?? {}).map(({ from }) => from)]);
}

/**
 * Whether the sharing ID that the app used is the person's own, by what the vault remembers: the service could take one
 * person's for another's. True where the app used none.
 * @param {import("./types.js").FrozenRequest} request
 */
export const isInvited = async ({ invitation_sha256 }) => !invitation_sha256 || (await isOwnInvitation(invitation_sha256));

const VOUCHING = new Set(["published", "registered", "sandbox", "nobody"]);
const NEEDS_NOBODY = "standard"; // any other sensitivity, one that is not known here too, needs a word

/** Of a registered key nobody's word is taken. @param {RequestData} data @throws {Refused} */
async function checkVouching(data) {
  const { by, domain } = /** @type {Partial<import("./types.js").Vouching>} */ (data.vouching ?? {});
  if (!VOUCHING.has(by ?? "") || (domain !== null && typeof domain !== "string")) {
    throw new Refused("does not say who vouches for the key", "vouching", "request_changed");
  }
  if (by === "registered") await (await import("./registration.js")).checkRegistered(data); // few need what it loads
}

/** @param {RequestData} seen @param {RequestData} now the same, asked for once more @param {boolean} unvouched @throws {Refused} */
async function checkStillVouched(seen, now, unvouched) {
  await checkVouching(now);
  same("request_digest", now.request_digest, seen.request_digest);
  same("vouching", now.vouching.by, seen.vouching.by);
  same("vouching", now.vouching.domain, seen.vouching.domain);
  const tier = now.scope_entry.sensitivity_tier;
  same("sensitivity_tier", tier, seen.scope_entry.sensitivity_tier);
  if (now.vouching.by !== "nobody" || tier === NEEDS_NOBODY) return;
  if (tier !== "confidential" || !unvouched) throw new Refused("nobody vouches for the key", "vouching", "request_changed");
}

/** Lets a paused grant go on; the vault signs it. @param {string} grantId @returns {Promise<any>} the status body */
export const resumeGrant = (grantId) => resumeSigned(grantId, loadRequest);

export { notesWithoutApp, stopSharing } from "./approvals.js";

/** Lets the next preview read again, after a source changed. @param {string} requestId */
const forgetPreview = (requestId) => previewed.delete(requestId);

/** @param {OpenedSegment[]} segments @returns {CoveredAttribute[]} */
const attributesOf = (segments) =>
  segments.flatMap(({ domain, segment_id, values }) =>
    Object.entries(values).map(([name, value]) => ({
      path: `${domain}.${segment_id}.${name}`,
      domain,
      segment_id,
      name,
      value,
    })),
  );

/**
 * Whether an attribute may be approved at all: what the app listed, or, where it listed nothing, what its scope covers; and
 * the answers that it accepts in place of those.
 * @param {FrozenRequest} request
 * @param {string} path
 * @returns {boolean}
 */
export function isRequested(request, path) {
  if (sealing.acceptedAnswers(request).includes(path)) return true;
  const { scope, required_attributes, optional_attributes } = request;
  if (!covers(scope, path)) return false;
  if (required_attributes === null && optional_attributes === null) return true;
  return [...(required_attributes ?? []), ...(optional_attributes ?? [])].includes(path);
}

/** @param {string} scope @param {string} path @returns {boolean} */
function covers(scope, path) {
  if (scope === "pkm.read") return true;
  if (!scope.startsWith("attr.")) return false;
  const rest = scope.slice("attr.".length);
  return rest.endsWith(".*") ? path.startsWith(rest.slice(0, -1)) : path === rest;
}

/**
 * @param {string} requestId
 * @param {{attributes: string[], accessDuration?: number, unvouched?: boolean, invited?: boolean}} choice paths that the person
 *   left ticked; `unvouched` where they share it though nobody vouches for the key, `invited` where they say that they gave
 *   the app a sharing ID that the vault does not know
 * @returns {Promise<any>} the status body
 * @throws {Refused} before anything is sent, where what was asked is not what is shown, or what vouches for it is another now
 */
export async function approve(requestId, { attributes, accessDuration, unvouched = false, invited = false }) {
  const data = await loadRequest(requestId);
  await checkStillVouched(data, await checkedRequest(requestId), unvouched);
  const { request } = data;
  if (!invited && !(await isInvited(request)))
    throw new Refused("the vault does not know this sharing ID", "invitation_sha256", "unknown_invitation");
  const outside = attributes.find((path) => !isRequested(request, path));
  if (outside !== undefined)
    throw new Refused(`${outside} was not asked for`, "approved_attributes", "request_changed");
  await (await import("./ended.js")).takeOutEnded();
  const slice = buildSlice(request.scope, attributes, await segmentsOf(request), request.derived);
  const members = sealing.exportHeader(data);
  const jwe = await sealing.sealExport(slice, members, data.connector_public_key);
  const duration = accessDuration ?? request.access_duration;
  const what = { attributes: slice.approved_attributes, accessDuration: duration, jwe };
  const signed = await signedApproval(members, what);
  try {
    const decision = { decision: /** @type {const} */ ("approve"), request_digest: data.request_digest, access_duration: duration };
    const body = { ...decision, approved_attributes: slice.approved_attributes, sources: slice.sources, jwe, ...signed };
    return await sendRemembered(data, signed, slice, (notes) => api.decide(requestId, { ...body, notes }), data.vouching.domain);
  } catch (error) {
    if (error instanceof api.ApiError && error.code === "stale_revision") forgetPreview(requestId);
    throw error;
  }
}

/**
 * Needs no unlock.
 * @param {string} requestId
 * @param {string} [reason] the person's own note
 * @returns {Promise<any>} the status body
 */
export const deny = (requestId, reason) =>
  api.decide(requestId, reason ? { decision: "deny", reason } : { decision: "deny" });

/**
 * @param {string} scope
 * @param {string[]} approved
 * @param {OpenedSegment[]} segments with the answers that were asked for
 * @param {import("../formats/derived.js").Derived} [derived] their definitions
 * @returns {ExportPlaintext} `data` holds the approved attributes that exist, `sources` the segments that hold one
 */
export function buildSlice(scope, approved, segments, derived) {
  /** @type {Record<string, Record<string, Json>>} */
  const data = {};
  /** @type {Map<string, Source>} */
  const sources = new Map();
  const wanted = new Set(approved);
  for (const { domain, segment_id, content_revision, values } of segments) {
    const kept = Object.entries(values).filter(([name]) => wanted.has(`${domain}.${segment_id}.${name}`));
    if (!kept.length) continue;
    data[domain] = { ...data[domain], [segment_id]: Object.fromEntries(kept) };
    sources.set(`${domain}.${segment_id}`, { domain, segment_id, content_revision });
  }
  const sealed_at = `${new Date().toISOString().slice(0, 19)}Z`;
  return { scope, approved_attributes: [...wanted], data, sources: [...sources.values()], sealed_at, derived: sealing.definitionsOf(derived, approved) };
}
