// @ts-check
// Sent messages, while the state of one of them may still change.

import { keepLooking } from "./looking.js";
import { all, find, pageData } from "./page.js";
import { call } from "./vault/api.js";

const MOST_LOOKS = 150; // a delivery that takes longer is seen when the page is opened again

/** @type {Record<string, [string, string]>} state → its word and its tone */
const states = pageData("states");
let looks = 0;

/** @param {{messageId: string, status: string}} message */
function show({ messageId, status }) {
  const row = all("[data-message]").find((one) => one.dataset.message === messageId);
  const state = states[status];
  if (!row || !state || row.dataset.status === status) return;
  const badge = find("[data-state]", row);
  row.dataset.status = status;
  badge.textContent = state[0];
  badge.className = `badge b-${state[1]}`;
  find("#sent-news").textContent = state[0];
}

async function look() {
  if (looks === MOST_LOOKS) return false;
  looks += 1;
  const { messages } = await call("GET", find("#sent").dataset.address ?? "");
  messages.forEach(show);
  return true;
}

void keepLooking(look, { every: 2000, afterTrouble: 8000 });
