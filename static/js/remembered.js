// @ts-check
// A browser that remembers a vault of this person says so before it makes another one: somebody may have removed the first.

import { find } from "./page.js";
import { remembersVault } from "./vault/device.js";
import { pageOwner } from "./vault/keyring.js";

/** @param {ParentNode} within what holds the notice @returns {() => boolean} whether they go on all the same */
export function warnOfOlder(within) {
  const notice = find("[data-remembered]", within);
  const userId = pageOwner()?.userId ?? "";
  void remembersVault(userId).then((remembers) => {
    notice.hidden = !remembers;
  });
  return () => /** @type {HTMLInputElement} */ (find("input", notice)).checked;
}
