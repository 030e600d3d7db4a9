// @ts-check
// Which entry of a file goes where: a guess that the person looks at and changes before anything is compared.

import { gettext, interpolate } from "./i18n.js";
import { find, make } from "./page.js";
import { asName, humanised, inWords } from "./values.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {Record<string, {label: string, attributes: Record<string, Word>}>} Known "domain.segment" → its words */
/** @typedef {{name: string, value: unknown}} Field */
/** @typedef {{title: string, fields: Field[]}} Entry one person of the file */

const MOST_SHOWN = 120;
const MOST_FIELDS = 300;
/** @type {Record<string, string>} what other programs call it → where it goes */
const ALIASES = {
  name: "identity.basic.full_name", fn: "identity.basic.full_name", display_name: "identity.basic.full_name",
  e_mail: "contact.email.email", mail: "contact.email.email", email_address: "contact.email.email", e_mail_1_value: "contact.email.email", email_1_value: "contact.email.email",
  tel: "contact.phone.phone", telephone: "contact.phone.phone", mobile: "contact.phone.phone", phone_number: "contact.phone.phone", phone_1_value: "contact.phone.phone",
  street: "location.home.address", street_address: "location.home.address", town: "location.home.city", locality: "location.home.city",
  region: "location.home.state", zip: "location.home.postal_code", zip_code: "location.home.postal_code", postcode: "location.home.postal_code",
  job_title: "professional.work.occupation", title: "professional.work.occupation", job: "professional.work.occupation",
  birthday: "identity.basic.birthday", bday: "identity.basic.birthday", date_of_birth: "identity.basic.birthday",
};

/** The known place of a name, or one of the person's own; "" for none. @param {string} name @param {Known} known */
export function guess(name, known) {
  const plain = asName(name.split(".").at(-1) ?? "");
  if (Object.hasOwn(ALIASES, plain)) {
    const path = ALIASES[plain] ?? "";
    if (Object.hasOwn(known, segmentOf(path))) return path;
  }
  for (const [address, { attributes }] of Object.entries(known)) {
    const named = Object.entries(attributes).find(([attribute, word]) => attribute === plain || asName(word.label) === plain);
    if (named) return `${address}.${named[0]}`;
  }
  return "";
}

/** @param {string} path */
const segmentOf = (path) => path.split(".").slice(0, 2).join(".");

/**
 * Draws one row for each field; the first of several that fit one place has it.
 * @param {HTMLElement} place @param {Entry} entry @param {Known} known
 */
export function drawMapping(place, entry, known) {
  const taken = new Set();
  const fields = entry.fields.slice(0, MOST_FIELDS);
  find("[data-mapping]", place).replaceChildren(...fields.map((field, at) => {
    const path = guess(field.name, known);
    const free = path && !taken.has(path) ? path : "";
    taken.add(free);
    const id = `map-${at}`;
    return make("div", { class: "field", "data-field": String(at) }, [
      make("label", { class: "label", for: id }, [humanised(field.name)]),
      make("p", { class: "small" }, [make("bdi", {}, [short(inWords(field.value))])]),
      choice(id, field, free, known),
    ]);
  }));
}

/** @param {string} text */
const short = (text) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN).replace(/[\ud800-\udbff]$/, "")}…` : text);

/** @param {string} id @param {Field} field @param {string} path @param {Known} known */
function choice(id, field, path, known) {
  const own = asName(field.name.split(".").at(-1) ?? "");
  const groups = Object.entries(known).map(([address, { label, attributes }]) => {
    const options = Object.entries(attributes).map(([name, word]) => make("option", { value: `${address}.${name}` }, [word.label]));
    const isOwn = own && !Object.hasOwn(attributes, own);
    if (isOwn) options.push(make("option", { value: `${address}.${own}` }, [interpolate(gettext("A field of its own: %(name)s"), { name: humanised(own) })]));
    return make("optgroup", { label }, options);
  });
  const select = /** @type {HTMLSelectElement} */ (make("select", { class: "select", id }, [make("option", { value: "" }, [gettext("Leave out")]), ...groups]));
  select.value = path;
  if (select.selectedIndex < 0) select.value = "";
  return select;
}

/**
 * What was chosen.
 * @param {HTMLElement} place @param {Entry} entry @param {Known} known
 * @returns {{found: Map<string, unknown>, skipped: string[]}} path → value, and what is left out
 * @throws {RangeError} with words
 */
export function mapped(place, entry, known) {
  const found = new Map();
  const skipped = [];
  for (const [at, field] of entry.fields.entries()) {
    const select = /** @type {HTMLSelectElement | null} */ (place.querySelector(`[data-field="${at}"] select`));
    const path = select?.value ?? "";
    if (!path) skipped.push(humanised(field.name));
    else if (found.has(path)) throw new RangeError(interpolate(gettext("Two entries go to the same place: %(name)s. Leave one of them out."), { name: humanised(field.name) }));
    else found.set(path, fitting(field.value, wordOf(path, known)));
  }
  if (!found.size) throw new RangeError(gettext("Choose at least one place."));
  return { found, skipped };
}

/** @param {string} path @param {Known} known @returns {Word | undefined} */
function wordOf(path, known) {
  const [domain, segment, name = ""] = path.split(".");
  const attributes = known[`${domain}.${segment}`]?.attributes ?? {};
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** A text in the form that its place has; what does not fit stays as it is. @param {unknown} value @param {Word | undefined} word */
function fitting(value, word) {
  if (typeof value !== "string" || !word) return value;
  if (word.kind === "number") return /^-?\d{1,15}([.,]\d+)?$/.test(value) ? Number(value.replace(",", ".")) : value;
  if (word.kind === "list") return value.split(/[|;\n]/).map((part) => part.trim()).filter(Boolean);
  if (word.kind === "yesno") return /^(yes|true|1|ja)$/i.test(value) ? true : /^(no|false|0|nein)$/i.test(value) ? false : value;
  const option = Object.entries(word.options).find(([name, label]) => [name, label].some((one) => one.toLowerCase() === value.toLowerCase()));
  return option ? option[0] : value;
}
