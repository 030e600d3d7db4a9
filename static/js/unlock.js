// @ts-check
// The panel that unlocks, right where something is locked. Pages listen for the key; they need not know who turned it.

import { gettext } from "./i18n.js";
import { all, busy, explain, find, toast, whenLoaded } from "./page.js";
import { getKeys } from "./vault/api.js";
import { changes, isUnlocked } from "./vault/keyring.js";
import { passkeysSupported } from "./vault/passkey.js";

// What opens a vault weighs more than the page: it comes after it, and before anybody has typed a passphrase.
const unlocking = () => import("./vault/unlocking.js");
const notes = () => import("./vault/notes.js");
const fetchAhead = () => void Promise.allSettled([unlocking(), notes()]);

/**
 * Calls `opened` whenever the vault is unlocked (now, too) and `closed` whenever it is locked; elements with
 * `data-when="locked"` or `data-when="unlocked"` come and go.
 * @param {{opened?: () => unknown, closed?: () => unknown}} page
 */
export async function followLock({ opened = () => {}, closed = () => {} }) {
  const look = (/** @type {boolean} */ unlocked) => {
    for (const element of all("[data-when]")) element.hidden = (element.dataset.when === "unlocked") !== unlocked;
    return unlocked ? opened() : closed();
  };
  changes.addEventListener("unlocked", () => look(true));
  changes.addEventListener("locked", (event) => {
    look(false);
    const { reason } = /** @type {CustomEvent} */ (event).detail ?? {};
    if (reason === "key_changed") toast(gettext("The key of your data was changed on another device. Unlock your data again."), "info");
    if (reason === "idle") toast(gettext("Your data was locked after 15 minutes without activity."), "info");
  });
  const forms = all("form[data-unlock]");
  forms.forEach((form) => wire(/** @type {HTMLFormElement} */ (form)));
  if (forms.length) whenLoaded(fetchAhead);
  const back = new URLSearchParams({ next: location.pathname + location.search });
  for (const way of all("a[data-recover]")) /** @type {HTMLAnchorElement} */ (way).search = back.toString();
  try {
    await look(await isUnlocked());
  } finally {
    delete document.documentElement.dataset.vault; // the page is as it stays: see shell.js
  }
}

/** @param {HTMLFormElement} form */
function wire(form) {
  const secrets = { passphrase: find("[data-secret=passphrase]", form), recovery: find("[data-secret=recovery]", form) };
  const other = find("[data-unlock-other]", form);
  const button = /** @type {HTMLButtonElement} */ (find("button[type=submit]", form));
  /** @type {"passphrase" | "recovery"} */
  let kind = "passphrase";
  let hasTyped = true; // a way in that is typed
  /** @param {boolean} hasCode */
  const withoutPassphrase = (hasCode) => {
    kind = "recovery";
    other.hidden = true;
    hasTyped = hasCode;
    show();
  };

  const show = () => {
    for (const [name, field] of Object.entries(secrets)) field.hidden = name !== kind || !hasTyped;
    button.hidden = !hasTyped;
    other.textContent = kind === "passphrase" ? other.dataset.toRecovery ?? "" : other.dataset.toPassphrase ?? "";
    find("[data-unlock-error]", form).hidden = true;
  };
  other.addEventListener("click", () => {
    kind = kind === "passphrase" ? "recovery" : "passphrase";
    show();
    inputOf(secrets[kind]).focus();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void busy(button, () => attempt(form, { kind, secret: inputOf(secrets[kind]).value }, inputOf(secrets[kind])));
  });
  void offerPasskey(form, withoutPassphrase);
  show();
  // Until now Enter would have sent the form nowhere.
  button.disabled = false;
}

/** @param {HTMLElement} field @returns {HTMLInputElement} */
const inputOf = (field) => find("input", field);

/**
 * @param {HTMLFormElement} form
 * @param {{kind: "passphrase" | "recovery" | "passkey", secret?: string}} given
 * @param {HTMLElement} backTo where to go on typing if it was wrong
 */
async function attempt(form, given, backTo) {
  const place = find("[data-unlock-error]", form);
  place.hidden = true;
  try {
    await (await unlocking()).unlock(given);
    notes().then(({ readNotes }) => readNotes()).catch(() => undefined); // an older state than was seen here is told at once, at the top of the page
    form.reset();
    if (form.closest("[data-when]")) goToHeading();
    if (given.kind === "recovery") offerNewSecrets();
  } catch (error) {
    find("[data-text]", place).textContent = explain(error);
    place.hidden = false;
    backTo.focus();
  }
}

/** What was typed into is gone from the page: its reader goes on with what is open now. */
function goToHeading() {
  const heading = find("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Whoever needed the paper is led on to a passphrase and a paper that was not used. What is on this page stays. */
function offerNewSecrets() {
  const notice = document.getElementById("recovered");
  if (!notice) return;
  notice.hidden = false;
  notice.focus();
}

/** @param {HTMLFormElement} form @param {(hasCode: boolean) => void} withoutPassphrase what to do where this vault has none */
async function offerPasskey(form, withoutPassphrase) {
  const button = find("[data-unlock-passkey]", form);
  try {
    const kinds = form.dataset.kinds?.split(" ") ?? (await getKeys()).wrappers.map(({ kind }) => String(kind));
    if (kinds.length && !kinds.includes("passphrase")) withoutPassphrase(kinds.includes("recovery"));
    button.hidden = !passkeysSupported() || !kinds.includes("passkey");
  } catch {
    return; // the passphrase says what is wrong
  }
  button.addEventListener("click", () => busy(button, () => attempt(form, { kind: "passkey" }, button)));
}
