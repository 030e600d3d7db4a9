// @ts-check
// The first few things: one short form over several segments.

import { dropDraft, keepDraft, openDraft } from "./drafts.js";
import { gettext, interpolate } from "./i18n.js";
import { busy, explain, find, make, pageData } from "./page.js";
import { followLock } from "./unlock.js";
import { editor, humanised } from "./values.js";
import { Conflict, isInterrupted, Locked, openAll, writeAttributes } from "./vault/vault.js";

const NEXT = "/vault/setup/preview/";
const form = find("#first-form");
/** @type {{path: string, word: import("./values.js").Word}[]} */
const fields = pageData("fields");
/** @type {Map<string, import("./values.js").Editor>} */
const editors = new Map();

async function opened() {
  if (editors.size) return;
  try {
    const domains = [...new Set(fields.map(({ path }) => path.split(".")[0]))];
    const stored = (await Promise.all(domains.map((domain) => openAll({ domain })))).flat();
    const held = new Map(stored.flatMap(({ domain, segment_id, values }) => Object.entries(values).map(([name, value]) => [`${domain}.${segment_id}.${name}`, value])));
    for (const [path, value] of Object.entries((await openDraft("first")) ?? {})) held.set(path, value);
    find("[data-fields]", form).replaceChildren(...fields.map(({ path, word }) => {
      const id = `first-${path.replaceAll(".", "-")}`;
      const suggested = path === "contact.email.email" ? form.dataset.email : undefined;
      const [, , name = ""] = path.split(".");
      const made = editor(word, id, held.get(path) ?? suggested);
      editors.set(path, made);
      return make("div", { class: "field" }, [make("label", { class: "label", for: id }, [word.label || humanised(name)]), made.element]);
    }));
  } catch (error) {
    if (!(error instanceof Locked)) fail(explain(error));
  }
}

function closed() {
  editors.clear();
  find("[data-fields]", form).replaceChildren();
}

/** @param {string} text */
function fail(text) {
  const place = find("[data-error]", form);
  place.textContent = text;
  place.hidden = !text;
}

/** @returns {[string, Record<string, unknown>][]} "domain.segment" → what to write there */
function bySegment() {
  /** @type {Map<string, Record<string, unknown>>} */
  const found = new Map();
  for (const [path, made] of editors) {
    const [domain = "", segment = "", name = ""] = path.split(".");
    const value = made.read();
    if (value !== null) found.set(`${domain}.${segment}`, { ...found.get(`${domain}.${segment}`), [name]: value });
  }
  return [...found];
}

async function store() {
  fail("");
  const progress = find("[data-progress]", form);
  try {
    const parts = bySegment();
    progress.hidden = !parts.length;
    for (const [done, [address, values]] of parts.entries()) {
      find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total: parts.length });
      const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
      bar.max = parts.length;
      bar.value = done;
      const [domain = "", segment = ""] = address.split(".");
      await writeAttributes(domain, segment, values);
    }
    dropDraft("first");
    location.assign(NEXT);
  } catch (error) {
    progress.hidden = true;
    if (isInterrupted(error)) await keepDraft("first", Object.fromEntries([...editors].map(([path, made]) => [path, made.read()])));
    fail(error instanceof RangeError ? error.message : error instanceof Conflict ? gettext("This was changed somewhere else. Reload the page.") : explain(error));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), store);
});
void followLock({ opened, closed });
