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
  e_mail: "contact.email.email", mail: "contact.email.email", email_address: "contact.email.email", e_mail_address: "contact.email.email", e_mail_1_value: "contact.email.email", email_1_value: "contact.email.email",
  tel: "contact.phone.phone", telephone: "contact.phone.phone", mobile: "contact.phone.phone", phone_number: "contact.phone.phone", phone_1_value: "contact.phone.phone",
  street: "location.home.address", street_address: "location.home.address", town: "location.home.city", locality: "location.home.city",
  region: "location.home.state", zip: "location.home.postal_code", zip_code: "location.home.postal_code", postcode: "location.home.postal_code",
  job_title: "professional.work.occupation", title: "professional.work.occupation", job: "professional.work.occupation",
  formatted_name: "identity.basic.full_name", emails_value: "contact.email.email", phone_numbers_value: "contact.phone.phone", phones_value: "contact.phone.phone",
  home_phone: "contact.phone.phone", mobile_phone: "contact.phone.phone", gender_type: "identity.basic.gender", birth_date: "identity.basic.birth_date",
  home_street: "location.home.address", home_city: "location.home.city", home_state: "location.home.state", home_postal_code: "location.home.postal_code", home_country_region: "location.home.country",
  address_1_street: "location.home.address", address_1_city: "location.home.city", address_1_region: "location.home.state", address_1_postal_code: "location.home.postal_code", address_1_country: "location.home.country",
  address_locality: "location.home.city", address_region: "location.home.state", address_country: "location.home.country", organization_title: "professional.work.occupation",
  geburtstag: "identity.basic.birth_date", geburtsdatum: "identity.basic.birth_date", beruf: "professional.work.occupation",
  telefon: "contact.phone.phone", telefonnummer: "contact.phone.phone", mobil: "contact.phone.phone", handy: "contact.phone.phone",
  strasse: "location.home.address", adresse: "location.home.address", ort: "location.home.city", wohnort: "location.home.city", plz: "location.home.postal_code", land: "location.home.country",
  birthday: "identity.basic.birth_date", bday: "identity.basic.birth_date", date_of_birth: "identity.basic.birth_date",
};

// below these a file speaks of somebody else, or of an organisation
const OTHERS = new Set([
  "works_for", "employer", "organization", "organisation", "company", "affiliation", "member_of", "alumni_of", "school", "spouse", "partner", "parent", "parents",
  "mother", "father", "children", "child", "sibling", "siblings", "relatives", "related_to", "knows", "colleague", "colleagues", "follows", "manager", "assistant",
  "emergency_contact", "sponsor", "funder", "owns", "brand", "author", "publisher", "work_location", "referee",
]);

/** `streetAddress` is "street_address". @param {string} name */
const nameOf = (name) => asName(name.replace(/([a-z0-9])([A-Z])/g, "$1_$2"));

/** @param {string} name of a field, with those above it */
export const isSomebodyElses = (name) => name.split(".").slice(0, -1).some((part) => OTHERS.has(nameOf(part)));

/** The known place of a name, or one of the person's own; "" for none. @param {string} name @param {Known} known */
export function guess(name, known) {
  if (isSomebodyElses(name)) return "";
  const plain = nameOf(name.split(".").at(-1) ?? "");
  for (const called of [name.split(".").slice(-2).map(nameOf).join("_"), plain]) {
    const path = Object.hasOwn(ALIASES, called) ? (ALIASES[called] ?? "") : "";
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
      make("p", { class: "sm" }, [make("bdi", {}, [short(inWords(field.value))])]),
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

/** @param {string} path @param {unknown} value @param {Known} known */
export const fitted = (path, value, known) => fitting(value, wordOf(path, known));

/** A text in the form that its place has; what does not fit stays as it is. @param {unknown} value @param {Word | undefined} word */
function fitting(value, word) {
  if (word?.kind === "text" && typeof value === "number") return String(value);
  if (typeof value !== "string" || !word) return value;
  if (word.autocomplete === "bday") return value.replace(/^(\d\d?)\.\s?(\d\d?)\.\s?(\d{4})$/, (_, day, month, year) => [year, month.padStart(2, "0"), day.padStart(2, "0")].join("-"));
  if (word.kind === "number") return /^-?(?=[\d.,]{1,16}$)(0|[1-9]\d*)([.,]\d+)?$/.test(value) ? Number(value.replace(",", ".")) : value;
  if (word.kind === "list") return value.split(/[|;\n]/).map((part) => part.trim()).filter(Boolean);
  if (word.kind === "yesno") return /^(yes|true|1|ja)$/i.test(value) ? true : /^(no|false|0|nein)$/i.test(value) ? false : value;
  const option = Object.entries(word.options).find(([name, label]) => [name, label].some((one) => one.toLowerCase() === value.toLowerCase()));
  return option ? option[0] : value;
}
