// @ts-check
// What the service shows is older than what this browser saw: what went back, and going on with it by the person's word.

import { Refused } from "../formats/errors.js";
import * as api from "./api.js";
import { notesBesideSeen, recalledRevisions, takeOlderNotes, withRevisions } from "./notes.js";
import { entriesAfter, START, tellLaterState } from "./own_history.js";
import { withPresentKey } from "./unlocking.js";

/**
 * `seenAt` and `keptAt` in ms: null where this browser saw none before, and where there are no notes any more; `areGone` where
 * the vault was made with notes that are not there: nothing can go on without them; `to` is 0 where a segment is gone; `shown`
 * are scopes that the vault hides and apps are shown again; `entries` of the person's history that are gone, or in whose place others stand; `isBehind` where it tells of a later state.
 * @typedef {{seenAt: number | null, keptAt: number | null, areGone: boolean, segments: {place: string, from: number, to: number}[], shown: string[], entries: number, isBehind: boolean}} WentBack
 */

/** @returns {Promise<WentBack | null>} null where nothing did */
export const whatWentBack = () =>
  withPresentKey(async (vault) => {
    const known = await recalledRevisions(vault); // before the service is asked
    const { seen, kept, isOlder, areGone, shown, notes } = await notesBesideSeen(vault);
    const now = withRevisions(null, await api.getSegments({}));
    const highest = withRevisions(known, Object.entries(notes.segments ?? {}).map(sourceOf));
    const segments = Object.entries(highest).map(([place, from]) => ({ place, from, to: now[place] ?? 0 })).filter(({ place, from, to }) => to < from && (to > 0 || Object.hasOwn(known, place)));
    const { gone: entries, isBehind } = await beside(notes.history ?? START, { notes, revision: kept.revision, jwe: kept.jwe, keyId: vault.keyId });
    // what is gone may have been deleted on another device: only with something that went back it is a part of that
    if (!isOlder && !areGone && !shown.length && !entries && !isBehind && !segments.some(({ to }) => to > 0)) return null;
    return { seenAt: seen?.at ?? null, keptAt: kept.updated_at ? Date.parse(kept.updated_at) : null, areGone, segments, shown, entries, isBehind };
  });

/** @param {[string, number]} entry */
function sourceOf([place, content_revision]) {
  const [domain = "", segment_id = ""] = place.split(".");
  return { domain, segment_id, content_revision };
}

/**
 * The history beside the notes: entries of it that are gone, and whether it tells of a later state.
 * @param {import("../formats/entries.js").Head} from @param {Parameters<typeof tellLaterState>[1]} state
 */
async function beside(from, state) {
  try {
    const { entries } = await entriesAfter(from);
    return { gone: 0, isBehind: await tellLaterState(entries, state) };
  } catch (error) {
    if (!(error instanceof Refused && error.reason === "rolled_back")) throw error;
    const { head } = await api.getChain(0);
    return { gone: Math.max(1, from.sequence - head.sequence), isBehind: false };
  }
}

/** Goes on with what is there, by the person's word. @returns {Promise<void>} */
export async function takeOlderState() {
  const { head } = await entriesAfter(START);
  await takeOlderNotes(head);
}
