// @ts-check
// The first few things: one short form over several segments.

import { dropDraft, keepDraft, openDraft } from "./drafts.js";
import { bySegment, showFields } from "./fields.js";
import { gettext, interpolate } from "./i18n.js";
import { busy, explain, find, pageData } from "./page.js";
import { followLock } from "./unlock.js";
import { Conflict, isInterrupted, Locked, openAll, writeAttributes } from "./vault/vault.js";

const NEXT = "/vault/setup/preview/";
const form = find("#first-form");
/** @type {import("./fields.js").Field[]} */
const fields = pageData("fields");
/** @type {import("./fields.js").Editors} */
let editors = new Map();

async function opened() {
  if (editors.size) return;
  try {
    const domains = [...new Set(fields.map(({ path }) => path.split(".")[0]))];
    const stored = (await Promise.all(domains.map((domain) => openAll({ domain })))).flat();
    const initialValues = new Map(stored.flatMap(({ domain, segment_id, values }) => Object.entries(values).map(([name, value]) => [`${domain}.${segment_id}.${name}`, value])));
    for (const [path, value] of Object.entries((await openDraft("first")) ?? {})) initialValues.set(path, value);
    const { email } = form.dataset;
    if (email && !initialValues.has("contact.email.email")) initialValues.set("contact.email.email", email);
    editors = showFields(find("[data-fields]", form), "first", fields, initialValues);
  } catch (error) {
    if (!(error instanceof Locked)) fail(explain(error));
  }
  find(".form-actions", form).hidden = false; // below the fields, not in their place
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

async function store() {
  fail("");
  const progress = find("[data-progress]", form);
  try {
    const parts = bySegment(editors);
    progress.hidden = !parts.length;
    for (const [done, { domain, segment, values }] of parts.entries()) {
      find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total: parts.length });
      const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
      bar.max = parts.length;
      bar.value = done;
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
