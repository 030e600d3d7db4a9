// @ts-check
// Exports: the approved slice, sealed to the asking app's own key and bound to one request. What may stand in the header
// is decided here, before any key is touched; the JOSE library does the cryptography.

import { importJWK } from "../jose.js";
import { utf8 } from "./bytes.js";
import { Refused, shown } from "./errors.js";
import { isObject, parseObject } from "./json.js";
import { jsonBytes, open, seal } from "./jwe.js";
import { checkConnectorKey, checkPrivateKey } from "./keys.js";
import { checkHeader, PROFILES, readHeader } from "./profiles.js";

/** @typedef {{domain: string, segment_id: string, content_revision?: number}} Source no app is told the revision: one counter for all of them */
/** @typedef {{scope: string, approved_attributes: string[], data: Record<string, any>, sources: Source[], sealed_at: string, derived?: import("./derived.js").Derived}} ExportContent `derived` of what is an answer in place of a value */
/** @typedef {{kid: string, iss: string, sub: string, aud: string, request_id: string, scope: string, revision: number, request_digest: string}} ExportHeader */

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const PLAINTEXT_MEMBERS = ["scope", "approved_attributes", "data", "sources", "sealed_at"];
const LATER_PLAINTEXT_MEMBERS = ["derived", "pad"];
const PADDED_TO = 256; // bytes: how long a slice is tells nobody what it says
const SOURCE_MEMBERS = ["domain", "segment_id"];
const ATTRIBUTE_DEPTH = 3; // domain.segment.attribute

/**
 * What the header of an export says of the request that it is for.
 * @param {{request: {request_id: string, user_id: string, app_id: string, scope: string}, request_digest: string, connector_key_id: string, issuer: string, export_revision: number}} of
 * @returns {ExportHeader}
 */
export function exportHeader({ request, request_digest, connector_key_id, issuer, export_revision }) {
  return {
    kid: connector_key_id,
    iss: new URL(issuer).origin,
    sub: request.user_id,
    aud: request.app_id,
    request_id: request.request_id,
    scope: request.scope,
    revision: export_revision,
    request_digest,
  };
}

/**
 * @param {ExportContent} content @param {ExportHeader} members @param {unknown} connectorKey the app's public key
 * @returns {Promise<string>} compact JWE
 */
export async function sealExport(content, members, connectorKey) {
  const key = await importJWK({ ...(await checkConnectorKey(connectorKey)) }, PROFILES.export.alg);
  const { kid, iss, sub, aud, request_id, scope, revision, request_digest } = members;
  const header = { cty: "application/json", kid, iss, sub, aud, request_id, scope, revision, request_digest };
  const sources = content.sources?.map(({ domain, segment_id }) => ({ domain, segment_id }));
  return seal("export", header, padded(await jsonBytes({ ...content, sources }), content), key); // without one, JSON has none
}

/**
 * A JSON object with a last member of blanks: as long as if each answer had PADDED_TO bytes, and a multiple of it. A multiple
 * alone would tell a yes from a no where one byte more begins the next.
 * @param {Uint8Array} plaintext @param {ExportContent} content what it says
 */
function padded(plaintext, { data, derived = {} }) {
  const [before, after] = [utf8(',"pad":"'), utf8('"}')];
  const end = plaintext.length - 1;
  const answers = Object.keys(derived).map((path) => path.split(".").reduce((node, name) => node?.[name] ?? null, data));
  const room = answers.reduce((sum, answer) => sum + Math.max(0, PADDED_TO - utf8(JSON.stringify(answer)).length), 0);
  const length = Math.ceil((end + before.length + after.length + room) / PADDED_TO) * PADDED_TO;
  const whole = new Uint8Array(length).fill(0x20);
  whole.set(plaintext);
  whole.set(before, end);
  whole.set(after, length - after.length);
  return whole;
}

/**
 * The approved slice; refuses an export that is not for exactly this request, naming the member that differs.
 * @param {string} sealed @param {unknown} privateKey @param {ExportHeader} expected
 * @returns {Promise<ExportContent>}
 */
export async function openExport(sealed, privateKey, expected) {
  const key = await checkPrivateKey(privateKey);
  const found = readHeader(sealed);
  checkHeader(found, "export", { ...expected }, key.crv);
  await checkEphemeralKey(found.epk);
  const { header, plaintext } = await open("export", sealed, await importJWK({ ...key }, PROFILES.export.alg), { ...expected }, key.crv);
  return checkContent(contentOf(plaintext), header.scope);
}

/** @param {unknown} epk */
async function checkEphemeralKey(epk) {
  try {
    await checkConnectorKey(epk, { tolerate: false });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Refused(`header member epk is refused: ${error.message}`, "epk", "bad_value");
  }
}

/** @param {Uint8Array} plaintext */
function contentOf(plaintext) {
  try {
    return parseObject(plaintext, "the export's content");
  } catch (error) {
    throw error instanceof Refused ? new Refused(error.message, error.member, "plaintext") : error;
  }
}

/**
 * The plaintext with every rule checked: its members, its scope, and `data` within the approved attributes.
 * @param {Record<string, any>} content @param {string} scope
 * @returns {ExportContent}
 */
function checkContent(content, scope) {
  const missing = PLAINTEXT_MEMBERS.find((member) => !Object.hasOwn(content, member));
  if (missing) throw new Refused(`the content has no ${missing}`, missing, "plaintext");
  const unknown = Object.keys(content).find((member) => !PLAINTEXT_MEMBERS.includes(member) && !LATER_PLAINTEXT_MEMBERS.includes(member));
  if (unknown !== undefined) throw new Refused(`the content has an unknown member ${shown(unknown)}`, unknown, "plaintext");
  if (content.scope !== scope) {
    throw new Refused(`the content's scope is ${shown(content.scope)}, not ${shown(scope)}`, "scope", "mismatch");
  }
  checkApproved(content.approved_attributes);
  checkData(content.data, content.approved_attributes);
  checkSources(content.sources);
  checkDerived(content.derived, content.approved_attributes);
  if (typeof content.sealed_at !== "string" || !TIME.test(content.sealed_at)) {
    throw new Refused("the content's sealed_at is not a time in UTC", "sealed_at", "plaintext");
  }
  const { pad = "", ...unpadded } = content;
  if (!/^ *$/.test(pad)) throw new Refused("the content's pad is not blank", "pad", "plaintext");
  return /** @type {ExportContent} */ (unpadded);
}

/** @param {any} approved */
function checkApproved(approved) {
  if (!Array.isArray(approved) || !approved.every((path) => typeof path === "string")) {
    throw new Refused("the content's approved_attributes is not a list of paths", "approved_attributes", "plaintext");
  }
  if (new Set(approved).size !== approved.length) {
    throw new Refused("the content's approved_attributes names a path twice", "approved_attributes", "plaintext");
  }
}

/** @param {any} derived @param {string[]} approved */
function checkDerived(derived, approved) {
  if (derived === undefined || (isObject(derived) && Object.keys(derived).every((path) => approved.includes(path)))) return;
  throw new Refused("the content's derived names something that was not approved", "derived", "plaintext");
}

/** @param {any} data @param {string[]} approved */
function checkData(data, approved) {
  if (!isObject(data)) throw new Refused("the content's data is not an object", "data", "plaintext");
  const stems = new Set();
  for (const path of approved) {
    for (let depth = 1; depth < ATTRIBUTE_DEPTH; depth++) stems.add(path.split(".").slice(0, depth).join("."));
  }
  walk(data, "", 1, stems, new Set(approved));
}

/** @param {Record<string, any>} node @param {string} stem @param {number} depth @param {Set<string>} stems @param {Set<string>} approved */
function walk(node, stem, depth, stems, approved) {
  for (const [name, value] of Object.entries(node)) {
    const path = `${stem}${name}`;
    if (!(depth === ATTRIBUTE_DEPTH ? approved : stems).has(path)) {
      throw new Refused(`data holds ${shown(path)}, which was not approved`, "data", "plaintext");
    }
    if (depth === ATTRIBUTE_DEPTH) continue;
    if (!isObject(value)) throw new Refused(`data's ${shown(path)} is not an object`, "data", "plaintext");
    walk(value, `${path}.`, depth + 1, stems, approved);
  }
}

/** @param {any} sources */
function checkSources(sources) {
  if (!Array.isArray(sources)) throw new Refused("the content's sources is not a list", "sources", "plaintext");
  for (const source of sources) {
    const names = isObject(source) ? Object.keys(source) : [];
    const others = names.filter((name) => !SOURCE_MEMBERS.includes(name) && name !== "content_revision");
    if (others.length || !SOURCE_MEMBERS.every((name) => names.includes(name))) {
      throw new Refused("a source is not {domain, segment_id}", "sources", "plaintext");
    }
    if (typeof source.domain !== "string" || typeof source.segment_id !== "string") {
      throw new Refused("a source's domain or segment_id is not text", "sources", "plaintext");
    }
    const { content_revision: revision = 1 } = source;
    if (!Number.isSafeInteger(revision) || revision < 1) {
      throw new Refused("a source's content_revision is not a positive whole number", "sources", "plaintext");
    }
  }
}

/**
 * The answers that the app takes in place of a value that it asks for.
 * @param {{accepts?: Record<string, string[]>, derived?: Record<string, any>}} request @returns {string[]}
 * @throws {Refused} where one is made from another value
 */
export const acceptedAnswers = ({ accepts = {}, derived = {} }) =>
  Object.entries(accepts).flatMap(([source, paths]) => {
    if (paths.every((path) => derived[path]?.from === source)) return paths;
    throw new Refused(`has an answer that is not made from ${source}`, "accepts", "request_changed");
  });

/** Of these definitions those of these paths; undefined where there are none. @template D @param {Record<string, D> | undefined} derived @param {string[]} paths */
export function definitionsOf(derived, paths) {
  const found = Object.entries(derived ?? {}).filter(([path]) => paths.includes(path));
  return found.length ? Object.fromEntries(found) : undefined;
}
