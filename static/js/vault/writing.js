// @ts-check
// Writing to a segment that another tab or device may be writing to as well: nothing is overwritten unseen.

import { canonical } from "../formats/canonical.js";
import { sealSegment } from "../formats/vault.js";
import * as api from "./api.js";
import { changeNotes, forgetRevision, noteRevisions, withSegment } from "./notes.js";
import { withPresentKey } from "./unlocking.js";
import { openAll } from "./reading.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").OpenedSegment} OpenedSegment */
/**
 * @typedef {{domain: string, segment_id: string, content_revision: number, manifest_revision: number, values: Json}}
 *   Written
 */

const ATTEMPTS = 5;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Someone else changed the same attributes first; undefined stands for an attribute that is not there. */
export class Conflict extends Error {
  /** @param {{attribute: string, mine: unknown, theirs: unknown}[]} attributes */
  constructor(attributes) {
    super("This was changed somewhere else in the meantime.");
    this.name = "Conflict";
    this.attributes = attributes;
  }
}

/**
 * @param {string} domain
 * @param {string} segmentId
 * @param {Json} changes attribute → new value; null takes the attribute away
 * @param {{content_revision: number, values: Json} | null} [seen] the segment as the page showed it, null where there
 *   was
 *   none; left out, the present state is read first and nothing can be in conflict
 * @returns {Promise<Written>}
 * @throws {Conflict}
 */
export const writeAttributes = (domain, segmentId, changes, seen) => change(domain, segmentId, changes, seen, false);

/**
 * The same where null is a value like any other, as in a file that is brought in: nothing is taken away.
 * @param {string} domain
 * @param {string} segmentId
 * @param {Json} values attribute → new value
 * @param {{content_revision: number, values: Json} | null} [seen]
 * @returns {Promise<Written>}
 * @throws {Conflict}
 */
export const writeAll = (domain, segmentId, values, seen) => change(domain, segmentId, values, seen, true);

/**
 * @param {string} domain @param {string} segmentId @param {Json} changes
 * @param {{content_revision: number, values: Json} | null | undefined} seen
 * @param {boolean} keepsNull
 * @returns {Promise<Written>}
 */
async function change(domain, segmentId, changes, seen, keepsNull) {
  const strange = Object.keys(changes).find((name) => !NAME.test(name));
  if (strange !== undefined) throw new TypeError(`${strange} cannot be the name of an attribute`);
  const address = { domain, segment_id: segmentId };
  let base = seen === undefined ? await present(address) : seen;
  let revision = base?.content_revision ?? 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write(address, merged(base?.values ?? {}, changes, keepsNull), revision);
    } catch (error) {
      if (!isStale(error) || attempt === ATTEMPTS) throw error;
      const now = await present(address);
      refuseConflicts(changes, base?.values ?? {}, now?.values ?? {}, keepsNull);
      base = now;
      // A deleted segment is not listed any more, and its revisions go on counting.
      revision = now?.content_revision ?? error.body.current_content_revision;
    }
  }
}

/** Whether somebody wrote the segment first. @param {unknown} error @returns {error is api.ApiError} */
export const isStale = (error) => error instanceof api.ApiError && error.code === "stale_revision" && error.body.member !== "notes";

/** @param {{domain: string, segment_id: string}} address @returns {Promise<OpenedSegment | null>} */
async function present({ domain, segment_id }) {
  return (await openAll({ domain })).find((segment) => segment.segment_id === segment_id) ?? null;
}

/** What nobody touches stays as it is, null included. @param {Json} values @param {Json} changes @param {boolean} keepsNull @returns {Json} */
function merged(values, changes, keepsNull) {
  const isKept = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    !Object.hasOwn(changes, name) || (value !== undefined && (keepsNull || value !== null));
  return Object.fromEntries(Object.entries({ ...values, ...changes }).filter(([name, value]) => isKept(name, value)));
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) =>
  one === undefined || other === undefined ? one === other : canonical(one) === canonical(other);

/**
 * An attribute is in conflict where someone else changed it since it was seen, to something other than what is wanted
 * now.
 * @param {Json} changes
 * @param {Json} before
 * @param {Json} now
 * @param {boolean} keepsNull
 */
function refuseConflicts(changes, before, now, keepsNull) {
  const attributes = Object.entries(changes)
    .map(([attribute, value]) => ({ attribute, mine: value === null && !keepsNull ? undefined : value, theirs: now[attribute] }))
    .filter(({ attribute, mine, theirs }) => !same(theirs, before[attribute]) && !same(theirs, mine));
  if (attributes.length) throw new Conflict(attributes);
}

/**
 * A segment that has nothing left in it is deleted.
 * @param {{domain: string, segment_id: string}} address
 * @param {Json} values
 * @param {number} base
 * @returns {Promise<Written>}
 */
async function write(address, values, base) {
  if (!Object.keys(values).length) return remove(address, base);
  const { manifest_revision } = await sendSegment(address, base, Object.keys(values), (vault, source) => sealSegment(values, vault, source));
  return { ...address, content_revision: base + 1, manifest_revision, values };
}

/**
 * Sends the next revision of a segment, together with the notes that remember it.
 * @param {{domain: string, segment_id: string}} address @param {number} base @param {string[]} names of its attributes
 * @param {(vault: import("./types.js").VaultKey, source: import("./types.js").Source) => Promise<string>} seal
 * @returns {Promise<{content_revision: number, manifest_revision: number}>}
 */
export const sendSegment = (address, base, names, seal) =>
  withPresentKey(async (vault) => {
    const source = { ...address, content_revision: base + 1 };
    const jwe = await seal(vault, source);
    const writing = { jwe, base_content_revision: base, attributes: names.toSorted() };
    const written = await changeNotes(withSegment(source), (notes) => api.putSegment(address, { ...writing, notes }));
    await noteRevisions(vault, [source]);
    return /** @type {NonNullable<typeof written>} */ (written);
  });

/** @param {{domain: string, segment_id: string}} address @param {number} base @returns {Promise<Written>} */
async function remove(address, base) {
  if (!base) return { ...address, content_revision: 0, manifest_revision: 0, values: {} };
  const source = { ...address, content_revision: base + 1 };
  const { manifest_revision } = await changeNotes(withSegment(source), (notes) => api.deleteSegment(address, base, notes));
  await withPresentKey((vault) => forgetRevision(vault, source));
  return { ...source, manifest_revision, values: {} };
}
