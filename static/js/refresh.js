// @ts-check
// Exports are refreshed: once a value of a continuous approval changed, this browser seals a newer one to the same key,
// as far as its own vault approved that.

import * as exports from "./formats/exports.js"; // by its own name the storage would rewrite it twice
import { gettext, interpolate } from "./i18n.js";
import { explain, toast } from "./page.js";
import * as api from "./vault/api.js";
import { approvedTerms, sendRemembered, signedRevision } from "./vault/approvals.js";
import { takeOutEnded } from "./vault/ended.js";
import { readNotes } from "./vault/notes.js";
import { openToSeal } from "./vault/reading.js";
import { buildSlice } from "./vault/review.js";
import { loadRequest, Locked, Refused } from "./vault/vault.js";

/** @typedef {{grant_id: string, request_id: string, app_name: string, approved_attributes: string[], next_revision: number, renewed: string[]}} Outdated */

/**
 * Refreshes every outdated export and says for whom, and what of it changed. Another tab may be faster: then there is
 * nothing left to do.
 * @returns {Promise<{renewed: string[], unapproved: Outdated[]}>} the grants whose exports are new; those that this vault
 *   did not approve as they are now, for which nothing was sealed
 */
export async function refreshExports() {
  /** @type {string[]} */
  const renewed = [];
  /** @type {Outdated[]} */
  const unapproved = [];
  try {
    const { grants } = await api.call("GET", "/consent/grants/outdated");
    if (grants.length) await takeOutEnded();
    for (const grant of /** @type {Outdated[]} */ (grants)) {
      const end = await refreshOne(grant);
      if (end === "renewed") renewed.push(grant.grant_id);
      if (end === "unapproved") unapproved.push(grant);
    }
  } catch (error) {
    // what went back is told at the top of the page
    if (!(error instanceof Locked || isRolledBack(error))) toast(explain(error), "warn");
  }
  return { renewed, unapproved };
}

/** One that cannot be refreshed keeps the others waiting only where the vault is locked. @param {Outdated} grant */
async function refreshOne(grant) {
  try {
    if (!(await refresh(grant))) return "unchanged";
  } catch (error) {
    if (error instanceof Locked || isRolledBack(error)) throw error;
    if (error instanceof Refused && error.reason === "stale") return "unchanged";
    if (error instanceof Refused && error.reason === "not_approved") {
      toast(interpolate(gettext("%(app)s's updates do not match what you approved, so nothing was sent. Look at Apps."), { app: grant.app_name }), "warn");
      return "unapproved";
    }
    const code = /** @type {{code?: string}} */ (error).code;
    if (code !== "stale_revision") toast(`${grant.app_name}: ${explain(error)}`, "warn");
    return "failed";
  }
  toast(interpolate(gettext("%(app)s gets the newer values: %(names)s"), { app: grant.app_name, names: grant.renewed.join(", ") }), "info");
  return "renewed";
}

/** @param {unknown} error */
const isRolledBack = (error) => error instanceof Refused && error.reason === "rolled_back";

/** @param {Outdated} grant @returns {Promise<boolean>} false where nothing is left to seal */
async function refresh(grant) {
  const { data, members } = await nextExport(grant);
  const slice = await nextSlice(data.request, grant.approved_attributes);
  if (!slice.sources.length) return false;
  const terms = await approvedTerms(grant.grant_id, data, members, grant.approved_attributes);
  await send(grant, { data, members, slice, terms });
  return true;
}

/** @param {Outdated} grant */
async function nextExport({ request_id, next_revision }) {
  const data = await loadRequest(request_id);
  if (data.request.refresh_policy !== "continuous") throw new Refused("a snapshot has no newer copy", "refresh_policy", "not_approved");
  return { data, members: { ...exports.exportHeader(data), revision: next_revision } };
}

/**
 * Answers are made anew once a month alone: until then the time of a change would tell of the value behind them.
 * @param {import("./vault/types.js").FrozenRequest} request @param {string[]} attributes
 */
async function nextSlice({ scope, app_id, derived }, attributes) {
  const segments = await openToSeal({ scope });
  const definitions = exports.definitionsOf(derived, attributes);
  if (!definitions) return buildSlice(scope, attributes, segments);
  const { isTimed, repeatedAnswers, withAnswers } = await import("./formats/derived.js");
  if (Object.values(definitions).some(isTimed)) throw new Refused("an answer that changes by itself is given once", "derived", "not_approved");
  const at = new Date().toISOString();
  const repeated = repeatedAnswers((await readNotes()).notes.answers, app_id, definitions, at);
  return buildSlice(scope, attributes, withAnswers(segments, definitions, at, repeated), definitions);
}

/**
 * @param {Outdated} grant
 * @param {{data: import("./vault/types.js").RequestData, members: import("./formats/exports.js").ExportHeader, slice: import("./vault/types.js").ExportPlaintext, terms: import("./vault/approvals.js").Terms}} what
 */
async function send({ grant_id, approved_attributes }, { data, members, slice, terms }) {
  const jwe = await exports.sealExport(slice, members, data.connector_public_key);
  const signed = await signedRevision(members, { attributes: approved_attributes, jwe, ...terms });
  const body = { revision: members.revision, sources: slice.sources, jwe, ...signed };
  await sendRemembered(data, signed, slice, (notes) => api.putExport(grant_id, { ...body, notes }));
}
