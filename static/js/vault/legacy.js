// @ts-check
// What the old system left: one sealed document a domain, opened with the old passphrase, split into segments, merged
// into what the person has now, read back, and only then removed where it was.

import { canonical } from "../formats/canonical.js";
import { jsonObject, openOld } from "../formats/jwe.js";
import * as api from "./api.js";
import { openAll } from "./reading.js";
import { Conflict, writeAttributes } from "./writing.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").OldBlob} OldBlob */
/** @typedef {Record<string, string[]>} Places segment → its attributes, of one domain */
/** @typedef {{path: string, value: unknown}} Aside */
/** @typedef {{segment: string, attribute: string, old: unknown, now: unknown}} Kept */
/** @typedef {{segments: Record<string, Json>, aside: Aside[]}} Split */
/** @typedef {{revision: number, written: number, kept: Kept[], aside: Aside[]}} Merged */
/** @typedef {{segments: Record<string, number>, kept: Kept[], aside: Aside[]}} Moved */

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const MOST_ATTRIBUTES = 500; // in one segment
const ATTEMPTS = 5;

/** @param {OldBlob} blob @param {string} passphrase @returns {Promise<Json>} */
export const openDocument = async ({ jwe }, passphrase) => jsonObject(await openOld(jwe, passphrase));

/**
 * Each value to the segment that it is named in, or that has its attribute; in a domain of one segment there is no
 * other place for the rest. What is left is kept aside, with the name that it had.
 * @param {Json} document attribute → value, or segment → attribute → value
 * @param {Places} places
 * @returns {Split}
 */
export function split(document, places) {
  /** @type {Split} */
  const found = { segments: {}, aside: [] };
  for (const [name, value] of Object.entries(document)) {
    const home = homeOf(name, places);
    if (home) put(found, home, name, value, name);
    else if (Object.hasOwn(places, name) && isObject(value)) {
      for (const [attribute, inner] of Object.entries(value)) put(found, name, attribute, inner, `${name}.${attribute}`);
    } else put(found, onlyOne(places), name, value, name);
  }
  return found;
}

/** @param {unknown} value @returns {value is Json} */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** @param {string} name @param {Places} places */
const homeOf = (name, places) => Object.keys(places).find((segment) => places[segment]?.includes(name));

/** @param {Places} places @returns {string | undefined} */
function onlyOne(places) {
  const segments = Object.keys(places);
  return segments.length === 1 ? segments[0] : undefined;
}

/** @param {Split} found @param {string | undefined} segment @param {string} name @param {unknown} value @param {string} path */
function put(found, segment, name, value, path) {
  if (value === null) return; // nothing was kept there
  const values = segment === undefined ? undefined : (found.segments[segment] ??= {});
  const taken = values && Object.hasOwn(values, name) && !same(values[name], value);
  if (!values || taken || !NAME.test(name)) found.aside.push({ path, value });
  else values[name] = value;
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => one !== undefined && other !== undefined && canonical(one) === canonical(other);

/**
 * Brings a document into the vault; again it changes nothing. The old row stays: see `finish`.
 * @param {string} domain
 * @param {Json} document
 * @param {Places} places
 * @param {(segments: Record<string, number>, written: number) => Promise<unknown>} checkpoint after each segment, with
 *   how many attributes were written to it; may throw to stop
 * @returns {Promise<Moved>}
 */
export async function move(domain, document, places, checkpoint) {
  const { segments, aside } = split(document, places);
  /** @type {Moved} */
  const moved = { segments: {}, kept: [], aside };
  for (const [segment, values] of Object.entries(segments)) {
    if (!Object.keys(values).length) continue;
    const merged = await merge(domain, segment, values);
    if (merged.revision) moved.segments[segment] = merged.revision;
    moved.kept.push(...merged.kept);
    moved.aside.push(...merged.aside);
    await checkpoint({ ...moved.segments }, merged.written);
  }
  return moved;
}

/**
 * What the person has now is never overwritten, and what is written is read back.
 * @param {string} domain @param {string} segment @param {Json} values
 * @returns {Promise<Merged>}
 */
async function merge(domain, segment, values) {
  const written = new Set();
  for (let attempt = 1; ; attempt += 1) {
    const present = await read(domain, segment);
    const plan = compared(segment, values, present?.values ?? {});
    if (!Object.keys(plan.changes).length) {
      const kept = plan.kept.filter(({ attribute }) => !written.has(attribute));
      return { revision: present?.content_revision ?? 0, written: written.size, kept, aside: plan.aside };
    }
    if (attempt > ATTEMPTS) throw new Conflict([]);
    try {
      await writeAttributes(domain, segment, plan.changes, present);
      for (const name of Object.keys(plan.changes)) written.add(name);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error; // another device was faster: compare with what it wrote
    }
  }
}

/** @param {string} domain @param {string} segment */
const read = async (domain, segment) =>
  (await openAll({ domain })).find(({ segment_id }) => segment_id === segment) ?? null;

/** @param {string} segment @param {Json} values @param {Json} present */
function compared(segment, values, present) {
  const missing = Object.entries(values).filter(([name]) => !Object.hasOwn(present, name));
  const room = Math.max(MOST_ATTRIBUTES - Object.keys(present).length, 0);
  const kept = Object.entries(values)
    .filter(([name, old]) => Object.hasOwn(present, name) && !same(present[name], old))
    .map(([attribute, old]) => ({ segment, attribute, old, now: present[attribute] }));
  const aside = missing.slice(room).map(([name, value]) => ({ path: `${segment}.${name}`, value }));
  return { changes: Object.fromEntries(missing.slice(0, room)), kept, aside };
}

/**
 * Lets the old row go. Where a segment was written meanwhile, the server refuses with `stale_revision`.
 * @param {OldBlob} blob @param {Moved} moved
 */
export const finish = ({ domain, updated_at }, { segments, kept }) =>
  api.finishOldDomain(domain, { updated_at, segments, discard: !Object.keys(segments).length, kept: kept.length });
