// @ts-check
// How a value looks and how it is entered. A word (label, kind, options, parts) comes from the server's vocabulary.

import { gettext, region } from "./i18n.js";
import { make } from "./page.js";

/**
 * @typedef {{label: string, kind: string, options: Record<string, string>, parts: Record<string, Word>, autocomplete?: string}} Word
 * @typedef {{element: HTMLElement, write: (value: unknown) => void, read: () => unknown}} Editor
 */

/** @type {Word} */
const PLAIN = { label: "", kind: "text", options: {}, parts: {} };

/** `shoe_size` is "Shoe size". @param {string} name */
export const humanised = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ").trim();

/** "Shoe size" is `shoe_size`; "" where nothing is left. @param {string} label */
export const asName = (label) =>
  label.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss").replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_+$/g, "").slice(0, 64);

/**
 * A value in words, one line per part.
 * @param {unknown} value @param {Word} [word]
 * @returns {string}
 */
export function inWords(value, word = PLAIN) {
  if (value === true) return gettext("Yes");
  if (value === false) return gettext("No");
  if (typeof value === "number") return new Intl.NumberFormat(region()).format(value);
  if (Array.isArray(value)) return value.map((entry) => inWords(entry)).join(", ");
  if (value !== null && typeof value === "object") {
    return Object.entries(value)
      .filter(([, part]) => part !== null && part !== "")
      .map(([name, part]) => `${own(word.parts, name)?.label ?? humanised(name)}: ${inWords(part, own(word.parts, name))}`)
      .join("\n");
  }
  return own(word.options, String(value)) ?? asDay(String(value)) ?? String(value);
}

/** A day as RFC 3339 writes it, in the words of the reader's region. @param {string} text */
export function asDay(text) {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00Z`) : null;
  // what no month has is kept as it was written
  if (!day || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text)) return undefined;
  return new Intl.DateTimeFormat(region(), { dateStyle: "long", timeZone: "UTC" }).format(day);
}

/** What a table itself holds under a name: "constructor" is a word like any other. @template T @param {Record<string, T>} table @param {string} name */
const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

/** A text in which an e-mail address may break before each "@" and dot, as on the server's pages. @param {string} text @returns {(Node | string)[]} */
export const breakable = (text) =>
  text.includes("@") ? text.split(/(?<=[^\s@.])(?=[@.][^\s@.])/).flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])) : [text];

/** Whether there is anything to keep. @param {unknown} value */
export const isEmpty = (value) =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length) || (typeof value === "object" && !Object.keys(value).length);

/**
 * What to type into. `read()` gives null where it is empty, and throws a RangeError with words where it does not fit.
 * @param {Word} word @param {string} id @param {unknown} value what is there now: an unusual form of it is kept as it is
 * @returns {Editor}
 */
export function editor(word, id, value) {
  const kind = kindFor(word, value);
  const made = { text: textEditor, number: numberEditor, choice: choiceEditor, yesno: yesNoEditor, list: listEditor, group: groupEditor, other: otherEditor }[kind](word, id, value);
  if (!isEmpty(value)) made.write(value);
  return made;
}

/** @param {Word} word @param {unknown} value @returns {"text" | "number" | "choice" | "yesno" | "list" | "group" | "other"} */
function kindFor({ kind, parts }, value) {
  const known = /** @type {"text" | "number" | "choice" | "yesno" | "list" | "group"} */ (kind);
  if (isEmpty(value)) return known;
  if (Array.isArray(value)) return value.every((entry) => typeof entry === "string") ? "list" : "other";
  if (typeof value === "object") return kind === "group" && Object.keys(value ?? {}).every((name) => Object.hasOwn(parts, name)) ? "group" : "other";
  if (typeof value === "boolean") return "yesno";
  if (typeof value === "number") return kind === "choice" || kind === "group" ? "other" : "number";
  if (typeof value === "string") return kind === "choice" ? "choice" : "text";
  return "other";
}

/** @param {HTMLElement} element @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} input @param {(text: string) => unknown} read */
const simple = (element, input, read) => ({
  element,
  write: (/** @type {unknown} */ value) => { input.value = String(value); },
  read: () => (input.value.trim() === "" ? null : read(input.value.trim())),
});

/** @param {Word} word @param {string} id @param {unknown} value */
function textEditor(word, id, value) {
  const input = /** @type {HTMLInputElement} */ (make("input", { class: "input", id, type: "text", autocomplete: word.autocomplete ?? "off" }));
  // the rules of answers read a day as a date field gives it; what was written otherwise is kept as it is
  if (word.autocomplete === "bday" && (isEmpty(value) || asDay(String(value)))) input.type = "date";
  const made = simple(input, input, (text) => text);
  const read = () => {
    if (input.validity.badInput) throw new RangeError(gettext("Give the whole date: day, month and year."));
    return made.read();
  };
  return { ...made, read };
}

/** @param {Word} _word @param {string} id */
function numberEditor(_word, id) {
  const input = /** @type {HTMLInputElement} */ (make("input", { class: "input", id, type: "text", inputmode: "decimal", autocomplete: "off" }));
  return simple(input, input, (text) => {
    const number = Number(text.replace(",", "."));
    if (!Number.isFinite(number)) throw new RangeError(gettext("Write a number, for example 42."));
    return number;
  });
}

/** @param {Word} word @param {string} id */
function choiceEditor({ options }, id) {
  const choices = Object.entries({ "": "–", ...options });
  const select = /** @type {HTMLSelectElement} */ (make("select", { class: "select", id }, choices.map(([value, label]) => make("option", { value }, [label]))));
  const made = simple(select, select, (text) => text);
  return {
    ...made,
    write: (/** @type {unknown} */ value) => {
      // what is there already can always be kept, even if it is none of the suggestions
      if (!Object.hasOwn(options, String(value))) select.append(make("option", { value: String(value) }, [String(value)]));
      made.write(value);
    },
  };
}

/** @param {Word} word @param {string} id */
function yesNoEditor(word, id) {
  const made = choiceEditor({ ...word, options: { true: gettext("Yes"), false: gettext("No") } }, id);
  const text = made.read;
  return { ...made, read: () => { const chosen = text(); return chosen === null ? null : chosen === "true" ? true : chosen === "false" ? false : chosen; } };
}

/** @param {Word} _word @param {string} id */
function listEditor(_word, id) {
  const area = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "textarea", id, rows: "3", "aria-describedby": `${id}-help` }));
  const help = make("p", { class: "help", id: `${id}-help` }, [gettext("One per line.")]);
  return {
    element: make("div", { class: "stack stack-s" }, [area, help]),
    write: (/** @type {unknown} */ value) => { area.value = /** @type {unknown[]} */ (Array.isArray(value) ? value : [value]).join("\n"); },
    read: () => {
      const entries = area.value.split("\n").map((line) => line.trim()).filter(Boolean);
      return entries.length ? entries : null;
    },
  };
}

/** @param {Word} word @param {string} id */
function groupEditor({ parts }, id) {
  const editors = Object.entries(parts).map(([name, part]) => ({ name, part, made: editor(part, `${id}-${name}`, null) }));
  const fields = editors.map(({ name, part, made }) =>
    make("div", { class: "field" }, [make("label", { class: "label", for: `${id}-${name}` }, [part.label]), made.element]),
  );
  return {
    element: make("div", { class: "field-row", id, role: "group" }, fields),
    write: (/** @type {any} */ value) => editors.forEach(({ name, made }) => { if (!isEmpty(value[name])) made.write(value[name]); }),
    read: () => {
      const entries = editors.map(({ name, made }) => [name, made.read()]).filter(([, value]) => !isEmpty(value));
      return entries.length ? Object.fromEntries(entries) : null;
    },
  };
}

/** Anything else is shown as it is stored. @param {Word} _word @param {string} id */
function otherEditor(_word, id) {
  const area = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "textarea mono", id, rows: "4", spellcheck: "false" }));
  return {
    element: area,
    write: (/** @type {unknown} */ value) => { area.value = JSON.stringify(value, null, 2); },
    read: () => {
      if (!area.value.trim()) return null;
      try {
        return JSON.parse(area.value);
      } catch {
        throw new RangeError(gettext("This is not written the way it has to be. Undo your change or empty the field."));
      }
    },
  };
}
