// @ts-check
// Trying the recovery code: it is opened with here, and only that it was tried is told.

import { gettext } from "./i18n.js";
import { find, onSubmit } from "./page.js";
import { tryRecoveryCode } from "./vault/vault.js";

const form = find("#check-form");
const code = /** @type {HTMLInputElement} */ (find("#check-code"));
const good = find("#check-good");

onSubmit(form, async () => {
  good.hidden = true;
  try {
    await tryRecoveryCode(code.value);
  } catch (error) {
    code.focus();
    throw error;
  }
  code.value = "";
  good.textContent = gettext("This code opens your data. Put it back where it is safe.");
  good.hidden = false;
  document.getElementById("check-due")?.remove();
});
