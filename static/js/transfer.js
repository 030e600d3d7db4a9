// @ts-check
// All of it out as a file, or a file in: with a look at what would change, one segment after another, stoppable.

import { readFile } from "./files.js";
import { gettext, interpolate } from "./i18n.js";
import { all, busy, entry, explain, find, make, pageData, toast } from "./page.js";
import { save } from "./recovery.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { humanised, inWords } from "./values.js";
import { openAll, writeAttributes } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @type {Record<string, {label: string, attributes: Record<string, Word>}>} "domain.segment" → its words */
const known = pageData("known");
const problem = find("#transfer-problem");
const plan = find("#import-plan");
const file = /** @type {HTMLInputElement} */ (find("#import-file"));
/** @type {Map<string, unknown>} */
let found = new Map();
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
    problem.textContent = error instanceof RangeError ? error.message : explain(error);
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

async function showPlan() {
  const chosen = file.files?.[0];
  if (!chosen) return;
  const read = readFile(await chosen.text(), chosen.name);
  const present = new Map((await everything()).flatMap(({ domain, segment_id, values }) =>
    Object.entries(values).map(([name, value]) => [`${domain}.${segment_id}.${name}`, value])));
  const placed = [...read.found].filter(([path]) => segmentOf(path) in known);
  found = new Map(placed.filter(([path, value]) => JSON.stringify(present.get(path)) !== JSON.stringify(value)));
  const homeless = [...read.skipped, ...[...read.found.keys()].filter((path) => !(segmentOf(path) in known))];
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
      const word = entry(known, address).attributes[name];
      const box = make("input", { type: "checkbox", value: path, checked: "" });
      const before = present.has(path) ? interpolate(gettext("now: %(value)s"), { value: inWords(present.get(path), word) }) : gettext("new");
      return make("li", { class: "value" }, [
        make("label", { class: "value-pick" }, [box, make("span", { class: "value-label" }, [word?.label ?? humanised(name)])]),
        make("span", { class: "value-data" }, [inWords(value, word)]),
        make("span", { class: "value-flags small muted" }, [before]),
      ]);
    })),
  ]));
}

async function importTicked() {
  const ticked = all("input:checked", plan).map((box) => /** @type {HTMLInputElement} */ (box).value);
  const addresses = [...new Set(ticked.map(segmentOf))];
  const progress = find("[data-progress]", plan);
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  stopped = false;
  progress.hidden = false;
  bar.max = addresses.length || 1;
  for (const [done, address] of addresses.entries()) {
    if (stopped) break;
    bar.value = done;
    find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total: addresses.length });
    const [domain = "", segment = ""] = address.split(".");
    const changes = Object.fromEntries(ticked.filter((path) => segmentOf(path) === address).map((path) => [path.split(".")[2], found.get(path)]));
    await writeAttributes(domain, segment, changes);
    for (const name of Object.keys(changes)) found.delete(`${address}.${name}`);
  }
  progress.hidden = true;
  if (stopped) {
    toast(gettext("Stopped. What was saved before stays; choose the file again to go on."), "info");
  } else {
    toast(gettext("Imported."));
  }
  void refreshExports();
  close();
}

function close() {
  plan.hidden = true;
  find("[data-plan]", plan).replaceChildren();
  file.value = "";
  found = new Map();
}

find("#export").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(exportAll)));
file.addEventListener("change", () => guarded(showPlan));
find("#import-start").addEventListener("click", (event) => busy(/** @type {HTMLElement} */ (event.currentTarget), () => guarded(importTicked)));
find("#import-cancel").addEventListener("click", () => {
  stopped = true;
  if (find("[data-progress]", plan).hidden) close();
});
void followLock({ closed: close });
