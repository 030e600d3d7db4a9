// @ts-check
// Trying the recovery code: it is opened with here, and only that it was tried is told.

import { gettext } from "./i18n.js";
import { busy, explain, find } from "./page.js";
import { tryRecoveryCode } from "./vault/vault.js";

const form = find("#check-form");
const code = /** @type {HTMLInputElement} */ (find("#check-code"));
const problem = find("[data-error]", form);
const good = find("#check-good");

async function check() {
  problem.hidden = good.hidden = true;
  try {
    await tryRecoveryCode(code.value);
    code.value = "";
    good.textContent = gettext("This code opens your data. Put it back where it is safe.");
    good.hidden = false;
    document.getElementById("check-due")?.remove();
  } catch (error) {
    problem.textContent = explain(error);
    problem.hidden = false;
    code.focus();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), check);
});
/** @type {HTMLButtonElement} */ (find("button[type=submit]", form)).disabled = false;
