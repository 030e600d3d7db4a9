// @ts-check
// What the person will be shown is what we asked: compared member by member, and then by its digest.

import { canonical, requestDigest } from "./formats/canonical.js";
import { LATER_MEMBERS } from "./formats/contract.js";
import { acceptedAnswers } from "./formats/exports.js";
import { Refused } from "./formats/errors.js";
import { compare } from "./opening.js";

/** @typedef {import("./index.js").AskedConsent} AskedConsent */
/** @typedef {Record<string, unknown>} Members */

/** @type {Members} */
const DEFAULTS = { access_duration: 86400, refresh_policy: "snapshot" };
const OURS = ["user_id", "scope", "purpose", "access_duration", "required_attributes", "optional_attributes", "max_reads",
  "refresh_policy", "binding_message"];
const STATED_TWICE = /** @type {const} */ (["request_id", "app_id", "user_id", "scope", "access_duration", "expires_at"]);

/**
 * The server alone knows the request's and the app's name and id, the deadline, what the scope covers, and what the app
 * calls somebody whom it named by a sharing ID or a handle; all else comes from `body`, so that a digest that fits is over
 * our own words.
 * @param {AskedConsent} asked @param {Members} body what was sent @param {string} fingerprint of the key in it
 */
export function checkAsked(asked, body, fingerprint) {
  for (const member of STATED_TWICE) compare(member, asked[member], asked.request[member], "the answer");
  compare("connector_key_id", asked.connector_key_id, body.connector_key_id, "the frozen request");
  compare("connector_fingerprint", asked.connector_fingerprint, fingerprint, "the frozen request");
  const told = /** @type {Members} */ ({ ...asked.request });
  const expected = frozenRequest(body, told, fingerprint);
  for (const member of Object.keys(expected)) {
    compare(member, canonical(told[member] ?? null), canonical(expected[member]), "the frozen request");
  }
  if (!asked.request.attributes.every((path) => covers(asked.scope, path))) {
    throw new Refused("the frozen request's attributes are not all in the scope", "attributes");
  }
  const { derived, required_attributes, optional_attributes, attributes } = asked.request;
  const named = [...(required_attributes ?? []), ...(optional_attributes ?? [])];
  const known = [...(named.length ? named : attributes), ...acceptedAnswers(asked.request)];
  if (Object.keys(derived ?? {}).some((path) => !known.includes(path))) {
    throw new Refused("the frozen request's derived names what was not asked for", "derived");
  }
  if (requestDigest(expected) !== asked.request_digest) {
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
