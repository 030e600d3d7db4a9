// @ts-check
// What the page of a domain asks before it deletes or overwrites, and what it offers afterwards.

import { gettext } from "./i18n.js";
import { all, find, fromTemplate, make } from "./page.js";
import { inWords, isEmpty } from "./values.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {import("./vault/vault.js").Conflict} Conflict */

/** @param {string} text @param {() => unknown} undo once, when it is pressed @returns {HTMLElement} */
export function undoBar(text, undo) {
  const bar = fromTemplate("undo-bar");
  find("[data-text]", bar).textContent = text;
  find("[data-undo]", bar).addEventListener("click", () => {
    bar.remove();
    void undo();
  });
  return bar;
}

/** @param {string} what @returns {Promise<boolean>} */
export function confirmed(what) {
  const dialog = /** @type {HTMLDialogElement} */ (find("#confirm-delete"));
  find("[data-what]", dialog).textContent = what;
  return closedWith(dialog, "delete");
}

/** @param {HTMLDialogElement} dialog @param {string} value @returns {Promise<boolean>} */
function closedWith(dialog, value) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === value), { once: true }));
}

/**
 * @param {Conflict} conflict @param {(name: string) => Word} wordOf
 * @returns {Promise<Record<string, string> | null>} attribute → mine or theirs; null to go back
 */
export async function chosenOf(conflict, wordOf) {
  const dialog = /** @type {HTMLDialogElement} */ (find("#conflict"));
  const place = find("[data-differences]", dialog);
  place.replaceChildren(...conflict.attributes.map(({ attribute, mine, theirs }) => {
    const word = wordOf(attribute);
    const side = (/** @type {string} */ value, /** @type {string} */ title, /** @type {unknown} */ attributeValue) => {
      const input = /** @type {HTMLInputElement} */ (make("input", { type: "radio", name: `conflict-${attribute}`, value }));
      input.checked = value === "mine";
      const text = isEmpty(attributeValue) ? gettext("(deleted)") : inWords(attributeValue, word);
      return make("label", { class: "check" }, [input, make("span", { class: "check-text" }, [text, make("span", { class: "check-help" }, [title])])]);
    };
    return make("fieldset", { class: "fieldset", "data-attribute": attribute }, [
      make("legend", { class: "legend" }, [word.label]),
      side("mine", gettext("What you typed here"), mine),
      side("theirs", gettext("What was saved elsewhere"), theirs),
    ]);
  }));
  if (!(await closedWith(dialog, "keep"))) return null;
  return Object.fromEntries(all("[data-attribute]", place).map((set) => [
    set.dataset.attribute,
    /** @type {HTMLInputElement} */ (find("input:checked", set)).value,
  ]));
}
