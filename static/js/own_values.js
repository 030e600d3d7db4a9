// @ts-check
// What somebody keeps, to be used in an analysis: opened here, ticked one by one, and of that alone the form has a copy.

import { isNothing } from "./fitting.js";
import { gettext, interpolate, ngettext } from "./i18n.js";
import { all, explain, find, make, pageData } from "./page.js";
import { followLock } from "./unlock.js";
import { breakable, inWords } from "./values.js";
import { openAll } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {{field: string, group: string, word: Word, value: unknown}} Offer */
/** @type {Record<string, {field: string, group: string, word: Word}>} path → the field of the profile that it is */
const places = pageData("places");
const LONGEST_VALUE = 4000; // characters of its JSON, as the server counts
const LONGEST_TEXT = 2000;
const LONGEST_OWN = 20000; // of all of it
const fold = /** @type {HTMLDetailsElement} */ (find("#own"));
const plan = find("[data-plan]", fold);
const problem = find("#own-problem");
const count = find("#own-count");
const sent = /** @type {HTMLInputElement} */ (find("#own-values"));
/** @type {Map<string, Offer>} by field */
let offered = new Map();
/** @type {Set<string>} fields that are ticked, also while the data is locked */
const chosen = new Set(pageData("chosen"));
let unlocked = false;

async function look() {
  if (!unlocked || !fold.open || offered.size) return;
  problem.hidden = true;
  try {
    const segments = await openAll({});
    const found = segments.flatMap(({ domain, segment_id, values }) =>
      Object.entries(values).flatMap(([name, value]) => {
        const path = `${domain}.${segment_id}.${name}`;
        const place = Object.hasOwn(places, path) ? places[path] : undefined;
        return place && !isNothing(value) ? [/** @type {[string, Offer]} */ ([place.field, { ...place, value }])] : [];
      }),
    );
    offered = new Map(found);
    draw();
  } catch (error) {
    tell(explain(error));
  }
}

/** @param {string} text */
function tell(text) {
  problem.textContent = text;
  problem.hidden = false;
}

function draw() {
  const groups = [...new Set(Object.values(places).map(({ group }) => group))];
  plan.replaceChildren(...groups.flatMap((group) => {
    const lines = [...offered.values()].filter((offer) => offer.group === group).map(line);
    return lines.length ? [make("section", { class: "value-group" }, [make("h3", { class: "value-domain" }, [group]), make("ul", { class: "values", role: "list" }, lines)])] : [];
  }));
  find("[data-none]", fold).hidden = offered.size > 0;
  fill();
}

/** Nothing is ticked beforehand. @param {Offer} offer */
function line({ field, word, value }) {
  const fits = isPlain(value) && JSON.stringify(value).length <= LONGEST_VALUE;
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", value: field }));
  box.disabled = !fits;
  box.checked = fits && chosen.has(field);
  const label = make("label", { class: "value-pick" }, [box, make("span", { class: "value-label" }, [word.label])]);
  const misfit = fits ? [] : [make("span", { class: "value-flags small muted" }, [gettext("does not fit this field")])];
  return make("li", { class: "value" }, [label, make("bdi", { class: "value-data" }, breakable(inWords(value, word))), ...misfit]);
}

/** A text, a number, yes or no; or a list or a group of these, as an analysis takes them. @param {unknown} value */
function isPlain(value) {
  const isOne = (/** @type {unknown} */ part) => typeof part === "number" || typeof part === "boolean" || (typeof part === "string" && part !== "" && part.length <= LONGEST_TEXT);
  return value !== null && typeof value === "object" ? Object.values(value).every(isOne) : isOne(value);
}

/** Puts into the form what is ticked, and nothing else. */
function fill() {
  const ticked = [...offered].filter(([field]) => chosen.has(field)).map(([field, { value }]) => [field, value]);
  const text = ticked.length ? JSON.stringify(Object.fromEntries(ticked)) : "";
  sent.value = text;
  if (text.length > LONGEST_OWN) tell(gettext("That is too much for one analysis. Tick less."));
  else problem.hidden = true;
  count.textContent = interpolate(ngettext("%(count)s ticked", "%(count)s ticked", ticked.length), { count: ticked.length });
  count.hidden = !ticked.length;
}

plan.addEventListener("change", () => {
  for (const box of /** @type {HTMLInputElement[]} */ (all("input", plan))) {
    if (box.checked) chosen.add(box.value);
    else chosen.delete(box.value);
  }
  fill();
});
fold.addEventListener("toggle", look);
if (chosen.size) fold.open = true;
void followLock({
  opened: () => {
    unlocked = true;
    void look();
  },
  closed: () => {
    unlocked = false;
    offered = new Map();
    plan.replaceChildren();
    fill();
  },
});
