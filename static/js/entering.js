// @ts-check
// What a request lacks, entered on its sheet: it is sealed into the vault, and shared by nothing but the decision after.

import { dropDraft, keepDraft, openDraft } from "./drafts.js";
import { bySegment, showFields } from "./fields.js";
import { gettext } from "./i18n.js";
import { find, onSubmit, pageData } from "./page.js";
import { warnOfOlder } from "./remembered.js";
import { changes, isUnlocked } from "./vault/keyring.js";

/** Loaded when something is to be sealed. */
const vault = () => import("./vault/vault.js");

const DRAFT = "enter";
const NEEDS_SIGN_IN = ["signed_out", "csrf_failed", "reauthentication_required"];

/**
 * Whoever has no vault yet gets one that the passkey opens which signed them in; the page says what that means.
 * @param {HTMLFormElement} form @param {() => void} askForKey
 */
export function enterMissing(form, askForKey) {
  /** @type {{fields: import("./fields.js").Field[], person: {name: string, displayName: string, signIn?: string[]} | null}} */
  const { fields, person } = pageData("enter");
  const show = (/** @type {Map<string, unknown>} */ values) => showFields(find("[data-fields]", form), "enter", fields, values);
  let editors = show(new Map());
  const knowsOfOlder = person ? warnOfOlder(form) : () => true;
  const typed = () => Object.fromEntries([...editors].map(([path, made]) => [path, made.read()]).filter(([, value]) => value !== null));
  const fillIn = async () => {
    const before = await openDraft(DRAFT);
    if (!before) return;
    editors = show(new Map(Object.entries({ .../** @type {Record<string, unknown>} */ (before), ...typed() })));
    find("[data-again]", form).hidden = false;
  };
  changes.addEventListener("unlocked", () => void fillIn());
  void isUnlocked().then((unlocked) => (unlocked ? fillIn() : undefined));
  addEventListener("interrupted", (event) => {
    if (NEEDS_SIGN_IN.includes(/** @type {CustomEvent} */ (event).detail)) void keepTyped(typed);
  });
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
      const labels = { passphrase: gettext("Passphrase"), passkey: gettext("Passkey"), recovery: gettext("Recovery code") };
      if (person && !(await isUnlocked())) await (await createVault({ person, labels, withCode: false, knowsOfOlder: knowsOfOlder() })).confirm();
      for (const { domain, segment, values } of parts) await writeAttributes(domain, segment, values);
    } catch (error) {
      delete form.dataset.busy;
      throw error;
    }
    dropDraft(DRAFT);
    location.reload(); // with the rows that are there now, for the values to stand in
  });
}

/** Sealed for after the sign-in; without the vault's key nothing can be sealed, and it stays on this page alone. @param {() => Record<string, unknown>} typed */
async function keepTyped(typed) {
  let kept = false;
  try {
    const values = typed();
    kept = !Object.keys(values).length || (await keepDraft(DRAFT, /** @type {import("./drafts.js").Json} */ (values)));
  } catch { /* something typed does not fit yet */ }
  if (!kept) dispatchEvent(new CustomEvent("interrupted", { detail: "beside" }));
}
