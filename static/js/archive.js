// @ts-check
// A sealed archive of the whole vault: saved as a file, or brought in after a look at what would change.

import { gettext, interpolate, ngettext } from "./i18n.js";
import { all, busy, explain, find, make, pageData, toast } from "./page.js";
import { save } from "./recovery.js";
import { refreshExports } from "./refresh.js";
import { humanised, inWords } from "./values.js";
import { BadArchive, bringIn, makeArchive, MAX_ARCHIVE_BYTES, openArchive, planned, readArchive, unlockArchive } from "./vault/archive.js";
import { CannotUnlock, changes } from "./vault/keyring.js";
import { ApiError, openAll, pageOwner, passkeysSupported } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {import("./vault/archive.js").Archive} Archive */
/** @typedef {import("./vault/archive.js").Opened} Opened */
/** @typedef {import("./vault/archive.js").Planned} Planned */

/** @type {Record<string, {label: string, attributes: Record<string, Word>}>} "domain.segment" → its words */
const known = pageData("known");
const problem = find("#archive-problem");
const file = /** @type {HTMLInputElement} */ (find("#archive-file"));
const form = /** @type {HTMLFormElement} */ (find("#archive-unlock"));
const secret = /** @type {HTMLInputElement} */ (find("#archive-secret"));
const plan = find("#archive-plan");
const progress = find("[data-progress]", plan);
const MOST_SHOWN = 200; // letters of one value: it is a look, not the value
/** @type {Archive | null} */
let archive = null;
/** @type {Opened[]} */
let opened = [];
/** @type {Planned[]} */
let plans = [];
let stopped = false;
let chosen = 0; // which file is being read: a later one makes an earlier one's answer void

/** @param {unknown} error */
function tell(error) {
  problem.textContent = error instanceof BadArchive ? badWords(error) : error instanceof CannotUnlock ? gettext("That does not open this file. Use the passphrase or the recovery code of the account it was saved from.") : explain(error);
  problem.hidden = false;
}

/** @param {BadArchive} error */
function badWords({ code, place }) {
  const where = { place: placeWords(place) };
  const words = {
    too_large: gettext("This file is too large."),
    not_json: gettext("This file is no sealed archive, or it is damaged."),
    format: gettext("This file is no sealed archive, or one of a kind that is not known here."),
    repeated_name: gettext("This file says one thing twice and could be read in two ways."),
    too_deep: gettext("This file is nested too deep."),
    members: interpolate(gettext("A part of this file is not as it has to be: %(place)s."), where),
    iterations: gettext("This file asks for an amount of work to open it that no archive of ours does."),
    misplaced: interpolate(gettext("A part of this file belongs to another place, person or key: %(place)s."), where),
    twice: interpolate(gettext("A part of this file is in it twice: %(place)s."), where),
    other_keys: gettext("This file mixes parts of more than one vault."),
    cannot_open: interpolate(gettext("A part of this file was changed and does not open: %(place)s."), where),
    attributes: interpolate(gettext("A part of this file holds something else than it says: %(place)s."), where),
  };
  return `${/** @type {Record<string, string>} */ (words)[code] ?? ""} ${gettext("It was refused whole. Nothing was changed.")}`.trim();
}

/** @param {string} place */
const placeWords = (place) => (Object.hasOwn(known, place) ? known[place]?.label ?? place : place);

/** @param {() => Promise<void>} work */
async function guarded(work) {
  problem.hidden = true;
  try {
    await work();
  } catch (error) {
    tell(error);
  }
}

async function saveArchive() {
  const text = await makeArchive();
  save(`my-data-${new Date().toISOString().slice(0, 10)}.sealed.json`, text, "application/json");
  toast(gettext("Saved as a file."));
}

async function choose() {
  const taken = file.files?.[0];
  forget();
  if (!taken) return;
  const mine = (chosen += 1);
  if (taken.size > MAX_ARCHIVE_BYTES) throw new BadArchive("too_large");
  const read = readArchive(await taken.text());
  if (mine !== chosen) return;
  archive = read;
  const own = archive.userId === pageOwner()?.userId;
  const count = archive.segments.length;
  find("[data-about]", form).textContent = [
    own ? gettext("An archive of this account.") : gettext("An archive of another account."),
    interpolate(ngettext("%(count)s part is sealed in it.", "%(count)s parts are sealed in it.", count), { count }),
  ].join(" ");
  const kinds = archive.wrappers.map(({ kind }) => kind);
  find("#archive-passkey").hidden = !passkeysSupported() || !kinds.includes("passkey");
  form.hidden = false;
  secret.focus();
}

/** @param {string | null} typed null asks for a passkey */
async function openWith(typed) {
  if (!archive || typed === "") return secret.focus();
  opened = await openArchive(archive, await unlockArchive(archive, typed));
  secret.value = "";
  form.hidden = true;
  await look();
  find("#archive-plan-title").focus();
}

/** Compares with what is here now. @param {Map<string, number>} [before] what was ticked, and over which revision */
async function look(before) {
  plans = planned(opened, await openAll({}), (domain, segment) => Object.hasOwn(known, `${domain}.${segment}`));
  const wanted = plans.filter(({ state }) => state === "new" || state === "differs");
  find("[data-plan]", plan).replaceChildren(...wanted.map((segment) => row(segment, before)));
  find("[data-skipped]", plan).textContent = skippedWords(wanted.length);
  find("#archive-start").hidden = !wanted.length;
  plan.hidden = false;
}

/** @param {number} wanted */
function skippedWords(wanted) {
  const same = plans.filter(({ state }) => state === "same").length;
  const homeless = plans.filter(({ state }) => state === "no_place").map(({ domain, segment_id }) => `${domain}.${segment_id}`);
  return [
    wanted ? "" : gettext("Nothing would change."),
    same ? interpolate(ngettext("%(count)s part is the same here.", "%(count)s parts are the same here.", same), { count: same }) : "",
    homeless.length ? interpolate(gettext("No place here for: %(names)s."), { names: homeless.slice(0, 12).join(", ") }) : "",
  ].filter(Boolean).join(" ");
}

/** What is new is ticked; what would replace something is not. @param {Planned} segment @param {Map<string, number>} [before] @returns {HTMLElement} */
function row({ domain, segment_id, state, base, different, here, values }, before) {
  const place = `${domain}.${segment_id}`;
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", value: place }));
  box.checked = before ? before.get(place) === base : state === "new";
  const badge = state === "new"
    ? [make("span", { class: "badge b-ok" }, [gettext("New")])]
    : [make("span", { class: "badge b-warn" }, [gettext("Differs")]), " ", make("span", { class: "sm mut" }, [gettext("Ticked, it replaces what is here.")])];
  return make("section", { class: "value-group", "data-state": state, "data-place": place }, [
    make("label", { class: "value-pick" }, [box, make("span", { class: "value-label" }, [placeWords(place)])]),
    make("p", {}, badge),
    make("dl", { class: "peek" }, different.map((name) => make("div", {}, [
      make("dt", {}, [wordOf(place, name)?.label ?? humanised(name)]),
      make("dd", {}, [make("bdi", {}, [changeWords(name, place, values, here)])]),
    ]))),
  ]);
}

/** @param {string} name @param {string} place @param {Record<string, unknown>} values @param {Record<string, unknown>} here */
function changeWords(name, place, values, here) {
  const valueText = (/** @type {Record<string, unknown>} */ source) => (Object.hasOwn(source, name) ? shown(source[name], wordOf(place, name)) : gettext("(nothing)"));
  if (!Object.keys(here).length) return valueText(values);
  return interpolate(gettext("%(archived)s (here: %(now)s)"), { archived: valueText(values), now: valueText(here) });
}

/** @param {string} place @param {string} name @returns {Word | undefined} */
function wordOf(place, name) {
  const attributes = Object.hasOwn(known, place) ? known[place]?.attributes ?? {} : {};
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** @param {unknown} value @param {Word | undefined} word */
function shown(value, word) {
  if (value === null) return gettext("(empty)");
  const text = inWords(value, word);
  return text.length > MOST_SHOWN ? `${[...text.slice(0, MOST_SHOWN)].slice(0, -1).join("")}…` : text;
}

/** One after another; what is done leaves the list, so that going on begins where it stopped. */
async function bringInTicked() {
  const places = all("input:checked", plan).map((box) => /** @type {HTMLInputElement} */ (box).value);
  const wanted = plans.filter(({ domain, segment_id }) => places.includes(`${domain}.${segment_id}`));
  if (!wanted.length) return;
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  stopped = false;
  bar.max = wanted.length;
  progress.hidden = false;
  let done = 0;
  try {
    for (const segment of wanted) {
      if (stopped) break;
      bar.value = done;
      find("[data-now]", progress).textContent = placeWords(`${segment.domain}.${segment.segment_id}`);
      find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done: done + 1, total: wanted.length });
      await bringIn(segment);
      plan.querySelector(`[data-place="${CSS.escape(`${segment.domain}.${segment.segment_id}`)}"]`)?.remove(); // locking took it away already
      done += 1;
    }
  } catch (error) {
    tell(error);
    // Somebody wrote meanwhile: what is there now has to be seen before it is replaced.
    if (error instanceof ApiError && error.code === "stale_revision") await look(new Map(wanted.map(({ domain, segment_id, base }) => [`${domain}.${segment_id}`, base])));
    return;
  } finally {
    progress.hidden = true;
    if (done) void refreshExports();
  }
  ended(done, wanted.length);
}

/** @param {number} done @param {number} total */
function ended(done, total) {
  if (stopped && done < total) return void toast(gettext("Stopped. What was brought in stays; press the button again to go on."), "info");
  forget();
  file.value = "";
  const outcome = find("#archive-done");
  find("[data-text]", outcome).textContent = interpolate(ngettext("%(count)s part was sealed under your key and saved.", "%(count)s parts were sealed under your key and saved.", done), { count: done });
  outcome.hidden = false;
  return find("#archive-done-title").focus();
}

/** Takes everything that was opened off the page. */
function forget() {
  chosen += 1;
  stopped = true;
  archive = null;
  opened = plans = [];
  secret.value = "";
  form.hidden = plan.hidden = true;
  find("#archive-done").hidden = true;
  find("[data-plan]", plan).replaceChildren();
}

function closed() {
  forget();
  file.value = "";
}

find("#archive-save").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(saveArchive)));
file.addEventListener("change", () => guarded(choose));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), () => guarded(async () => void (await openWith(secret.value))));
});
find("#archive-passkey").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(async () => void (await openWith(null)))));
find("#archive-start").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(bringInTicked)));
find("#archive-cancel").addEventListener("click", () => {
  stopped = true;
  if (progress.hidden) closed();
});
changes.addEventListener("locked", closed); // the page follows the lock by transfer.js, which stands before this one
/** @type {HTMLButtonElement} */ (find("#archive-save")).disabled = false;
