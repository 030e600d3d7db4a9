// @ts-check
// Stopping is a plain form, which needs no key and no script. Where the vault is open, it forgets with the stop that it
// approved this, so that nothing that is written elsewhere can bring it back.

import { all } from "./page.js";
import { isUnlocked, stopSharing } from "./vault/vault.js";

const PATIENCE = 3000; // milliseconds: a stop waits for nobody longer

/** @param {HTMLFormElement} form */
async function stop(form) {
  try {
    const { grant = "", stop: digest = "" } = form.dataset;
    if (await isUnlocked()) await Promise.race([stopSharing(grant, digest), new Promise((late) => setTimeout(late, PATIENCE))]);
  } catch {
    // the form stops it in any case; what the vault remembers goes once it has read its history
  }
  form.submit(); // the page that follows tells what happened; a stop that is repeated is one stop
}

for (const form of /** @type {HTMLFormElement[]} */ (all("form[data-stop]"))) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const button of all("button", form)) /** @type {HTMLButtonElement} */ (button).disabled = true;
    void stop(form);
  });
}
