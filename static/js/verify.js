// @ts-check
// Any receipt, pasted or dropped: read and checked in this browser. Only our public keys are fetched, once.

import { gettext } from "./i18n.js";
import { busy, explain, find, toast } from "./page.js";
import { check, fetchKeys } from "./proofs.js";
import { inWords, verdict } from "./receipt_words.js";

const LARGEST = 256 * 1024;
const form = find("#verify-form");
const text = /** @type {HTMLTextAreaElement} */ (find("#receipt"));
const result = find("#receipt-result");
let keys = fetchKeys();
keys.catch(() => undefined); // said when the person asks

async function verify() {
  result.replaceChildren();
  try {
    const checked = await check(text.value, { issuer: form.dataset.issuer ?? "", keys: await keys });
    const titles = { holds: gettext("This receipt is genuine."), fails: gettext("This receipt cannot be trusted.") };
    result.replaceChildren(verdict(checked, titles), ...(checked.claims ? [inWords(checked.claims)] : []));
    result.focus();
  } catch (error) {
    keys = fetchKeys();
    toast(explain(error), "warn");
  }
}

/** @param {File | undefined} file */
async function take(file) {
  if (!file) return;
  if (file.size > LARGEST) {
    toast(gettext("This file is too large to be a receipt."), "warn");
    return;
  }
  text.value = (await file.text()).trim();
  await verify();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), verify);
});
find("#receipt-file").addEventListener("change", (event) => void take(/** @type {HTMLInputElement} */ (event.target).files?.[0]));
form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("is-over");
});
form.addEventListener("dragleave", () => form.classList.remove("is-over"));
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("is-over");
  void take(event.dataTransfer?.files[0]);
});
