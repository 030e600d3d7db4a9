// @ts-check
// Stopping is a plain form, which needs no key and no script. Where the vault is open, it forgets with the stop that it
// approved this, so that nothing that is written elsewhere can bring it back.

import { all, make } from "./page.js";
import { isUnlocked, notesWithoutApp, stopSharing } from "./vault/vault.js";

const PATIENCE = 3000; // milliseconds: a stop waits for nobody longer

/** @param {HTMLFormElement} form */
async function forget(form) {
  const { grant = "", stop = "", stopAll } = form.dataset;
  if (!(await isUnlocked())) return;
  if (stopAll === undefined) await stopSharing(grant, stop);
  else if (form.querySelector("[name=stop]:not(:checked)") === null) {
    const notes = JSON.stringify(await notesWithoutApp(stopAll));
    form.append(make("input", { type: "hidden", name: "notes", value: notes }));
  }
}

/** @param {HTMLFormElement} form */
async function stop(form) {
  try {
    await Promise.race([forget(form), new Promise((late) => setTimeout(late, PATIENCE))]);
  } catch {
    // the form stops it in any case; what the vault remembers goes once it has read its history
  }
  form.submit(); // the page that follows tells what happened; a stop that is repeated is one stop
}

for (const form of /** @type {HTMLFormElement[]} */ (all("form[data-stop], form[data-stop-all]"))) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const button of all("button", form)) /** @type {HTMLButtonElement} */ (button).disabled = true;
    void stop(form);
  });
}
