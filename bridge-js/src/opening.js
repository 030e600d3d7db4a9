// @ts-check
// From what was asked to what came back: every member that names the request is compared before anything is opened.

import { checkApproval, KeyPins } from "./approvals.js";
import { canonical } from "./formats/canonical.js";
import { KeyRefused, oneLine, Refused } from "./formats/errors.js";
import { definitionsOf, openExport } from "./formats/exports.js";
import { thumbprint } from "./formats/keys.js";

/** @typedef {import("./index.js").AskedConsent} AskedConsent */
/** @typedef {import("./index.js").Envelope} Envelope */
/** @typedef {import("./index.js").Slice} Slice */

/**
 * A fetched export, opened: header, content and envelope all have to say what was asked for.
 * @param {Envelope} envelope @param {AskedConsent} asked @param {unknown} key
 * @param {{seenRevision?: number, etag?: string, pins?: KeyPins}} [options]
 * @returns {Promise<Slice>}
 */
export async function openEnvelope(envelope, asked, key, { seenRevision = 0, etag = "", pins = new KeyPins() } = {}) {
  for (const member of /** @type {const} */ (["request_id", "user_id", "scope", "connector_key_id"])) {
    compare(member, envelope[member], asked[member], "the answer");
  }
  if (envelope.revision < seenRevision) {
    throw new Refused(`revision ${envelope.revision} is lower than ${seenRevision}, which was seen before`, "revision");
  }
  await checkApproval(envelope, asked, originOf(asked.issuer), { pins });
  const { jwe, size_bytes, connector_key_id, approval, owner_key, key_history, owner_key_reset, ...shared } = envelope;
  const content = await openExport(jwe, key, {
    kid: connector_key_id,
    iss: originOf(asked.issuer),
    sub: asked.user_id,
    aud: asked.app_id,
    request_id: asked.request_id,
    scope: asked.scope,
    revision: envelope.revision,
    request_digest: asked.request_digest,
  });
  const expected = definitionsOf(asked.request.derived, content.approved_attributes) ?? {};
  compare("derived", canonical(content.derived ?? {}), canonical(expected), "the content");
  const [one, two] = [envelope.approved_attributes, content.approved_attributes].map((paths) => [...new Set(paths)].sort().join());
  compare("approved_attributes", one, two, "the answer");
  return { ...shared, ...content, etag };
}

/** @param {string} url */
export function originOf(url) {
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new Refused(`${oneLine(url, 80)} is not an http or https address`, "iss");
  return new URL(url).origin;
}

/** The private key is the one that the request named; found out before a read is counted. @param {AskedConsent} asked @param {unknown} key */
export async function checkKey(asked, key) {
  if ((await thumbprint(key)) !== asked.connector_fingerprint) {
    throw new KeyRefused("this is not the key that the request named", "connector_fingerprint");
  }
}

/** Refused, naming the member, where the two differ. @param {string} member @param {unknown} found @param {unknown} expected @param {string} where */
export function compare(member, found, expected, where) {
  if (found !== expected) throw new Refused(`${where}'s ${member} is not the one that was asked for`, member);
}
