// @ts-check
// What a request lacks, entered on its sheet: it is sealed into the vault, and shared by nothing but the decision after.

import { bySegment, showFields } from "./fields.js";
import { gettext } from "./i18n.js";
import { find, onSubmit, pageData } from "./page.js";
import { isUnlocked } from "./vault/keyring.js";

/** Loaded when something is to be sealed. */
const vault = () => import("./vault/vault.js");

/**
 * Whoever has no vault yet gets one that the passkey opens which signed them in; the page says what that means.
 * @param {HTMLFormElement} form @param {() => void} askForKey
 */
export function enterMissing(form, askForKey) {
  /** @type {{fields: import("./fields.js").Field[], person: {name: string, displayName: string, signIn?: string[]} | null}} */
  const { fields, person } = pageData("enter");
  const editors = showFields(find("[data-fields]", form), "enter", fields);
  onSubmit(form, async () => {
    const parts = bySegment(editors);
    if (!parts.length) throw new RangeError(gettext("Enter something first."));
    if (!person && !(await isUnlocked())) {
      askForKey();
      return;
    }
    form.dataset.busy = "";
    try {
      const { createVault, writeAttributes } = await vault();
      if (person && !(await isUnlocked())) await (await createVault({ person, labels: { passphrase: gettext("Passphrase"), passkey: gettext("Passkey"), recovery: gettext("Recovery code") }, withCode: false })).confirm();
      for (const { domain, segment, values } of parts) await writeAttributes(domain, segment, values);
    } catch (error) {
      delete form.dataset.busy;
      throw error;
    }
    location.reload(); // with the rows that are there now, for the values to stand in
  });
}
