// @ts-check
// What somebody typed or chose when their session had ended: kept in this tab for half an hour, for that person and page.
// Values are sealed under the vault key, which is gone by the time somebody else could look; choices name no value.

import { current, pageOwner } from "./vault/keyring.js";

/** @typedef {import("./vault/types.js").Json} Json */

/** Loaded where a value is sealed: what only keeps ticks needs no cryptography. */
const sealing = () => import("./formats/vault.js");

const LASTS = 30 * 60; // seconds
const now = () => Math.floor(Date.now() / 1000);

/** @param {string} name */
const place = (name) => `draft ${pageOwner()?.userId} ${location.pathname}${location.search} ${name}`;

/** @param {string} name @returns {any} null where there is none, or where it is too old */
function read(name) {
  try {
    const found = JSON.parse(sessionStorage.getItem(place(name)) ?? "null");
    return found && now() - found.at < LASTS ? found : null;
  } catch {
    return null; // storage can be refused
  }
}

/** @param {string} name @param {Json} found @returns {boolean} whether it is kept */
function write(name, found) {
  try {
    sessionStorage.setItem(place(name), JSON.stringify(found));
    return true;
  } catch {
    return false; // refused, or full: it stays on the page
  }
}

/** @param {string} name */
export function dropDraft(name) {
  try {
    sessionStorage.removeItem(place(name));
  } catch { /* nothing is kept then */ }
}

/** @param {{at: number}} draft */
const address = (draft) => ({ domain: "draft", segment_id: "typed", content_revision: draft.at });

/** Needs the vault unlocked. @param {string} name @param {Json} typed @returns {Promise<boolean>} whether it is kept */
export async function keepDraft(name, typed) {
  try {
    const draft = { at: now() };
    const { sealSegment } = await sealing();
    return write(name, { ...draft, jwe: await sealSegment(typed, await current(), address(draft)) });
  } catch {
    return false; // locked meanwhile: it stays on the page
  }
}

/** Needs the vault unlocked. @param {string} name @returns {Promise<Json | null>} */
export async function openDraft(name) {
  const draft = read(name);
  if (!draft?.jwe) return null;
  try {
    const { openSegment } = await sealing();
    return await openSegment(draft.jwe, await current(), address(draft));
  } catch {
    dropDraft(name);
    return null;
  }
}

/** Ticks and the like, never a value. @param {string} name @param {unknown} chosen */
export const keepChoice = (name, chosen) => write(name, { at: now(), chosen });

/** @param {string} name @returns {any} once; null where there is none */
export function takeChoice(name) {
  const found = read(name);
  dropDraft(name);
  return found?.chosen ?? null;
}
