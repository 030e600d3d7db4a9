// @ts-check
// The panel on "My data" that brings in what the old system left: asks for the old passphrase once, goes on after a reload.

import { gettext, interpolate, ngettext } from "./i18n.js";
import { all, busy, explain, find, make, pageData } from "./page.js";
import { save } from "./recovery.js";
import { refreshExports } from "./refresh.js";
import { humanised, inWords } from "./values.js";
import { getOldData, putOldProgress } from "./vault/api.js";
import { finish, move, openDocument } from "./vault/legacy.js";
import { ApiError, changes, isUnlocked, Refused } from "./vault/vault.js";

/** @typedef {import("./vault/types.js").OldBlob} OldBlob */
/** @typedef {import("./vault/types.js").OldCheckpoint} OldCheckpoint */
/** @typedef {import("./vault/legacy.js").Moved} Moved */
/** @typedef {{blob: OldBlob, moved: Moved}} Rest what has a value without a place, so that its row stays */
/** @typedef {{counts: import("./vault/types.js").OldCounts, kept: HTMLElement[], rests: Rest[], moved: number}} Work */

class Stopped extends Error {}

const words = pageData("words");
const panel = find("#old-data");
const form = /** @type {HTMLFormElement} */ (find("#old-data-form"));
const field = /** @type {HTMLInputElement} */ (find("#old-passphrase"));
const problem = find("[data-problem]", form);
const progress = find("[data-progress]", panel);
const outcome = find("[data-outcome]", panel);
const FINISHES = 3;
let stopped = false;
/** @type {Rest[]} */
let rests = [];

/** @param {string} domain */
const labelOf = (domain) => document.querySelector(`[data-domain="${CSS.escape(domain)}"] .card-title`)?.textContent?.trim() ?? humanised(domain);

/** The segments of a domain with what they can hold. @param {string} domain */
function placesOf(domain) {
  /** @type {Record<string, string[]>} */
  const places = {};
  for (const path of Object.keys(words)) {
    const [of = "", segment = "", attribute = ""] = path.split(".");
    if (of === domain) (places[segment] ??= []).push(attribute);
  }
  return places;
}

/** @param {string} text */
function tell(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

/** @param {"running" | "waiting_for_unlock" | "failed"} status @param {Work} work @param {OldCheckpoint | null} at @param {string} [error] */
const note = (status, work, at, error = "") => putOldProgress({ status, at, counts: work.counts, last_error: error });

/** @param {OldBlob[]} blobs @param {string} passphrase @returns {Promise<{blob: OldBlob, document: Record<string, unknown>}[]>} those that it opens */
async function opened(blobs, passphrase) {
  const found = [];
  for (const blob of blobs) {
    try {
      found.push({ blob, document: await openDocument(blob, passphrase) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
  return found;
}

async function bringIn() {
  tell("");
  if (!field.value) return tell(gettext("Type your old passphrase."));
  stopped = false;
  try {
    const data = await getOldData();
    const ready = await opened(data.blobs, field.value);
    if (!ready.length && data.blobs.length) return tell(gettext("That passphrase does not open your older data. Check it and try again."));
    const { written = 0 } = data.counts;
    await moveAll(ready, data.blobs.length, { counts: { written, aside: 0 }, kept: [], rests: [], moved: 0 });
  } catch (error) {
    tell(explain(error));
  } finally {
    progress.hidden = true;
    form.hidden = !outcome.hidden;
  }
}

/** @param {{blob: OldBlob, document: Record<string, unknown>}[]} ready @param {number} total @param {Work} work */
async function moveAll(ready, total, work) {
  form.hidden = true;
  progress.hidden = false;
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  bar.max = ready.length || 1;
  try {
    for (const [done, { blob, document: values }] of ready.entries()) {
      bar.value = done;
      find("[data-now]", progress).textContent = labelOf(blob.domain);
      find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done: done + 1, total: ready.length });
      await moveOne(blob, values, work);
    }
    if (work.rests.length) await note("waiting_for_unlock", work, null);
  } catch (error) {
    await noteFailure(error, work);
    if (!(error instanceof Stopped)) throw error;
  }
  field.value = "";
  if (work.moved || work.rests.length || stopped) show(work, total - ready.length);
  void refreshExports();
}

/** @param {unknown} error @param {Work} work */
async function noteFailure(error, work) {
  if (error instanceof Stopped) return note("waiting_for_unlock", work, null);
  const code = error instanceof ApiError ? error.code : error instanceof Refused ? error.reason : "page_error";
  return note("failed", work, null, code).catch(() => undefined); // the first error is the one to tell
}

/** One domain: written, read back, and its old row removed. @param {OldBlob} blob @param {Record<string, unknown>} values @param {Work} work */
async function moveOne(blob, values, work) {
  const { domain } = blob;
  await note("running", work, { domain, segments: {} });
  for (let attempt = 1; ; attempt += 1) {
    const moved = await move(domain, values, placesOf(domain), async (segments, written) => {
      work.counts.written += written;
      await note("running", work, { domain, segments });
      if (stopped) throw new Stopped();
    });
    if (attempt === 1) count(moved, domain, work);
    if (moved.aside.length) return void work.rests.push({ blob, moved });
    if (stopped) throw new Stopped();
    await note("running", work, { domain, segments: moved.segments }); // with its counts, since the last row ends it all
    try {
      await finish(blob, moved);
      work.moved += 1;
      return;
    } catch (error) {
      // another device wrote between the reading back and now: look again
      if (!(error instanceof ApiError && error.code === "stale_revision") || attempt === FINISHES) throw error;
    }
  }
}

/** @param {Moved} moved @param {string} domain @param {Work} work */
function count(moved, domain, work) {
  work.counts.aside += moved.aside.length;
  for (const { segment, attribute, old, now } of moved.kept) {
    const word = words[`${domain}.${segment}.${attribute}`];
    work.kept.push(line(word?.label ?? humanised(attribute), interpolate(gettext("%(now)s (before: %(old)s)"), { now: inWords(now, word), old: inWords(old, word) })));
  }
}

/** @param {string} label @param {string} text */
const line = (label, text) => make("li", {}, [make("span", {}, [label]), " ", make("bdi", {}, [text])]);

/** @param {Work} work @param {number} closed how many rows the passphrase did not open */
function show(work, closed) {
  rests = work.rests;
  find("[data-told]", outcome).textContent = [
    interpolate(ngettext("%(count)s domain was brought in.", "%(count)s domains were brought in.", work.moved), { count: work.moved }),
    stopped ? gettext("Stopped. Load this page again to go on.") : "",
    closed ? interpolate(ngettext("%(count)s domain has another passphrase. Load this page again to try it.", "%(count)s domains have another passphrase. Load this page again to try it.", closed), { count: closed }) : "",
  ].filter(Boolean).join(" ");
  fill("kept", work.kept);
  fill("aside", rests.flatMap(({ blob, moved }) => moved.aside.map(({ path, value }) => line(`${labelOf(blob.domain)}: ${path}`, inWords(value)))));
  outcome.hidden = false;
  form.hidden = true;
  find("#old-data-title").focus();
}

/** @param {"kept" | "aside"} what @param {HTMLElement[]} lines */
function fill(what, lines) {
  find(`[data-${what}-list]`, outcome).replaceChildren(...lines);
  find(`[data-${what}]`, outcome).hidden = !lines.length;
}

function saveAside() {
  const data = Object.fromEntries(rests.map(({ blob, moved }) => [blob.domain, Object.fromEntries(moved.aside.map(({ path, value }) => [path, value]))]));
  save("older-data.json", `${JSON.stringify(data, null, 2)}\n`, "application/json");
}

/** What has a place is in the vault already; with its row the rest goes. */
async function removeAside() {
  try {
    for (const { blob, moved } of rests) await finish(blob, moved);
    rests = [];
    fill("aside", []);
  } catch (error) {
    find("[data-told]", outcome).textContent = explain(error);
  }
}

/** Where the last time ended, so that nobody wonders whether it has to begin again. */
async function resume() {
  try {
    const { status, moved, blobs } = await getOldData();
    panel.hidden = !blobs.length && outcome.hidden;
    find("[data-resume]", panel).hidden = !(status === "running" || status === "failed" || (status === "waiting_for_unlock" && moved.length)) || !outcome.hidden;
  } catch (error) {
    tell(explain(error));
  }
}

function closed() {
  stopped = true;
  rests = [];
  field.value = "";
  for (const list of all("[data-kept-list], [data-aside-list]", panel)) list.replaceChildren();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), bringIn);
});
find("[data-cancel]", progress).addEventListener("click", () => { stopped = true; });
find("[data-save]", outcome).addEventListener("click", saveAside);
find("[data-remove]", outcome).addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), removeAside));
changes.addEventListener("unlocked", () => void resume());
changes.addEventListener("locked", closed);
/** @type {HTMLButtonElement} */ (find("button[type=submit]", form)).disabled = false;
if (await isUnlocked()) void resume();
