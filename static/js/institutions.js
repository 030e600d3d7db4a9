// @ts-check
// Linked institutions while one of them is being read: the page is made anew once that ended.

import { keepLooking } from "./looking.js";
import { find } from "./page.js";
import { call } from "./vault/api.js";

const UNFINISHED = ["queued", "running"];

/** @typedef {{refresh: {status: string} | null}} Item */

async function look() {
  /** @type {{items: Item[]}} */
  const { items } = await call("GET", find("#reading").dataset.address ?? "");
  if (!items.some(({ refresh }) => refresh && UNFINISHED.includes(refresh.status))) location.reload();
}

void keepLooking(look, { every: 1500, afterTrouble: 6000 });
