// @ts-check
// Exports are refreshed: once a value of a continuous approval changed, this browser seals a newer one to the same key.

import { gettext, interpolate } from "./i18n.js";
import { explain, toast } from "./page.js";
import * as api from "./vault/api.js";
import { signedRevision } from "./vault/approvals.js";
import * as sealing from "./formats/exports.js";
import { buildSlice } from "./vault/review.js";
import { loadRequest, Locked, openAll } from "./vault/vault.js";

/** @typedef {{grant_id: string, request_id: string, app_name: string, approved_attributes: string[], next_revision: number, renewed: string[]}} Outdated */

/**
 * Refreshes every outdated export and says for whom, and what of it changed. Another tab may be faster: then there is
 * nothing left to do.
 * @returns {Promise<string[]>} the grants whose exports are new
 */
export async function refreshExports() {
  /** @type {string[]} */
  const done = [];
  try {
    const { grants } = await api.call("GET", "/consent/grants/outdated");
    for (const grant of /** @type {Outdated[]} */ (grants)) {
      if (await refreshOne(grant)) done.push(grant.grant_id);
    }
  } catch (error) {
    if (!(error instanceof Locked)) toast(explain(error), "warn");
  }
  return done;
}

/** One that cannot be refreshed keeps the others waiting only where the vault is locked. @param {Outdated} grant */
async function refreshOne(grant) {
  try {
    await refresh(grant);
  } catch (error) {
    if (error instanceof Locked) throw error;
    const code = /** @type {{code?: string}} */ (error).code;
    if (code !== "stale_revision") toast(`${grant.app_name}: ${explain(error)}`, "warn");
    return false;
  }
  toast(interpolate(gettext("%(app)s gets the newer values: %(names)s"), { app: grant.app_name, names: grant.renewed.join(", ") }), "info");
  return true;
}

/** @param {Outdated} grant */
async function refresh({ grant_id, request_id, approved_attributes, next_revision }) {
  const { request, request_digest, connector_key_id, connector_public_key, issuer } = await loadRequest(request_id);
  const slice = buildSlice(request.scope, approved_attributes, await openAll({ scope: request.scope }));
  if (!slice.sources.length) return;
  const members = {
    kid: connector_key_id, iss: new URL(issuer).origin, sub: request.user_id, aud: request.app_id, request_id,
    scope: request.scope, revision: next_revision, request_digest,
  };
  const jwe = await sealing.sealExport(slice, members, connector_public_key);
  const signed = await signedRevision(grant_id, members, { attributes: approved_attributes, jwe });
  await api.putExport(grant_id, { revision: next_revision, sources: slice.sources, jwe, ...signed });
}
