// @ts-check
// Changing the vault's key: every segment is sealed again and read back before the present key goes. It can be broken off
// at any point and gone on with on another device, since the key to come lies with the server, under its ways in.

import { toHex, utf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { openRoot, openSegmentBytes, rootMembers, sealNotes, sealSegmentBytes } from "../formats/vault.js";
import { newVaultKey, possessionOf, sealingKey } from "../formats/wrappers.js";
import * as api from "./api.js";
import { current, hold } from "./keyring.js";
import { generationOf, readNotes } from "./notes.js";
import { usePasskey } from "./passkey.js";
import { ownKeys, rawKey } from "./unlocking.js";
import { digest, newSecret, opensAgain, sealedWay } from "./ways.js";

/** @typedef {import("./types.js").Rotation} Rotation */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").StoredSegment} StoredSegment */
/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {import("./types.js").WrapperKind} WrapperKind */
/** @typedef {import("./unlocking.js").Unlocking} Unlocking */
/**
 * A way into the vault as it will be. A passkey that is kept has its `credentialId` and is asked for; a recovery code is
 * made here.
 * @typedef {{kind: WrapperKind, label: string, secret?: string, credentialId?: string}} NextWay
 */
/** @typedef {{done: number, total: number, at: Source | null}} Progress `at` is the segment that was done last */

const ROUNDS = 20; // somebody who writes all the time has to pause once
const AT_ONCE = 4;

/** The person stopped it for now; what is sealed stays. */
export class Paused extends Error {}

/**
 * Makes a new key and seals it under the ways in that there will be. Nothing is sent before `begin()`, so that a recovery
 * code can be written down first.
 * @param {Unlocking} existing what works now; it unlocks this browser too
 * @param {NextWay[]} ways
 * @returns {Promise<{recoveryCode: string | null, begin: () => Promise<VaultKey>}>} `begin()` gives the key to come, once
 *   the ways in that the server keeps open it
 */
export async function prepareRotation(existing, ways) {
  const keys = await ownKeys();
  const opened = await rawKey(keys, existing);
  let possession;
  /** @type {VaultKey} */
  let present;
  try {
    possession = await possessionOf(opened.bytes);
    present = { userId: keys.user_id, keyId: keys.key_id, key: await sealingKey(opened.bytes), hasNotes: opened.hasNotes };
  } finally {
    opened.bytes.fill(0);
  }
  await hold(present);
  await readNotes(); // older ones must not come to lie under the new key, which vouches for them
  const { keyId, bytes } = newVaultKey();
  const owner = { userId: keys.user_id, keyId, hasNotes: opened.hasNotes };
  try {
    /** @type {import("./ways.js").Made[]} */
    const made = [];
    for (const way of ways) made.push(await sealedWay(way, await secretOf(way), bytes, owner));
    const recovery = made.find(({ body }) => body.kind === "recovery");
    const mark = await digest(bytes);
    const key = await sealingKey(bytes);
    const wrappers = made.map(({ body }) => body);
    const possession_sha256 = await sha256Of(await possessionOf(bytes));
    const root = await openRoot(keys, present);
    const signing_jwe = root ? (await rootMembers(root, { ...owner, key })).signing_jwe : null;
    const begin = async () => {
      await api.startRotation({ key_id: keyId, wrappers, signing_jwe, possession, possession_sha256 });
      try {
        await opensAgain(made, (await api.getRotation()).wrappers, owner, mark);
      } catch (error) {
        if (error instanceof Refused) await api.giveUpRotation();
        throw error;
      }
      return { ...owner, key };
    };
    return { recoveryCode: recovery ? /** @type {string} */ (recovery.secret) : null, begin };
  } finally {
    bytes.fill(0);
  }
}

/** @param {NextWay} way @returns {ReturnType<typeof newSecret>} */
const secretOf = (way) => (way.credentialId ? usePasskey([way.credentialId]) : newSecret(way));

/**
 * The key to come, of a change that began earlier or elsewhere.
 * @param {Unlocking} coming one of the ways in that there will be
 * @returns {Promise<VaultKey>}
 */
export async function nextKey(coming) {
  const { user_id } = await ownKeys();
  const { key_id, wrappers } = await api.getRotation();
  const { bytes, hasNotes } = await rawKey({ user_id, key_id, wrappers }, coming);
  try {
    return { userId: user_id, keyId: key_id, key: await sealingKey(bytes), hasNotes };
  } finally {
    bytes.fill(0);
  }
}

/**
 * Seals what is not sealed yet, reads all of it back, and puts the new key in the place of the present one, which has to
 * be unlocked here until then.
 * @param {VaultKey} next
 * @param {{progress: (now: Progress) => void, paused: () => boolean}} page
 * @throws {Paused | import("./keyring.js").Locked | api.ApiError | Refused}
 */
export async function finishRotation(next, page) {
  /** @type {Map<string, string>} "domain.segment.revision" → the SHA-256 of what was read back */
  const readBack = new Map();
  for (let round = 1; ; round += 1) {
    const standing = await oneRound(next, readBack, page);
    try {
      await resealNotes(next);
      await api.finishRotation({ read_back: await markOf(standing, readBack) });
      break;
    } catch (error) {
      // somebody wrote meanwhile, or sealed again on another device: look once more
      if (!(error instanceof api.ApiError && error.code === "rotation_incomplete") || round === ROUNDS) throw error;
    }
  }
  await hold(next);
}

/** The vault's own notes, under the next key, which they count. @param {VaultKey} next */
async function resealNotes(next) {
  const { notes, revision } = await readNotes();
  if (revision === 0) return;
  try {
    const retired = [...(notes.retired ?? []), (await current()).keyId];
    const counted = { ...notes, generation: generationOf(notes) + 1, retired };
    await api.putResealedNotes({ jwe: await sealNotes(counted, next, revision), revision });
  } catch (error) {
    // written to meanwhile: the end says so, and the next round seals them as they are then
    if (!(error instanceof api.ApiError && error.code === "stale_revision")) throw error;
  }
}

/** @param {Source} source */
const nameOf = ({ domain, segment_id, content_revision }) => `${domain}.${segment_id}.${content_revision}`;

/**
 * @param {VaultKey} next @param {Map<string, string>} readBack @param {Parameters<typeof finishRotation>[1]} page
 * @returns {Promise<Rotation["segments"]>} what stood when the round began
 */
async function oneRound(next, readBack, page) {
  const { key_id, segments } = await api.getRotation();
  if (key_id !== next.keyId) throw new Refused("another change of the key is under way", "kid", "mismatch");
  await dropRetried(readBack, segments);
  const todo = new Set(segments.map(nameOf).filter((name) => !readBack.has(name)));
  const resealed = new Set(segments.filter((segment) => segment.resealed).map(nameOf));
  let done = segments.length - todo.size;
  page.progress({ done, total: segments.length, at: null });
  for (const domain of new Set(segments.filter((segment) => todo.has(nameOf(segment))).map(({ domain }) => domain))) {
    const stored = (await api.getSegments({ domain })).filter((segment) => todo.has(nameOf(segment)));
    await inParallel(stored, async (segment) => {
      if (page.paused()) throw new Paused();
      const mark = await sealedAgain(segment, next, resealed.has(nameOf(segment)));
      if (mark === null) return; // written to meanwhile: the next round sees it as it is then
      readBack.set(nameOf(segment), mark);
      done += 1;
      page.progress({ done, total: segments.length, at: segment });
    });
  }
  return segments;
}

/**
 * What was read back and has been sealed again elsewhere since is read back again.
 * @param {Map<string, string>} readBack @param {Rotation["segments"]} segments
 */
async function dropRetried(readBack, segments) {
  for (const segment of segments.filter((one) => readBack.has(nameOf(one)))) {
    const copy = await copyOf(segment);
    if (copy === null || (await sha256Of(copy)) !== readBack.get(nameOf(segment))) readBack.delete(nameOf(segment));
  }
}

/** @template T @param {T[]} items @param {(item: T) => Promise<void>} work */
async function inParallel(items, work) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } catch (error) {
    waiting.length = 0; // what has not begun does not begin any more
    throw error;
  }
}

/**
 * One segment, sealed under the next key and read back: what the server hands out opens to the same octets.
 * @param {StoredSegment} segment @param {VaultKey} next @param {boolean} there whether a copy lies there already
 * @returns {Promise<string | null>} the SHA-256 of the copy; null where the segment changed meanwhile
 */
async function sealedAgain(segment, next, there) {
  const { domain, segment_id, content_revision } = segment;
  const address = { domain, segment_id, content_revision };
  const plaintext = await openSegmentBytes(segment.jwe, await current(), address);
  if (there) {
    const copy = await copyOf(address);
    if (copy !== null && (await holds(copy, next, address, plaintext))) return sha256Of(copy);
  }
  const jwe = await sealSegmentBytes(plaintext, next, address);
  try {
    await api.putResealed(address, { jwe, content_revision });
  } catch (error) {
    if (error instanceof api.ApiError && (error.code === "stale_revision" || error.status === 404)) return null;
    throw error;
  }
  const copy = await copyOf(address);
  if (copy === null) return null;
  if (!(await holds(copy, next, address, plaintext))) {
    throw new Refused("what was sealed again does not hold the same", "jwe", "mismatch");
  }
  return sha256Of(copy);
}

/** @param {Source} address @returns {Promise<string | null>} */
async function copyOf(address) {
  try {
    const { jwe, content_revision } = await api.getResealed(address);
    return content_revision === address.content_revision ? jwe : null;
  } catch (error) {
    if (error instanceof api.ApiError && error.status === 404) return null;
    throw error;
  }
}

/** @param {string} copy @param {VaultKey} next @param {Source} address @param {Uint8Array} plaintext @returns {Promise<boolean>} */
async function holds(copy, next, address, plaintext) {
  try {
    const found = await openSegmentBytes(copy, next, address);
    return found.length === plaintext.length && found.every((octet, index) => octet === plaintext[index]);
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** The server's `read_back_mark`. @param {Rotation["segments"]} segments @param {Map<string, string>} readBack */
async function markOf(segments, readBack) {
  const lines = segments.map((segment) => `${nameOf(segment)}.${readBack.get(nameOf(segment)) ?? ""}\n`);
  return sha256Of(lines.sort().join(""));
}

/** In hexadecimal, as the server has it. @param {string} text @returns {Promise<string>} */
const sha256Of = async (text) => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));
