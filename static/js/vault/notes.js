// @ts-check
// What the vault remembers for itself, sealed, on every device of its person: what it approved, which keys apps used before,
// and whatever else a page must not have to take the server's word for. One small record, written whole.

import { Refused } from "../formats/errors.js";
import { withoutRecords } from "../formats/records.js";
import { sealedDigest } from "../formats/signing.js";
import { openNotes, sealNotes } from "../formats/vault.js";
import * as api from "./api.js";
import { recalled, rekeep } from "./device.js";
import { pageOwner } from "./keyring.js";
import { withPresentKey } from "./unlocking.js";

/** @typedef {import("../formats/records.js").Records} Records */
/** @typedef {import("../formats/entries.js").Head} Head */
/**
 * Each member belongs to one module: `approvals` is formats/records.js, `connectors` is app → thumbprints, `history` is how
 * far the person's own chain was read, `proved` how far the log has it, `root` is the thumbprint of the key that
 * certifies approvals (`next_root` while it is replaced), `generation` counts the vault's keys, of which
 * `retired` names the earlier ones, `segments` are the highest revisions (of a deleted one that of its deletion), `hidden` the
 * scopes that the person keeps out of discovery, sorted, `log` is log/memory.js, `invitations` are the digests of the
 * person's sharing IDs, `answers` is formats/derived.js, `paused` are the digests of requests that the history told paused and the
 * vault did not resume, sorted, `older_grants` is "closed" once the person was asked about approvals that are older than this record.
 * @typedef {Record<string, any> & {approvals?: Records, root?: string, next_root?: string, generation?: number, retired?: string[], connectors?: Record<string, string[]>, history?: Head, proved?: Head, segments?: Revisions, hidden?: string[], invitations?: string[], paused?: string[], answers?: import("../formats/derived.js").Given}} Notes
 */
/** @typedef {import("./types.js").VaultKey} VaultKey */
/** @typedef {import("./types.js").NewNotes} NewNotes */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {Record<string, number>} Revisions "domain.segment" → the highest revision of it that is known */
/** @typedef {{revision: number, keyId: string, generation: number, sha256: string, at: number}} Seen the newest notes that this browser saw, and when (ms) */

const ATTEMPTS = 5;
const GONE = "this vault was made with notes, and they are gone";

/**
 * @returns {Promise<{notes: Notes, revision: number}>} revision 0 where there are none yet
 * @throws {Refused} reason rolled_back, where this browser saw newer ones: nothing is sealed on the strength of these
 */
export const readNotes = () => withPresentKey(read);

/** The same as they are stored, and under which key. */
export const readState = () => withPresentKey(async (vault) => ({ ...(await read(vault)), keyId: vault.keyId }));

/** The same however old they are; they are no authority for anything. @returns {Promise<{notes: Notes, revision: number}>} */
export const readAnyNotes = () => withPresentKey(async (vault) => opened(await api.getNotes(), vault));

/** @param {{jwe: string | null, revision: number}} kept @param {VaultKey} vault */
const opened = async ({ jwe, revision }, vault) => ({ notes: jwe === null ? {} : await openNotes(jwe, vault, revision), revision });

/** @param {VaultKey} vault @returns {Promise<{notes: Notes, revision: number, jwe: string | null}>} */
async function read(vault) {
  const seen = await recalled(nameOf(vault)); // before the service is asked: a tab that is faster makes no alarm
  const kept = await api.getNotes();
  const found = await opened(kept, vault);
  if (areGone(vault, found.notes)) throw rolledBack(GONE);
  if (await isOlder(seen, kept, vault, found.notes)) throw rolledBack("these notes are older than some that were seen before");
  const shown = shownAgain(found.notes, kept);
  if (shown.length) throw rolledBack(`${shown[0]} was hidden, and is shown again`);
  if (kept.jwe !== null) await noteSeen(vault, kept.jwe, kept.revision, found.notes);
  return { ...found, notes: withHidden(found.notes, kept), jwe: kept.jwe };
}

/**
 * What the vault hides and the service does not any more: only the vault itself may show it again.
 * @param {Notes} notes @param {{hidden_scopes?: string[]}} kept @returns {string[]}
 */
export const shownAgain = ({ hidden = [] }, { hidden_scopes = [] }) => hidden.filter((scope) => !hidden_scopes.includes(scope));

/** With what was hidden while the vault was locked: whoever hides only restricts. @param {Notes} notes @param {{hidden_scopes?: string[]}} kept @returns {Notes} */
const withHidden = (notes, { hidden_scopes = [] }) => (hidden_scopes.length ? { ...notes, hidden: hidden_scopes.toSorted() } : notes);

/** Those that came with the vault name its root, always. @param {VaultKey} vault @param {Notes} notes */
const areGone = (vault, notes) => vault.hasNotes === true && !notes.root;

/** @param {VaultKey} vault */
const nameOf = ({ userId }) => `notes:${userId}`;

/** @param {VaultKey} vault */
const segmentsOf = ({ userId }) => `segments:${userId}`;

/** @param {{domain: string, segment_id: string}} source */
export const placeOf = ({ domain, segment_id }) => `${domain}.${segment_id}`;

/** @param {Revisions | null | undefined} known @param {Source[]} sources @returns {Revisions} with those that are higher */
export function withRevisions(known, sources) {
  const higher = sources.filter((source) => source.content_revision > (known?.[placeOf(source)] ?? 0));
  return { ...known, ...Object.fromEntries(higher.map((source) => [placeOf(source), source.content_revision])) };
}

/** What this browser saw of the person's segments. @param {VaultKey} vault @returns {Promise<Revisions>} */
export const recalledRevisions = async (vault) => (await recalled(segmentsOf(vault))) ?? {};

/** @param {VaultKey} vault @param {Source[]} sources */
export const noteRevisions = (vault, sources) => rekeep(segmentsOf(vault), (known) => withRevisions(known, sources));

/**
 * With what is written of a segment from then on; what was deleted is older than its deletion on every device.
 * @param {Source} source @returns {(notes: Notes) => Notes}
 */
export const withSegment = (source) => (notes) => ({ ...notes, segments: withRevisions(notes.segments, [source]) });

/** What was deleted here is not missing. @param {VaultKey} vault @param {Source} source */
export const forgetRevision = (vault, source) =>
  rekeep(segmentsOf(vault), (known) => Object.fromEntries(Object.entries(known ?? {}).filter(([place]) => place !== placeOf(source))));

/**
 * The notes as they are stored, and the newest that this browser saw.
 * @param {VaultKey} vault
 */
export async function notesBesideSeen(vault) {
  const seen = /** @type {Seen | null} */ (await recalled(nameOf(vault)));
  const kept = await api.getNotes();
  const { notes } = await opened(kept, vault);
  const shown = shownAgain(notes, kept);
  return { seen, kept, isOlder: await isOlder(seen, kept, vault, notes), areGone: areGone(vault, notes), shown, notes };
}

/** Which of the vault's keys they are sealed under, by count. @param {Notes} notes */
export const generationOf = ({ generation }) => generation ?? 1;

/** @param {Seen | null} seen @param {{jwe: string | null, revision: number}} kept @param {VaultKey} vault @param {Notes} notes */
async function isOlder(seen, { jwe, revision }, { keyId }, notes) {
  if (!seen) return false;
  const generation = generationOf(notes);
  if (generation !== seen.generation) return generation < seen.generation; // an older key may have been put back, notes and all
  if (revision > seen.revision) return false;
  return revision < seen.revision || (seen.keyId === keyId && (jwe === null || (await sealedDigest(jwe)) !== seen.sha256));
}

/** Nothing is sealed until the person has looked at it. @param {string} message @returns {Refused} */
export function rolledBack(message) {
  dispatchEvent(new CustomEvent("interrupted", { detail: "rolled_back" }));
  return new Refused(message, "revision", "rolled_back");
}

/**
 * Goes on with older notes than were seen, by the person's word: this browser forgets the newer ones. What they had approved by
 * then may have been stopped since, so that each of it is asked about again.
 * @param {Head} history where their own chain stands now
 * @returns {Promise<void>}
 */
export async function takeOlderNotes(history) {
  const segments = withRevisions(null, await api.getSegments({}));
  const cleared = (/** @type {Notes} */ notes) => ({ ...notes, approvals: withoutRecords(notes.approvals, null, 0), history, proved: history, segments, hidden: notes.hidden ?? [] });
  await withPresentKey(async (vault) => {
    const send = async (/** @type {NewNotes} */ next) => {
      await api.putNotes(next);
      // not before the service has them: a failure would leave older notes with all that they approve, and nobody who knows
      await rekeep(nameOf(vault), () => null);
      await rekeep(segmentsOf(vault), () => null);
    };
    await write(cleared, send, vault, readOlder);
  });
}

/** Whatever was seen before; without notes there is nothing to go on with. @param {VaultKey} vault */
async function readOlder(vault) {
  const kept = await api.getNotes();
  const { notes, revision } = await opened(kept, vault);
  if (areGone(vault, notes)) throw rolledBack(GONE);
  return { notes: { ...notes, hidden: (kept.hidden_scopes ?? []).toSorted() }, revision };
}

/** @param {VaultKey} vault @param {string} jwe @param {number} revision @param {Notes} notes */
async function noteSeen(vault, jwe, revision, notes) {
  const seen = { revision, keyId: vault.keyId, generation: generationOf(notes), sha256: await sealedDigest(jwe), at: Date.now() };
  const last = /** @type {Seen | null} */ (await recalled(nameOf(vault)));
  // a key that was changed is among the retired ones; else it is a new vault, and what was seen of the last one is not in it
  const isNewVault = last !== null && last.keyId !== vault.keyId && last.generation < seen.generation && !notes.retired?.includes(last.keyId);
  if (isNewVault) await rekeep(segmentsOf(vault), () => null);
  const isNewer = (/** @type {Seen} */ kept) => kept.generation > seen.generation || (kept.generation === seen.generation && kept.revision > revision);
  await rekeep(nameOf(vault), (/** @type {Seen | null} */ kept) => (kept && isNewer(kept) ? undefined : seen));
}

/**
 * Writes what `change` makes of the notes; another tab or device that was faster is read again first.
 * @template [T=unknown]
 * @param {(notes: Notes) => Notes | null} change null where nothing changes
 * @param {(notes: NewNotes) => Promise<T>} [send] for what goes with them, in one transaction; it may be done again
 * @returns {Promise<T | null>} what `send` answered; null where nothing changes
 */
export const changeNotes = (change, send = /** @type {any} */ (api.putNotes)) => withPresentKey((vault) => write(change, send, vault));

/** @template T @param {(notes: Notes) => Notes | null} change @param {(notes: NewNotes) => Promise<T>} send @param {VaultKey} vault @param {(vault: VaultKey) => Promise<{notes: Notes, revision: number}>} [readFirst] */
async function write(change, send, vault, readFirst = read) {
  for (let attempt = 1; ; attempt += 1) {
    const { notes, revision } = await readFirst(vault);
    const next = change(structuredClone(notes));
    if (next === null) return null;
    const jwe = await sealNotes(next, vault, revision + 1);
    try {
      const answer = await send({ jwe, base_revision: revision });
      await noteSeen(vault, jwe, revision + 1, next);
      return answer;
    } catch (error) {
      if (!isBehind(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * What `change` makes of the notes, for a form that takes them along. Whether they were kept shows only in what is read after it.
 * @param {(notes: Notes) => Notes} change @returns {Promise<NewNotes>}
 */
export const sealedChange = (change) =>
  withPresentKey(async (vault) => {
    const { notes, revision } = await read(vault);
    return { jwe: await sealNotes(change(notes), vault, revision + 1), base_revision: revision };
  });

/** @param {unknown} error */
const isBehind = (error) => error instanceof api.ApiError && error.code === "stale_revision" && error.body.member === "notes";

/**
 * Whether this app used this key before, as this vault remembers it.
 * @param {string} appId @param {string} thumbprint
 * @returns {Promise<boolean | null>} null where the vault remembers nothing of the app
 */
export async function knownConnector(appId, thumbprint) {
  const { notes } = await readNotes();
  const known = notes.connectors?.[appId];
  return Array.isArray(known) ? known.includes(thumbprint) : null;
}

/** @param {Notes} notes @param {string} appId @param {string} thumbprint @returns {Notes} with this key of the app */
export function withConnector(notes, appId, thumbprint) {
  const connectors = notes.connectors ?? {};
  const known = connectors[appId] ?? [];
  return known.includes(thumbprint) ? notes : { ...notes, connectors: { ...connectors, [appId]: [...known, thumbprint] } };
}

/**
 * The domain that an app had when it was last approved, where it is another one now.
 * @param {Notes} notes @param {string} appId @param {string | null} domain the one that it has proved now
 * @returns {string | null} null where it is the same, or none is remembered
 */
export function otherDomain(notes, appId, domain) {
  const pinned = notes.domains?.[appId] ?? null;
  return pinned === domain ? null : pinned;
}

/** @param {Notes} notes @param {string} appId @param {string | null} domain @returns {Notes} with the domain that the app was approved with last */
export const withDomain = (notes, appId, domain) =>
  domain === null ? notes : { ...notes, domains: { ...notes.domains, [appId]: domain } };

/** @param {Notes} notes @param {string[]} digests @returns {Notes} with these as what is paused */
export const withPaused = ({ paused, ...notes }, digests) => (digests.length ? { ...notes, paused: digests } : notes);

/** Keeps a scope out of discovery. @param {string} scope @returns {Promise<unknown>} */
export const hideScope = (scope) =>
  changeNotes((notes) => ({ ...notes, hidden: [...new Set([...(notes.hidden ?? []), scope])].sort() }), (notes) => api.hideScope(scope, notes));

/** Lets it be discovered again. @param {string} scope @returns {Promise<unknown>} */
export const showScope = (scope) =>
  changeNotes((notes) => ({ ...notes, hidden: (notes.hidden ?? []).filter((one) => one !== scope) }), (notes) => api.showScope(scope, notes));

/** Sharing IDs of this person whose digests are remembered; more are not in use. */
const MOST_INVITATIONS = 50;

/** @param {string} sharingId @returns {Promise<unknown>} once the vault remembers that this is its person's */
export async function rememberInvitation(sharingId) {
  const digest = await sealedDigest(sharingId);
  return changeNotes((notes) => {
    const known = notes.invitations ?? [];
    return known.includes(digest) ? null : { ...notes, invitations: [...known, digest].slice(-MOST_INVITATIONS) };
  });
}

/**
 * This browser showed its person who asks to connect by this, whether the vault is unlocked or not.
 * @param {string} userId @param {string} connectionId @returns {Promise<unknown>}
 */
export async function rememberConnection(userId, connectionId) {
  const digest = await sealedDigest(connectionId);
  return rekeep(`connections:${userId}`, (known) => [...(known ?? []).filter((/** @type {string} */ one) => one !== digest), digest].slice(-MOST_INVITATIONS));
}

/**
 * Whether the vault remembers this digest of a sharing ID as its person's, or this browser that of a connection.
 * @param {string} digest @returns {Promise<boolean>}
 */
export async function isOwnInvitation(digest) {
  const owner = pageOwner();
  const connections = owner ? await recalled(`connections:${owner.userId}`) : null;
  return (connections ?? []).includes(digest) || ((await readNotes()).notes.invitations ?? []).includes(digest);
}
