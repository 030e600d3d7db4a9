// @ts-check
// Linked institutions while one of them is being read: the page is made anew once that ended.

import { find } from "./page.js";
import { call } from "./vault/api.js";

const PAUSE = 1500; // milliseconds between two looks
const PAUSE_AFTER_TROUBLE = 6000;
const UNFINISHED = ["queued", "running"];

/** @typedef {{refresh: {status: string} | null}} Item */

/** @returns {Promise<number>} how long to wait before the next look */
async function look() {
  try {
    /** @type {{items: Item[]}} */
    const { items } = await call("GET", find("#reading").dataset.address ?? "");
    if (!items.some(({ refresh }) => refresh && UNFINISHED.includes(refresh.status))) location.reload();
    return PAUSE;
  } catch {
    return PAUSE_AFTER_TROUBLE; // the page as it is stays true
  }
}

async function follow() {
  const pause = await look();
  setTimeout(() => void follow(), pause);
}

setTimeout(() => void follow(), PAUSE);
