// @ts-check
// Adding and changing ways to unlock: an existing secret is asked for again, since the kept key cannot be read.

import { existingSecret } from "./existing_secret.js";
import { gettext, interpolate } from "./i18n.js";
import { all, find, onSubmit, pageData } from "./page.js";
import { passphraseFields } from "./passphrase.js";
import { showRecoveryCode } from "./recovery.js";
import { passkeysSupported, prepareWays } from "./vault/vault.js";

/** @typedef {import("./vault/types.js").WrapperKind} WrapperKind */
/** @typedef {Awaited<ReturnType<typeof prepareWays>>} Ways */
/** @typedef {{kind: WrapperKind, label: string, replaced: string | null}} Wish `replaced` is the wrapper that goes */

const dialog = /** @type {HTMLDialogElement} */ (find("#add-dialog"));
const form = find("#add-form");
const confirm = find("#confirm-form");
const typed = /** @type {HTMLInputElement} */ (find("#confirm-group"));
const label = /** @type {HTMLInputElement} */ (find("#way-label"));
const panels = { give: form, code: find("#new-code"), done: find("#way-changed") };
const existing = existingSecret();
const passphrase = passphraseFields(pageData("known"));
/** @type {Wish} */
let wish = { kind: "passphrase", label: "", replaced: null };

/** @type {{ways: Ways, shown: ReturnType<typeof showRecoveryCode>} | null} which code has to be confirmed */
let pending = null;

/** @param {keyof typeof panels} shown */
function show(shown) {
  for (const [name, panel] of Object.entries(panels)) panel.hidden = name !== shown;
}

/** @param {Wish} wanted @param {string} title */
function open(wanted, title) {
  wish = wanted;
  find("#add-title").textContent = title;
  for (const part of all("[data-for]", form)) part.hidden = !part.dataset.for?.split(" ").includes(wish.kind);
  find("#label-field").hidden = wish.kind === "recovery" || wish.replaced !== null;
  label.value = wish.label;
  find("#add-submit").textContent = wish.kind === "recovery" ? gettext("Go on") : wish.replaced ? gettext("Change") : gettext("Add");
  show("give");
  find("[data-error]", form).hidden = true;
  dialog.showModal();
  existing.focus();
}

async function prepare() {
  const ways = await prepareWays(existing.given(), [await wanted()]);
  if (ways.recoveryCode) showCode(ways, ways.recoveryCode);
  else await finish(ways);
}

async function wanted() {
  const { kind } = wish;
  const name = label.value.trim() || wish.label;
  if (kind === "passphrase") return { kind, label: name, secret: await passphrase.checked() };
  return kind === "recovery" ? { kind, label: name } : { kind, label: name, person: pageData("person") };
}

/** @param {Ways} ways */
async function finish(ways) {
  await ways.confirm(wish.replaced ? [wish.replaced] : []);
  existing.clear();
  passphrase.clear();
  if (!wish.replaced) return location.reload();
  for (const part of all("[data-changed]")) part.hidden = part.dataset.changed !== wish.kind;
  show("done");
  find("#way-changed h2").focus();
}

/** Until the code is confirmed nothing was sent: closing the dialog changes nothing. @param {Ways} ways @param {string} code */
function showCode(ways, code) {
  pending = { ways, shown: showRecoveryCode(code) };
  typed.value = "";
  find("[data-error]", confirm).hidden = true;
  show("code");
  typed.focus();
}

async function confirmed() {
  if (!pending?.shown.matches(typed.value)) throw new RangeError(gettext("That is not this group. Look at what you wrote down."));
  await finish(pending.ways);
  pending.shown.forget();
}

/** @type {Record<string, () => {title: string, label: string}>} by what is added */
const ADDED = {
  passkey: () => ({ title: gettext("Add a passkey"), label: gettext("Passkey") }),
  passphrase: () => ({ title: gettext("Add a passphrase"), label: gettext("Passphrase") }),
  recovery: () => ({ title: gettext("New recovery code"), label: gettext("Recovery code") }),
};

for (const button of all("[data-add]")) {
  const kind = /** @type {WrapperKind} */ (button.dataset.add);
  if (kind === "passkey") button.hidden = !passkeysSupported();
  button.addEventListener("click", () => {
    const words = ADDED[kind]?.();
    if (words) open({ kind, label: words.label, replaced: null }, words.title);
  });
}
for (const button of all("[data-change]")) {
  const { change = "", kind = "", label: name = "" } = button.dataset;
  button.addEventListener("click", () => {
    open({ kind: /** @type {WrapperKind} */ (kind), label: name, replaced: change }, interpolate(gettext("Change: %(name)s"), { name }));
  });
}
onSubmit(form, prepare);
onSubmit(confirm, confirmed);
dialog.addEventListener("close", () => {
  existing.clear();
  passphrase.clear();
  find("#recovery-code").replaceChildren();
  if (!panels.done.hidden) location.reload();
});
