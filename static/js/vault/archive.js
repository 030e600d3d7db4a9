// @ts-check
// A sealed archive of a vault: what the server keeps of it in one file, and the way of such a file into another vault.
// Nothing in a file is believed: each protected header is compared with the place that its entry claims.

import { fromUtf8 } from "../formats/bytes.js";
import { canonical } from "../formats/canonical.js";
import { BadSecret, Refused } from "../formats/errors.js";
import { strictJson } from "../formats/json.js";
import { checkHeader, PROFILES, readHeader } from "../formats/profiles.js";
import { openSegmentBytes, sealSegmentBytes } from "../formats/vault.js";
import { parseRecoveryCode, sealingKey } from "../formats/wrappers.js";
import * as api from "./api.js";
import { CannotUnlock } from "./keyring.js";
import { ownKeys, rawKey } from "./unlocking.js";
import { isStale, sendSegment } from "./writing.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").OpenedSegment} OpenedSegment */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {import("./types.js").WrapperKind} WrapperKind */
/** @typedef {{kind: WrapperKind, label: string, credential_id: string | null, jwe: string, created_at: string}} Wrapper */
/** @typedef {Source & {attributes: string[], jwe: string, updated_at: string}} Segment */
/** @typedef {{userId: string, keyId: string, wrappers: Wrapper[], segments: Segment[]}} Archive */
/** @typedef {{domain: string, segment_id: string, plaintext: Uint8Array<ArrayBuffer>, values: Json}} Opened */
/**
 * One segment of the archive beside what is here: `base` is the revision that was looked at, `different` names the
 * attributes that would change, `here` what they are now.
 * @typedef {Opened & {state: "new" | "differs" | "same" | "no_place", base: number, different: string[], here: Json}} Planned
 */

export const FORMAT = "consent-archive/1";
export const MAX_ARCHIVE_BYTES = 128 * 1024 * 1024;
const MAX_WRAPPERS = 20;
const MAX_SEGMENTS = 10000;
const MEMBERS = ["format", "user_id", "wrappers", "segments"];
const WRAPPER_MEMBERS = ["kind", "label", "credential_id", "jwe", "created_at"];
const SEGMENT_MEMBERS = ["domain", "segment_id", "content_revision", "attributes", "jwe", "updated_at"];
const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const KINDS = ["passphrase", "recovery", "passkey"];
const ATTEMPTS = 3;

/**
 * A file that must not be used. `code` is one of: too_large, not_json, repeated_name, too_deep, format, members,
 * iterations, misplaced, twice, other_keys, cannot_open, attributes. `place` names the part that it is about.
 */
export class BadArchive extends Error {
  /** @param {string} code @param {string} [place] @param {string} [detail] */
  constructor(code, place = "", detail = "") {
    super([code, place, detail].filter(Boolean).join(": "));
    this.name = "BadArchive";
    this.code = code;
    this.place = place;
  }
}

/** @returns {Promise<string>} the archive of this vault, sealed as the server keeps it; needs no key */
export async function makeArchive() {
  const [keys, segments] = await Promise.all([ownKeys(), api.getSegments({})]);
  const archive = {
    format: FORMAT,
    user_id: keys.user_id,
    wrappers: keys.wrappers.map((wrapper) => only(WRAPPER_MEMBERS, wrapper)),
    segments: segments.map((segment) => only(SEGMENT_MEMBERS, segment)),
  };
  const text = `${JSON.stringify(archive, null, 1)}\n`;
  readArchive(text); // what we would refuse ourselves is never handed out
  return text;
}

/** @param {string[]} members @param {object} entry */
const only = (members, entry) => Object.fromEntries(Object.entries(entry).filter(([name]) => members.includes(name)));

/**
 * Checks all that can be checked without a secret.
 * @param {string} text @returns {Archive} @throws {BadArchive}
 */
export function readArchive(text) {
  if (text.length > MAX_ARCHIVE_BYTES) throw new BadArchive("too_large");
  const body = object(parsed(text));
  if (body.format !== FORMAT) throw new BadArchive("format");
  exactly(body, MEMBERS);
  const { user_id: userId } = body;
  if (typeof userId !== "string" || !userId) throw new BadArchive("members", "user_id");
  const wrappers = entries(body.wrappers, "wrappers", MAX_WRAPPERS).map((entry) => wrapperOf(entry, userId));
  const keyIds = new Set(wrappers.map(({ jwe }) => readHeader(jwe).kid));
  const [keyId] = keyIds;
  if (keyIds.size !== 1) throw new BadArchive("other_keys", "wrappers");
  const segments = entries(body.segments, "segments", MAX_SEGMENTS)
    .map((entry) => segmentOf(entry, userId, /** @type {string} */ (keyId)));
  const places = new Set();
  for (const segment of segments) {
    if (places.has(placeOf(segment))) throw new BadArchive("twice", placeOf(segment));
    places.add(placeOf(segment));
  }
  return { userId, keyId: /** @type {string} */ (keyId), wrappers, segments };
}

/** @param {{domain: string, segment_id: string}} address */
const placeOf = ({ domain, segment_id }) => `${domain}.${segment_id}`;

/** @param {string} text @param {string} [place] @returns {unknown} */
function parsed(text, place) {
  try {
    return strictJson(text);
  } catch (error) {
    throw error instanceof Refused ? new BadArchive(error.reason, place, error.message) : error;
  }
}

/** @param {unknown} value @param {string} [place] @returns {Json} */
function object(value, place) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new BadArchive("format", place);
  return /** @type {Json} */ (value);
}

/** @param {Json} entry @param {string[]} members @param {string} [place] */
function exactly(entry, members, place = "") {
  const names = Object.keys(entry);
  const wrong = names.find((name) => !members.includes(name)) ?? members.find((name) => !names.includes(name));
  if (wrong !== undefined) throw new BadArchive("members", place, wrong);
}

/** @param {unknown} list @param {string} member @param {number} most @returns {Json[]} */
function entries(list, member, most) {
  if (!Array.isArray(list)) throw new BadArchive("members", member);
  if (list.length > most) throw new BadArchive("too_large", member);
  return list.map((entry) => object(entry, member));
}

/** @param {Json} entry @param {string} userId @returns {Wrapper} */
function wrapperOf(entry, userId) {
  exactly(entry, WRAPPER_MEMBERS, "wrappers");
  const kind = /** @type {WrapperKind} */ (entry.kind);
  if (!KINDS.includes(kind)) throw new BadArchive("members", "wrappers", "kind");
  headerChecked(entry.jwe, kind, { sub: userId, kind }, "wrappers");
  return /** @type {Wrapper} */ (/** @type {unknown} */ (entry));
}

/** @param {Json} entry @param {string} userId @param {string} keyId @returns {Segment} */
function segmentOf(entry, userId, keyId) {
  exactly(entry, SEGMENT_MEMBERS, "segments");
  const { domain, segment_id, content_revision, attributes } = entry;
  if (![domain, segment_id].every((name) => typeof name === "string" && NAME.test(name))) throw new BadArchive("members", "segments", "name");
  if (!Array.isArray(attributes)) throw new BadArchive("members", "segments", "attributes");
  headerChecked(entry.jwe, "segment", { kid: keyId, sub: userId, domain, segment_id, content_revision }, `${domain}.${segment_id}`);
  return /** @type {Segment} */ (/** @type {unknown} */ (entry));
}

/** @param {unknown} jwe @param {keyof typeof PROFILES} kind @param {Json} expected @param {string} place */
function headerChecked(jwe, kind, expected, place) {
  try {
    checkHeader(readHeader(jwe), kind, expected);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new BadArchive(error.reason === "iterations" ? "iterations" : "misplaced", place, error.message);
  }
}

/**
 * Tries what was typed as a recovery code first, where it looks like one.
 * @param {Archive} archive
 * @param {string | null} secret as typed; null asks for a passkey, which only this site can have made
 * @returns {Promise<VaultKey>} the key of the archive, which this page alone holds and cannot read
 * @throws {CannotUnlock}
 */
export async function unlockArchive({ userId, keyId, wrappers }, secret) {
  const stored = wrappers.map((wrapper) => ({ ...wrapper, wrapper_id: "", last_used_at: null }));
  const keys = { user_id: userId, key_id: keyId, vault_status: "", primary_wrapper_id: "", wrappers: stored };
  const ways = (secret === null ? ["passkey"] : looksLikeCode(secret) ? ["recovery", "passphrase"] : ["passphrase"])
    .filter((kind) => wrappers.some((wrapper) => wrapper.kind === kind));
  for (const kind of /** @type {WrapperKind[]} */ (ways)) {
    try {
      const { bytes } = await rawKey(keys, { kind, secret: secret ?? undefined });
      const key = await sealingKey(bytes);
      bytes.fill(0);
      return { userId, keyId, key };
    } catch (error) {
      if (!(error instanceof CannotUnlock)) throw error;
    }
  }
  throw new CannotUnlock("wrong_secret", "That does not open the archive.");
}

/** @param {string} secret */
function looksLikeCode(secret) {
  try {
    return parseRecoveryCode(secret).length > 0;
  } catch (error) {
    if (error instanceof BadSecret) return false;
    throw error;
  }
}

/** One segment that does not fit refuses all of them. @param {Archive} archive @param {VaultKey} key @returns {Promise<Opened[]>} */
export async function openArchive(archive, key) {
  const opened = [];
  for (const segment of archive.segments) opened.push(await openOne(segment, key));
  return opened;
}

/** @param {Segment} segment @param {VaultKey} key @returns {Promise<Opened>} */
async function openOne({ domain, segment_id, content_revision, attributes, jwe }, key) {
  const place = `${domain}.${segment_id}`;
  let plaintext;
  try {
    plaintext = await openSegmentBytes(jwe, key, { domain, segment_id, content_revision });
  } catch (error) {
    throw error instanceof Refused ? new BadArchive("cannot_open", place, error.message) : error;
  }
  const values = object(parsed(textOf(plaintext, place), place), place);
  const names = Object.keys(values);
  const matches = names.length === attributes.length && names.every((name) => NAME.test(name) && attributes.includes(name));
  if (!matches) throw new BadArchive("attributes", place);
  return { domain, segment_id, plaintext, values };
}

/** @param {Uint8Array<ArrayBuffer>} plaintext @param {string} place */
function textOf(plaintext, place) {
  try {
    return fromUtf8(plaintext);
  } catch {
    throw new BadArchive("not_json", place);
  }
}

/**
 * @param {Opened[]} opened @param {OpenedSegment[]} present what is in this vault
 * @param {(domain: string, segment: string) => boolean} hasPlace whether this deployment knows the segment
 * @returns {Planned[]}
 */
export function planned(opened, present, hasPlace) {
  const here = new Map(present.map((segment) => [placeOf(segment), segment]));
  return opened.map((segment) => {
    const found = here.get(placeOf(segment));
    const different = differences(segment.values, found?.values ?? {});
    const state = !hasPlace(segment.domain, segment.segment_id) ? "no_place" : !different.length ? "same" : found ? "differs" : "new";
    return { ...segment, state, base: found?.content_revision ?? 0, different, here: found?.values ?? {} };
  });
}

/** @param {Json} archived @param {Json} here @returns {string[]} */
const differences = (archived, here) =>
  [...new Set([...Object.keys(archived), ...Object.keys(here)])].filter(
    (name) => !Object.hasOwn(archived, name) || !Object.hasOwn(here, name) || !alike(archived[name], here[name]),
  );

/** Half a character, which canonical JSON refuses, is compared as it is written. @param {unknown} one @param {unknown} other */
function alike(one, other) {
  try {
    return canonical(one) === canonical(other);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(one) === JSON.stringify(other);
  }
}

/**
 * Seals one segment under this vault's key, octet for octet, over the revision that was looked at.
 * @param {Planned} segment @returns {Promise<void>}
 * @throws {api.ApiError} `stale_revision` where somebody wrote meanwhile: look again
 */
export async function bringIn({ domain, segment_id, plaintext, values, base }) {
  const address = { domain, segment_id };
  let revision = base;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sendSegment(address, revision, Object.keys(values), (vault, source) => sealSegmentBytes(plaintext, vault, source));
      return;
    } catch (error) {
      if (!isStale(error) || base || attempt === ATTEMPTS || (await isThere(address))) throw error;
      revision = error.body.current_content_revision; // a deleted segment is not listed, and goes on counting
    }
  }
}

/** @param {{domain: string, segment_id: string}} address */
const isThere = async ({ domain, segment_id }) =>
  (await api.getSegments({ domain })).some((segment) => segment.segment_id === segment_id);
