// @ts-check
// Sent messages, while the state of one of them may still change.

import { all, find, pageData } from "./page.js";
import { call } from "./vault/api.js";

const PAUSE = 2000; // milliseconds between two looks
const PAUSE_AFTER_TROUBLE = 8000;
const MOST_POLLS = 150; // a delivery that takes longer is seen when the page is opened again

/** @type {Record<string, [string, string]>} state → its word and its tone */
const states = pageData("states");
let polls = 0;

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

/** @returns {Promise<number>} how long to wait before the next look */
async function look() {
  try {
    const { messages } = await call("GET", find("#sent").dataset.address ?? "");
    messages.forEach(show);
    return PAUSE;
  } catch {
    return PAUSE_AFTER_TROUBLE; // the page as it is stays true
  }
}

async function follow() {
  const pause = await look();
  polls += 1;
  if (polls < MOST_POLLS) setTimeout(() => void follow(), pause);
}

setTimeout(() => void follow(), PAUSE);
