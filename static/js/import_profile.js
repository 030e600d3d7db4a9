// @ts-check
// What an analysis found, fetched as data and written as text; what is ticked is sealed into its segments here.

import { keepChoice, takeChoice } from "./drafts.js";
import { fitted, isNothing } from "./fitting.js";
import { gettext, interpolate, ngettext } from "./i18n.js";
import { all, busy, entry, explain, find, make, pageData } from "./page.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { breakable, inWords } from "./values.js";
import { call } from "./vault/api.js";
import { isInterrupted, openAll, writeAttributes } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {{domain: string, segment: string, group: string, word: Word}} Place */
/** @type {Record<string, Place>} attribute name → its place */
const places = pageData("places");
const page = find("#keep");
const problem = find("#keep-problem");
const start = find("#keep-start");
const stop = find("#keep-stop");
const MOST_NAMED = 12;
// what agents say of their answer, and not of the person
const OF_THE_ANSWER = ["confidence", "confidence_score", "accuracy", "accuracy_score", "user_id"];
const LONG_LIST = 5; // so many to choose from, and a tap for all of them is worth its room
/** @type {Map<string, unknown>} attribute name → the value as it would be kept */
let offered = new Map();
let stopped = false;

/** @param {string} name */
const place = (name) => (Object.hasOwn(places, name) ? places[name] : undefined);

async function opened() {
  if (!find("#keep-done").hidden) return;
  problem.hidden = true;
  try {
    const [analysis, segments] = await Promise.all([
      call("GET", `/api/a2a/analyses/${encodeURIComponent(page.dataset.analysis ?? "")}`),
      openAll({}),
    ]);
    const present = new Map(segments.flatMap(({ domain, segment_id, values }) => Object.entries(values).map(([name, value]) => [`${domain}.${segment_id}.${name}`, value])));
    plan(analysis.profile ?? {}, present);
    tickAgain();
  } catch (error) {
    tell(error);
  }
}

/** What was ticked before a sign-in was needed is ticked again, and waits for the button. */
function tickAgain() {
  const before = takeChoice("keep");
  if (before) for (const box of boxes("")) if (!box.disabled) box.checked = before.includes(box.value);
}

/** @param {unknown} error */
function tell(error) {
  problem.textContent = explain(error);
  problem.hidden = false;
}

/** @param {Record<string, unknown>} profile @param {Map<string, unknown>} present */
function plan(profile, present) {
  const found = Object.entries(profile).flatMap(([name, stated]) => {
    const home = place(name);
    return home && !isNothing(stated) ? [{ name, home, stated, ...fitted(stated, home.word), now: present.get(`${home.domain}.${home.segment}.${name}`) }] : [];
  });
  const news = found.filter(({ stated, value, now }) => ![stated, value].some((one) => JSON.stringify(one) === JSON.stringify(now)));
  offered = new Map(news.filter(({ fits }) => fits).map(({ name, value }) => [name, value]));
  const groups = [...new Set(Object.values(places).map(({ group }) => group))].filter((group) => news.some(({ home }) => home.group === group));
  find("[data-plan]").replaceChildren(...groups.map((group) => make("section", { class: "value-group" }, [
    make("h3", { class: "value-domain" }, [group]),
    make("ul", { class: "values", role: "list" }, news.filter(({ home }) => home.group === group).map(line)),
  ])));
  const homeless = Object.keys(profile).filter((name) => !place(name) && !OF_THE_ANSWER.includes(name));
  find("[data-skipped]").textContent = rest(homeless.map(readable), found.length - news.length);
  start.hidden = !offered.size;
  find("#keep-select").hidden = offered.size < LONG_LIST;
}

/**
 * Nothing is ticked: nobody has checked what an agent says, so each is the person's to tick. What does not fit cannot be.
 * @param {{name: string, home: Place, value: unknown, fits: boolean, without: string[], now: unknown}} entry
 */
function line({ name, home, value, fits, without, now }) {
  const box = make("input", { type: "checkbox", value: name });
  if (!fits) box.setAttribute("disabled", "");
  const before = now === undefined ? gettext("new") : interpolate(gettext("now: %(value)s"), { value: inWords(now, home.word) });
  const left = without.length ? [interpolate(gettext("left out: %(names)s"), { names: without.slice(0, MOST_NAMED).map(readable).join(", ") })] : [];
  return make("li", { class: "value" }, [
    make("label", { class: "value-pick" }, [box, make("span", { class: "value-label" }, [home.word.label])]),
    make("bdi", { class: "value-data" }, breakable(inWords(value, home.word))),
    make("span", { class: "value-flags sm mut break" }, [(fits ? [before, ...left] : [gettext("does not fit this field")]).join(" · ")]),
  ]);
}

/** `intent_timeline` → `Intent timeline`. @param {string} name */
function readable(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string[]} homeless @param {number} same */
function rest(homeless, same) {
  return [
    offered.size ? "" : gettext("Nothing would change."),
    same ? interpolate(gettext("%(count)s already the same."), { count: same }) : "",
    homeless.length ? interpolate(gettext("No place for: %(names)s."), { names: homeless.slice(0, MOST_NAMED).join(", ") }) : "",
  ].filter(Boolean).join(" ");
}

/** @param {string} selector @returns {HTMLInputElement[]} */
const boxes = (selector) => /** @type {HTMLInputElement[]} */ (all(`[data-plan] input${selector}`));

/** @param {string} name @returns {string} "domain.segment" */
function addressOf(name) {
  const { domain, segment } = entry(places, name);
  return `${domain}.${segment}`;
}

/** One segment after another; what was sealed before a stop stays. */
async function keepTicked() {
  const ticked = boxes(":checked").map((box) => box.value).filter((name) => offered.has(name));
  if (!ticked.length) {
    problem.textContent = gettext("Choose at least one thing that is true and that you want to keep.");
    problem.hidden = false;
    return;
  }
  const addresses = [...new Set(ticked.map(addressOf))];
  const progress = find("[data-progress]");
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  stopped = false;
  problem.hidden = true;
  progress.hidden = stop.hidden = false;
  bar.max = addresses.length || 1;
  let kept = 0;
  try {
    for (const [done, address] of addresses.entries()) {
      if (stopped) break;
      bar.value = done;
      find("[data-count]").textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total: addresses.length });
      const [domain = "", segment = ""] = address.split(".");
      const names = ticked.filter((name) => addressOf(name) === address);
      await writeAttributes(domain, segment, Object.fromEntries(names.map((name) => [name, offered.get(name)])));
      kept += names.length;
    }
    void refreshExports();
    finish(kept);
  } catch (error) {
    if (isInterrupted(error)) keepChoice("keep", ticked);
    tell(error);
  } finally {
    progress.hidden = stop.hidden = true;
  }
}

/** @param {number} kept */
function finish(kept) {
  if (!kept) return;
  find("[data-done-text]").textContent = interpolate(ngettext("%(count)s thing was sealed and kept.", "%(count)s things were sealed and kept.", kept), { count: kept });
  find("section[data-when]").remove();
  find("#keep-done").hidden = false;
  find("#keep-done-title").focus();
}

start.addEventListener("click", () => busy(start, keepTicked));
for (const button of all("#keep-select button")) {
  button.addEventListener("click", () => {
    for (const box of boxes(":enabled")) box.checked = button.dataset.select === "all";
  });
}
stop.addEventListener("click", () => { stopped = true; });
void followLock({
  opened,
  closed: () => {
    document.querySelector("[data-plan]")?.replaceChildren();
    offered = new Map();
  },
});
