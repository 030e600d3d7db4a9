// @ts-check
// From what was asked to what came back: every member that names the request is compared before anything is opened.

import { checkApproval, KeyPins } from "./approvals.js";
import { canonical, requestDigest } from "./formats/canonical.js";
import { LATER_MEMBERS } from "./formats/contract.js";
import { KeyRefused, oneLine, Refused } from "./formats/errors.js";
import { acceptedAnswers, definitionsOf, exportHeader, openExport } from "./formats/exports.js";
import { publicHalf, thumbprint } from "./formats/keys.js";

/** @typedef {import("./index.js").MadeRequest} MadeRequest */
/** @typedef {import("./index.js").Envelope} Envelope */
/** @typedef {import("./index.js").Slice} Slice */
/** @typedef {Record<string, unknown>} Members */

/** @type {Members} */
const DEFAULTS = { access_duration: 86400, refresh_policy: "snapshot" };
const OURS = ["user_id", "scope", "purpose", "access_duration", "required_attributes", "optional_attributes", "max_reads",
  "refresh_policy", "binding_message"];
const STATED_TWICE = /** @type {const} */ (["request_id", "app_id", "user_id", "scope", "access_duration", "expires_at"]);

/**
 * The request that the person will see is the one that we sent in `body`, and its digest is over exactly that.
 *
 * The server alone knows the request's and the app's name and id, the deadline, what the scope covers, and what the app
 * calls somebody whom it named by a sharing ID or a handle; all else comes from `body`, so that a digest that fits is over
 * our own words.
 * @param {MadeRequest} request @param {Members} body what was sent @param {string} fingerprint of the key in it
 */
export function checkRequest(request, body, fingerprint) {
  for (const member of STATED_TWICE) compare(member, request[member], request.request[member], "the answer");
  compare("connector_key_id", request.connector_key_id, body.connector_key_id, "the frozen request");
  compare("connector_fingerprint", request.connector_fingerprint, fingerprint, "the frozen request");
  const frozen = /** @type {Members} */ ({ ...request.request });
  const expected = frozenRequest(body, frozen, fingerprint);
  for (const member of Object.keys(expected)) {
    compare(member, canonical(frozen[member] ?? null), canonical(expected[member]), "the frozen request");
  }
  if (!request.request.attributes.every((path) => covers(request.scope, path))) {
    throw new Refused("the frozen request's attributes are not all in the scope", "attributes");
  }
  const { derived, required_attributes, optional_attributes, attributes } = request.request;
  const named = [...(required_attributes ?? []), ...(optional_attributes ?? [])];
  const known = [...(named.length ? named : attributes), ...acceptedAnswers(request.request)];
  if (Object.keys(derived ?? {}).some((path) => !known.includes(path))) {
    throw new Refused("the frozen request's derived names what was not asked for", "derived");
  }
  if (requestDigest(expected) !== request.request_digest) {
    throw new Refused("request_digest is not the digest of what was asked for", "request_digest");
  }
}

/** What the digest is over. @param {Members} body @param {Members} facts @param {string} fingerprint @returns {Members} */
function frozenRequest(body, facts, fingerprint) {
  const { request_id, app_id, app_name, attributes, expires_at } = facts;
  const own = Object.fromEntries(OURS.map((member) => [member, body[member] ?? DEFAULTS[member] ?? null]));
  if (/^(sh_|@)/.test(String(own.user_id))) own.user_id = String(facts.user_id); // no answer repeats an invitation
  const given = LATER_MEMBERS.filter((member) => (body[member] ?? null) !== null);
  const later = Object.fromEntries(given.map((member) => [member, body[member]]));
  const answers = facts.derived === undefined ? {} : { derived: facts.derived };
  return { request_id, app_id, app_name, attributes, expires_at, connector_thumbprint: fingerprint, ...own, ...later, ...answers };
}

/** Whether an attribute lies in a scope; an unknown form of scope covers nothing. @param {string} scope @param {string} path */
function covers(scope, path) {
  if (scope === "pkm.read") return true;
  if (!scope.startsWith("attr.")) return false;
  const rest = scope.slice("attr.".length);
  return rest.endsWith(".*") ? path.startsWith(rest.slice(0, -1)) : path === rest;
}

/**
 * A fetched export, opened: header, content and envelope all have to say what was asked for.
 * @param {Envelope} envelope @param {MadeRequest} request @param {unknown} key
 * @param {{seenRevision?: number, etag?: string, pins?: import("./index.js").KeyPins}} [options]
 * @returns {Promise<Slice>}
 */
export async function openEnvelope(envelope, request, key, { seenRevision = 0, etag = "", pins = new KeyPins() } = {}) {
  for (const member of /** @type {const} */ (["request_id", "user_id", "scope", "connector_key_id"])) {
    compare(member, envelope[member], request[member], "the answer");
  }
  if (envelope.revision < seenRevision) {
    throw new Refused(`revision ${envelope.revision} is lower than ${seenRevision}, which was seen before`, "revision");
  }
  await checkApproval(envelope, request, originOf(request.issuer), { pins });
  const { jwe, size_bytes, connector_key_id, approval, owner_key, key_history, owner_key_reset, ...shared } = envelope;
  const content = await openExport(jwe, key, exportHeader({ ...request, request, export_revision: envelope.revision }));
  const expected = definitionsOf(request.request.derived, content.approved_attributes) ?? {};
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

/** The private key is the one that the request named; found out before a read is counted. @param {MadeRequest} request @param {unknown} key */
export async function checkKey(request, key) {
  if ((await thumbprint(await publicHalf(key))) !== request.connector_fingerprint) {
    throw new KeyRefused("this is not the key that the request named", "connector_fingerprint");
  }
}

/** Refused, naming the member, where the two differ. @param {string} member @param {unknown} found @param {unknown} expected @param {string} where */
export function compare(member, found, expected, where) {
  if (found !== expected) throw new Refused(`${where}'s ${member} is not the one that was asked for`, member);
}
