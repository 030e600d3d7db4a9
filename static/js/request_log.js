// @ts-check
// The request log while somebody looks: new calls appear at its top. Nothing is asked for while the page is hidden.

import { region } from "./i18n.js";
import { find, fromTemplate } from "./page.js";
import { call, isInterrupted } from "./vault/api.js";

/** @typedef {{at: string, method: string, route: string, status: number, code: string | null, trace_id: string, ms: number}} Call */

const EVERY = 2000; // milliseconds; the server writes calls down every second
const EVERY_WHILE_AWAY = 10000;
const MOST_ROWS = 200;

const live = find("#log-live");
const state = find("[data-state]", live);
const toggle = find("[data-toggle]", live);
const rows = find("#log-rows");
const time = new Intl.DateTimeFormat(region(), {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: "UTC",
});

for (const at of rows.querySelectorAll("time")) at.textContent = `${time.format(new Date(at.dateTime))} UTC`;

let cursor = live.dataset.cursor ?? "";
let isPaused = false;
/** @type {number | undefined} */
let timer;

/** @param {string} text a line that stays the same is not announced again */
const say = (text = "") => {
  if (state.textContent !== text) state.textContent = text;
};

/** @param {Call} logged */
function row(logged) {
  const made = fromTemplate("log-row");
  const at = /** @type {HTMLTimeElement} */ (find("[data-at]", made));
  at.dateTime = logged.at;
  at.textContent = `${time.format(new Date(logged.at))} UTC`;
  find("[data-call]", made).textContent = `${logged.method} ${logged.route}`;
  const status = find("[data-status]", made);
  status.textContent = String(logged.status);
  status.classList.add(logged.status >= 500 ? "b-bad" : logged.status >= 400 ? "b-warn" : "b-n");
  const code = find("[data-code]", made);
  code.textContent = logged.code ?? "";
  const help = /** @type {HTMLAnchorElement} */ (find("[data-help]", made));
  if (logged.code) help.href = `${help.dataset.help}#${logged.code}`;
  help.hidden = !logged.code;
  find("[data-none]", made).hidden = Boolean(logged.code);
  find("[data-ms]", made).textContent = String(logged.ms);
  find("[data-trace]", made).textContent = logged.trace_id;
  return made;
}

/** @param {Call[]} calls newest first */
function show(calls) {
  if (!calls.length) return;
  rows.prepend(...calls.map(row));
  while (rows.children.length > MOST_ROWS) rows.lastElementChild?.remove();
  find("#log-table").hidden = false;
  find("#log-empty").hidden = true;
}

async function look() {
  let next = EVERY;
  try {
    const query = new URLSearchParams(live.dataset.query);
    if (cursor) query.set("cursor", cursor);
    const found = await call("GET", `${live.dataset.url}?${query}`);
    if (isPaused) return;
    cursor = found.cursor;
    show(found.items);
    say(live.dataset.on);
  } catch (error) {
    if (isInterrupted(error)) return; // the page says so itself, and leads back here
    say(live.dataset.away);
    next = EVERY_WHILE_AWAY;
  }
  wait(next);
}

/** @param {number} milliseconds */
function wait(milliseconds) {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = window.setTimeout(look, milliseconds);
}

toggle.addEventListener("click", () => {
  isPaused = !isPaused;
  toggle.textContent = (isPaused ? live.dataset.go : live.dataset.pause) ?? "";
  say(isPaused ? live.dataset.off : live.dataset.on);
  wait(0);
});
document.addEventListener("visibilitychange", () => wait(0));
say(live.dataset.on);
wait(EVERY);
