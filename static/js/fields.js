// @ts-check
// A short form over several segments: one field for each attribute, and what was typed by the segment that it is kept in.

import { make } from "./page.js";
import { editor, humanised } from "./values.js";

/** @typedef {{path: string, word: import("./values.js").Word}} Field */
/** @typedef {Map<string, import("./values.js").Editor>} Editors by the attribute's path */

/** @param {HTMLElement} place @param {string} prefix of the fields' IDs @param {Field[]} fields @param {Map<string, unknown>} [initialValues] @returns {Editors} */
export function showFields(place, prefix, fields, initialValues = new Map()) {
  /** @type {Editors} */
  const editors = new Map();
  place.replaceChildren(...fields.map(({ path, word }) => {
    const id = `${prefix}-${path.replaceAll(".", "-")}`;
    const [, , name = ""] = path.split(".");
    const made = editor(word, id, initialValues.get(path));
    editors.set(path, made);
    return make("div", { class: "field" }, [make("label", { class: "label", for: id }, [word.label || humanised(name)]), made.element]);
  }));
  return editors;
}

/** What is not empty. @param {Editors} editors @returns {{domain: string, segment: string, values: Record<string, unknown>}[]} @throws {RangeError} */
export function bySegment(editors) {
  /** @type {Map<string, {domain: string, segment: string, values: Record<string, unknown>}>} */
  const found = new Map();
  for (const [path, made] of editors) {
    const [domain = "", segment = "", name = ""] = path.split(".");
    const value = made.read();
    if (value === null) continue;
    const address = `${domain}.${segment}`;
    found.set(address, { domain, segment, values: { ...found.get(address)?.values, [name]: value } });
  }
  return [...found.values()];
}
