// @ts-check
// A running analysis: its steps as they are now. The bar moves when a step ends, and never on a timer.

import { gettext, interpolate, ngettext, region } from "./i18n.js";
import { keepLooking } from "./looking.js";
import { explain, find, pageData } from "./page.js";
import { call } from "./vault/api.js";

const UNFINISHED = ["queued", "running"];
const TENTHS = new Intl.NumberFormat(region(), { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const live = find("#live");
const problem = find("#live-problem");
/** @type {{arriving: string, states: Record<string, string>, marks: Record<string, string>, reasons: Record<string, string>}} */
const words = pageData("words");
const began = performance.now() - Number(live.dataset.elapsed) * 1000;

/** @typedef {{agent: string, status: string, durationMs: number | null, fieldCount: number | null, errorCode: string | null, arrived: number | null}} Step */

/** @param {Step} step */
function show({ agent, status, durationMs, fieldCount, errorCode, arrived }) {
  const row = find(`[data-agent="${CSS.escape(agent)}"]`, live);
  const mark = words.marks[status];
  const word = (status === "running" && arrived ? words.arriving : words.states[status]) ?? "";
  if (row.dataset.state === mark && find("[data-word]", row).textContent === word) return;
  if (mark === "asking") location.reload(); // for the form of its answer
  row.dataset.state = mark;
  find("[data-word]", row).textContent = word;
  find("[data-reason]", row).textContent = (errorCode && words.reasons[errorCode]) || "";
  find("[data-took]", row).textContent = took(durationMs, fieldCount);
  find("#live-news").textContent = `${find(".t", row).textContent}: ${word}`;
}

/** @param {number | null} durationMs @param {number | null} fieldCount */
function took(durationMs, fieldCount) {
  if (durationMs === null) return "";
  const time = interpolate(gettext("%(seconds)s s"), { seconds: TENTHS.format(Math.max(durationMs / 1000, 0.1)) });
  return fieldCount === null ? time : interpolate(ngettext("%(fields)s field, %(time)s", "%(fields)s fields, %(time)s", fieldCount), { fields: fieldCount, time });
}

/** @param {{done: number, total: number}} progress */
function count({ done, total }) {
  /** @type {HTMLProgressElement} */ (find("#live-bar")).value = done;
  find("#live-count").textContent = interpolate(gettext("%(done)s of %(total)s steps ended"), { done, total });
}

async function look() {
  try {
    const found = await call("GET", live.dataset.address ?? "");
    found.steps.forEach(show);
    count(found.progress);
    problem.hidden = true;
    if (!UNFINISHED.includes(found.status)) location.reload();
  } catch (error) {
    problem.textContent = explain(error);
    problem.hidden = false;
    throw error;
  }
}

function tick() {
  const seconds = Math.floor((performance.now() - began) / 1000);
  const whole = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  find("#live-elapsed").textContent = seconds < 60 ? interpolate(gettext("%(seconds)s s"), { seconds }) : whole;
}

setInterval(tick, 1000);
tick();
void keepLooking(look, { every: 700, afterTrouble: 4000 });
