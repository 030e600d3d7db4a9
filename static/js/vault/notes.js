// @ts-check
// What the vault remembers for itself, sealed, on every device of its person: which keys apps used before, and whatever
// else a page must not have to take the server's word for. One small record, written whole.

import { openNotes, sealNotes } from "../formats/vault.js";
import * as api from "./api.js";
import { withPresentKey } from "./present_key.js";

/** @typedef {Record<string, any>} Notes each member belongs to one module; `connectors` is app → thumbprints */
/** @typedef {import("./types.js").VaultKey} VaultKey */

const ATTEMPTS = 3;

/** @returns {Promise<{notes: Notes, revision: number}>} revision 0 where there are none yet */
export const readNotes = () => withPresentKey(read);

/** @param {VaultKey} vault @returns {Promise<{notes: Notes, revision: number}>} */
async function read(vault) {
  const { jwe, revision } = await api.getNotes();
  return { notes: jwe === null ? {} : await openNotes(jwe, vault, revision), revision };
}

/**
 * Writes what `change` makes of the notes; another tab or device that was faster is read again first.
 * @param {(notes: Notes) => Notes | null} change null where nothing changes
 * @returns {Promise<void>}
 */
export const changeNotes = (change) => withPresentKey((vault) => write(change, vault));

/** @param {Parameters<typeof changeNotes>[0]} change @param {VaultKey} vault */
async function write(change, vault) {
  for (let attempt = 1; ; attempt += 1) {
    const { notes, revision } = await read(vault);
    const next = change(structuredClone(notes));
    if (next === null) return;
    const jwe = await sealNotes(next, vault, revision + 1);
    try {
      await api.putNotes({ jwe, base_revision: revision });
      return;
    } catch (error) {
      if (!(error instanceof api.ApiError && error.code === "stale_revision") || attempt === ATTEMPTS) throw error;
    }
  }
}

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

/**
 * The domain that an app had when it was first approved, where it is another one now.
 * @param {string} appId @param {string | null} domain the one that it has proved now
 * @returns {Promise<string | null>} null where it is the same, or none is remembered
 */
export async function otherDomain(appId, domain) {
  const pinned = (await readNotes()).notes.domains?.[appId] ?? null;
  return pinned === domain ? null : pinned;
}

/** Pins the domain that an app has at its first approval with one. @param {string} appId @param {string} domain */
export const rememberDomain = (appId, domain) =>
  changeNotes((notes) => (notes.domains?.[appId] ? null : { ...notes, domains: { ...notes.domains, [appId]: domain } }));

/** @param {string} appId @param {string} thumbprint */
export const rememberConnector = (appId, thumbprint) =>
  changeNotes((notes) => {
    const connectors = notes.connectors ?? {};
    const known = connectors[appId] ?? [];
    return known.includes(thumbprint) ? null : { ...notes, connectors: { ...connectors, [appId]: [...known, thumbprint] } };
  });
