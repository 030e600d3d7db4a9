// @ts-check
// The log of a webhook endpoint: what changes on the server changes here, row by row, while "Live" is ticked.

import { keepLooking } from "./looking.js";
import { all, find, fromTemplate, make } from "./page.js";
import { call } from "./vault/api.js";

/** @type {Record<string, string>} */
const TONES = { delivered: "ok", given_up: "bad" };

/**
 * @typedef {{delivery_pk: number, kind: string, sequence: number, status: string, label: string, attempts: number,
 *   status_code: number | null, ms: number | null, tried_at: string | null, next_at: string | null, is_due: boolean,
 *   error: string, replay_url: string}} Delivery
 */

const log = find("#deliveries");
const body = find("tbody", log);

/** @param {Element} row @param {string} name @param {string} text */
function write(row, name, text) {
  for (const place of all(`[data-field="${name}"]`, row)) if (place.textContent !== text) place.textContent = text;
}

/** @param {Element} row @param {string} name @param {string | null} moment @param {boolean} isDue */
function writeTime(row, name, moment, isDue = false) {
  const place = find(`[data-time="${name}"]`, row);
  if (isDue || !moment) {
    const words = isDue ? place.dataset.due ?? "" : "–";
    if (place.textContent !== words) place.textContent = words;
  } else if (place.querySelector("time")?.dateTime !== moment) place.replaceChildren(make("time", { datetime: moment, "data-relative": "" }, [moment]));
}

/** @param {Delivery} delivery */
function toneOf(delivery) {
  return TONES[delivery.status] ?? (delivery.error ? "warn" : "n");
}

/** @param {HTMLElement} row @param {Delivery} delivery */
function fill(row, delivery) {
  row.dataset.delivery = String(delivery.delivery_pk);
  write(row, "kind", delivery.kind);
  write(row, "sequence", String(delivery.sequence));
  write(row, "label", delivery.label);
  find('[data-field="label"]', row).className = `badge b-${toneOf(delivery)}`;
  write(row, "error", delivery.error);
  write(row, "attempts", String(delivery.attempts));
  write(row, "status_code", delivery.status_code === null ? "–" : String(delivery.status_code));
  write(row, "took", delivery.ms === null ? "" : ` · ${delivery.ms} ms`);
  writeTime(row, "tried_at", delivery.tried_at);
  writeTime(row, "next_at", delivery.next_at, delivery.is_due);
  find("form", row).setAttribute("action", delivery.replay_url);
}

/** Rows that stay are changed in place, so that nobody loses their focus. @param {Delivery[]} deliveries */
function show(deliveries) {
  const known = new Map(all("tr", body).map((row) => [row.dataset.delivery, row]));
  const wanted = deliveries.map((delivery) => {
    const row = known.get(String(delivery.delivery_pk)) ?? fromTemplate("delivery");
    known.delete(String(delivery.delivery_pk));
    fill(row, delivery);
    return row;
  });
  known.forEach((row) => row.remove());
  wanted.forEach((row, place) => {
    if (body.children[place] !== row) body.insertBefore(row, body.children[place] ?? null);
  });
  find("[data-table]", log).hidden = !deliveries.length;
  find("[data-empty]", log).hidden = deliveries.length > 0;
  document.dispatchEvent(new Event("shell:refresh"));
}

async function look() {
  const live = /** @type {HTMLInputElement} */ (find("#live"));
  if (live.checked) show((await call("GET", log.dataset.address ?? "")).deliveries);
}

if (log.dataset.address) void keepLooking(look, { every: 3000, afterTrouble: 10000 });
