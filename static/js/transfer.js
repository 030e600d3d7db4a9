// @ts-check
// All of it out as a file, or a file in: with a look at what would change, one segment after another, stoppable.

import { readFile } from "./files.js";
import { gettext, interpolate } from "./i18n.js";
import { drawMapping, mapped } from "./mapping.js";
import { all, busy, entry, explain, find, make, pageData, toast } from "./page.js";
import { save } from "./recovery.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { asDay, breakable, humanised, inWords } from "./values.js";
import { Conflict, openAll, writeAll } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @type {Record<string, {label: string, attributes: Record<string, Word>}>} "domain.segment" → its words */
const known = pageData("known");
const problem = find("#transfer-problem");
const plan = find("#import-plan");
const file = /** @type {HTMLInputElement} */ (find("#import-file"));
const mapping = /** @type {HTMLFormElement} */ (find("#import-mapping"));
const who = /** @type {HTMLSelectElement} */ (find("#import-entry"));
/** @type {Map<string, unknown>} */
let found = new Map();
/** @type {import("./mapping.js").Entry[]} the people of a file that names no places */
let entries = [];
/** @type {Map<string, {content_revision: number, values: Record<string, unknown>}>} what was compared with */
let seen = new Map();
let stopped = false;

/** Everything that is kept, domain by domain. */
async function everything() {
  const domains = [...new Set(Object.keys(known).map((address) => address.split(".")[0]))];
  return (await Promise.all(domains.map((domain) => openAll({ domain })))).flat();
}

/** @param {() => Promise<void>} work */
async function guarded(work) {
  problem.hidden = true;
  try {
    await work();
  } catch (error) {
    problem.textContent = error instanceof RangeError ? error.message : error instanceof Conflict ? gettext("Your data changed somewhere else in the meantime. Choose the file again to see it as it is now.") : explain(error);
    problem.hidden = false;
  }
}

async function exportAll() {
  /** @type {Record<string, Record<string, unknown>>} */
  const data = {};
  for (const { domain, segment_id, values } of await everything()) data[domain] = { ...data[domain], [segment_id]: values };
  const saved_at = `${new Date().toISOString().slice(0, 19)}Z`;
  save(`my-data-${saved_at.slice(0, 10)}.json`, `${JSON.stringify({ saved_at, data }, null, 2)}\n`, "application/json");
  toast(gettext("Saved as a file."));
}

async function choose() {
  const chosen = file.files?.[0];
  close();
  if (!chosen) return;
  const read = await readFile(chosen, known);
  if ("found" in read) return void (await showPlan(read));
  entries = read.entries;
  who.replaceChildren(...entries.map(({ title }, at) => make("option", { value: String(at) }, [title || String(at + 1)])));
  find("[data-who]", mapping).hidden = entries.length < 2;
  showMapping();
  find("#mapping-title").focus();
}

/** The person of the file that was picked. */
const picked = () => entry(Object.fromEntries(entries.entries()), who.value || "0");

function showMapping() {
  drawMapping(mapping, picked(), known);
  plan.hidden = true;
  mapping.hidden = false;
}

/** @param {import("./files.js").Placed} read */
async function showPlan(read) {
  seen = new Map((await everything()).map((segment) => [`${segment.domain}.${segment.segment_id}`, segment]));
  const present = new Map([...seen].flatMap(([address, { values }]) =>
    Object.entries(values).map(([name, value]) => [`${address}.${name}`, value])));
  const placed = [...read.found].filter(([path]) => Object.hasOwn(known, segmentOf(path)));
  found = new Map(placed.filter(([path, value]) => JSON.stringify(present.get(path)) !== JSON.stringify(value)));
  const homeless = [...read.skipped, ...[...read.found.keys()].filter((path) => !(Object.hasOwn(known, segmentOf(path))))];
  find("[data-plan]", plan).replaceChildren(...planned(present));
  find("[data-skipped]", plan).textContent = skippedWords(homeless, placed.length - found.size);
  find("#import-start").hidden = !found.size;
  plan.hidden = false;
  find("#plan-title").focus();
}

/** @param {string} path */
const segmentOf = (path) => path.split(".").slice(0, 2).join(".");

/** @param {string[]} homeless @param {number} same */
function skippedWords(homeless, same) {
  return [
    found.size ? "" : gettext("Nothing would change."),
    same ? interpolate(gettext("%(count)s already the same."), { count: same }) : "",
    homeless.length ? interpolate(gettext("No place for: %(names)s."), { names: homeless.slice(0, 12).join(", ") }) : "",
  ].filter(Boolean).join(" ");
}

/** @param {Map<string, unknown>} present @returns {HTMLElement[]} */
function planned(present) {
  const addresses = [...new Set([...found.keys()].map(segmentOf))];
  return addresses.map((address) => make("section", { class: "value-group" }, [
    make("h4", { class: "value-domain" }, [entry(known, address).label]),
    make("ul", { class: "values", role: "list" }, [...found].filter(([path]) => segmentOf(path) === address).map(([path, value]) => {
      const [, , name = ""] = path.split(".");
      const words = entry(known, address).attributes;
      const word = Object.hasOwn(words, name) ? words[name] : undefined;
      // of a day that is not whole no age follows: it replaces another only where that is wanted
      const replacesMore = present.has(path) && word?.autocomplete === "bday" && !asDay(String(value));
      const box = make("input", { type: "checkbox", value: path, ...(replacesMore ? {} : { checked: "" }) });
      const before = present.has(path) ? interpolate(gettext("now: %(value)s"), { value: inWords(present.get(path), word) }) : gettext("new");
      return make("li", { class: "value" }, [
        make("label", { class: "value-pick" }, [box, make("span", { class: "value-label" }, [word?.label ?? humanised(name)])]),
        make("span", { class: "value-data" }, breakable(value === null ? gettext("(empty)") : inWords(value, word))),
        make("span", { class: "value-flags sm mut" }, [before]),
      ]);
    })),
  ]));
}

/** One segment after another; what is saved leaves the list, so that pressing again goes on where it stopped. */
async function importTicked() {
  const ticked = all("input:checked", plan).map((box) => /** @type {HTMLInputElement} */ (box).value);
  if (!ticked.length) throw new RangeError(gettext("Tick at least one thing to import, or cancel."));
  const addresses = [...new Set(ticked.map(segmentOf))];
  const progress = find("[data-progress]", plan);
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  stopped = false;
  progress.hidden = false;
  bar.max = addresses.length;
  try {
    for (const [done, address] of addresses.entries()) {
      if (stopped) break;
      bar.value = done;
      find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total: addresses.length });
      const [domain = "", segment = ""] = address.split(".");
      const paths = ticked.filter((path) => segmentOf(path) === address);
      const changes = Object.fromEntries(paths.map((path) => [path.split(".")[2], found.get(path)]));
      seen.set(address, await writeAll(domain, segment, changes, seen.get(address) ?? null));
      for (const box of all("input:checked", plan)) if (paths.includes(/** @type {HTMLInputElement} */ (box).value)) box.closest("li")?.remove();
    }
  } finally {
    progress.hidden = true;
    void refreshExports();
  }
  toast(stopped ? gettext("Stopped. What was saved before stays; choose the file again to go on.") : gettext("Imported."), stopped ? "info" : "success");
  closed();
}

function close() {
  plan.hidden = mapping.hidden = true;
  entries = [];
  seen = new Map();
  find("[data-mapping]", mapping).replaceChildren();
  find("[data-plan]", plan).replaceChildren();
  found = new Map();
}

function closed() {
  close();
  file.value = "";
}

find("#export").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(exportAll)));
file.addEventListener("change", () => guarded(choose));
who.addEventListener("change", showMapping);
mapping.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", mapping), () => guarded(() => showPlan(mapped(mapping, picked(), known))));
});
find("#import-start").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(importTicked)));
find("#import-cancel").addEventListener("click", () => {
  stopped = true;
  if (find("[data-progress]", plan).hidden) closed();
});
void followLock({ closed });
