// @ts-check
// Adding ways to unlock: an existing secret is asked for again, since the kept key cannot be read.

import { gettext } from "./i18n.js";
import { all, busy, explain, find, pageData } from "./page.js";
import { passphraseFields } from "./passphrase.js";
import { showRecoveryCode } from "./recovery.js";
import { addWrapper, passkeysSupported } from "./vault/vault.js";

/** @typedef {"passphrase" | "recovery" | "passkey"} Kind */

const dialog = /** @type {HTMLDialogElement} */ (find("#add-dialog"));
const form = find("#add-form");
const passphrase = passphraseFields(pageData("known"));
const secret = /** @type {HTMLInputElement} */ (find("#existing-secret"));
/** @type {Kind} */
let kind = "passphrase";

/** @param {HTMLElement} where @param {string} text */
function fail(where, text) {
  const place = find("[data-error]", where);
  place.textContent = text;
  place.hidden = !text;
}

/** @param {Kind} wanted */
function open(wanted) {
  kind = wanted;
  const title = find("#add-title");
  title.textContent = title.dataset[wanted] ?? "";
  for (const part of all("[data-for]", form)) part.hidden = part.dataset.for !== wanted;
  find("#new-code").hidden = true;
  form.hidden = false;
  fail(form, "");
  dialog.showModal();
  secret.focus();
}

async function add() {
  fail(form, "");
  try {
    const existing = { kind: /** @type {Kind} */ (/** @type {HTMLSelectElement} */ (find("#existing-kind")).value), secret: secret.value };
    const { recoveryCode } = await addWrapper(existing, await wanted());
    secret.value = "";
    passphrase.clear();
    if (recoveryCode) showCode(recoveryCode);
    else location.reload();
  } catch (error) {
    fail(form, error instanceof RangeError ? error.message : explain(error));
  }
}

/** @returns {Promise<{kind: Kind, label: string, secret?: string, person?: {name: string, displayName: string}}>} */
async function wanted() {
  if (kind === "passphrase") return { kind, label: gettext("Passphrase"), secret: await passphrase.checked() };
  if (kind === "recovery") return { kind, label: gettext("Recovery code") };
  const label = /** @type {HTMLInputElement} */ (find("#passkey-label")).value.trim() || gettext("Passkey");
  return { kind, label, person: pageData("person") };
}

/** @param {string} code */
function showCode(code) {
  const shown = showRecoveryCode(code);
  form.hidden = true;
  find("#new-code").hidden = false;
  const confirm = find("#confirm-form");
  find("#confirm-group").focus();
  confirm.onsubmit = (event) => {
    event.preventDefault();
    const typed = /** @type {HTMLInputElement} */ (find("#confirm-group")).value;
    if (!shown.matches(typed)) return fail(confirm, gettext("That is not this group. Look at what you wrote down."));
    shown.forget();
    location.reload();
    return undefined;
  };
}

for (const button of all("[data-add]")) {
  const wants = /** @type {Kind} */ (button.dataset.add);
  if (wants === "passkey") button.hidden = !passkeysSupported();
  button.addEventListener("click", () => open(wants));
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), add);
});
// A code that was made works from now on: it must not be closed away before it was written down.
dialog.addEventListener("cancel", (event) => {
  if (!find("#new-code").hidden) event.preventDefault();
});
