// Files that other programs write, read by the modules of the page that imports them: what is proposed for which place.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { register } from "node:module";

globalThis.document = /** @type {any} */ ({ documentElement: { lang: "en", dataset: {} } });
register("../bridge_js/pages.mjs", import.meta.url);
const { readFile } = await import("../../../static/js/files.js");
const { guess } = await import("../../../static/js/mapping.js");

const word = (kind, options = {}) => ({ label: "", kind, options, parts: {} });
const texts = (...names) => ({ label: "", attributes: Object.fromEntries(names.map((name) => [name, word("text")])) });
const known = {
  "identity.basic": { label: "", attributes: { ...texts("full_name").attributes, birth_date: { ...word("text"), autocomplete: "bday" }, age: word("number"), gender: word("choice", { female: "Female" }) } },
  "contact.email": texts("email"),
  "contact.phone": texts("phone"),
  "location.home": texts("address", "city", "state", "postal_code", "country"),
  "professional.work": texts("occupation"),
  "intents.now": { label: "", attributes: { needs: word("list") } },
};

/** What goes where if nobody changes it: the first of several that fit one place has it. */
async function proposed(name, content = readFileSync(new URL(`files/${name}`, import.meta.url))) {
  const read = await readFile(new File([content], name), known);
  if ("found" in read) return Object.fromEntries(read.found);
  const places = {};
  for (const field of read.entries[0].fields) {
    const path = guess(field.name, known);
    if (path) places[path] ??= field.value;
  }
  return places;
}

const PERSON = ["identity.basic.full_name", "contact.email.email", "contact.phone.phone"];
const HOME = ["address", "city", "state", "postal_code", "country"].map((name) => `location.home.${name}`);
const placed = (paths, values) => Object.fromEntries(values.map((value, at) => [paths[at], value]).filter(([, value]) => value !== null));

// a value has the form of its place, and one that has none stays a text
assert.deepEqual(await proposed("own_paths.csv"), {
  "contact.phone.phone": "4915112345678",
  "location.home.postal_code": "10115",
  "identity.basic.full_name": "Karl Süß",
  "identity.basic.age": 41,
  "location.home.address": "Haus 7|8, Hof",
  "identity.basic.passport_number": "123456789",
  "professional.work.staff_id": "1.10",
});
assert.deepEqual(await proposed("a.csv", "intents.now.needs,a|b\nidentity.basic.age,007\n"), { "intents.now.needs": ["a", "b"], "identity.basic.age": "007" });
assert.deepEqual(await proposed("a.json", '{"contact": {"phone": {"phone": 4915112345678}}}'), { "contact.phone.phone": "4915112345678" });
// a day as the date field gives it, from which answers are made; what may be another day stays as it is
for (const [written, day] of [["17.05.1990", "1990-05-17"], ["7. 5. 1990", "1990-05-07"], ["05/07/1990", "05/07/1990"], ["7.5.90", "7.5.90"]])
  assert.deepEqual(await proposed("a.csv", `identity.basic.birth_date,${written}\ncontact.phone.phone,1\n`), { "identity.basic.birth_date": day, "contact.phone.phone": "1" });
// digit by digit
const exact = { national_id: "12345678901234567890", tax_id: "9007199254740993", ratio: "0.1000000000000000055" };
const ids = await proposed("big_ids.json");
for (const [name, digits] of Object.entries(exact)) assert.equal(ids[`identity.basic.${name}`], digits);
const small = '{"identity": {"basic": {"a": 1.10, "b": -0, "c": 1e3, "d": "9007199254740993", "e": 1e400, "f": 120}}}';
assert.deepEqual(Object.values(await proposed("a.json", small)), [1.1, -0, 1000, "9007199254740993", "1e400", 120]);
// cards of telephones
const zaneta = await proposed("fold_in_char.vcf");
assert.match(zaneta["identity.basic.full_name"], /^(Škoda Žaneta Příšerně Žluťoučká ?){3}$/u);
assert.deepEqual(await proposed("android21.vcf"), placed(PERSON, ["Jürgen O", null, "+4915112345678"]));
const soft = "BEGIN:VCARD\r\nVERSION:2.1\r\nFN;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:J=FCr=\r\ngen\r\nEND:VCARD\r\n";
assert.deepEqual(await proposed("a.vcf", soft), placed(PERSON, ["Jürgen"]));
const maja = await proposed("apple_noyear.vcf");
assert.equal(maja["identity.basic.birth_date"], "03-15");
const card = (line) => `BEGIN:VCARD\nVERSION:4.0\nFN:A\n${line}\nEND:VCARD\n`;
assert.equal((await proposed("a.vcf", card("BDAY:--0315")))["identity.basic.birth_date"], "03-15");
assert.equal((await proposed("a.vcf", card("TEL;TYPE=home:1\nTEL;TYPE=cell;PREF=1:2")))["contact.phone.phone"], "2");
assert.equal((await proposed("a.vcf", card("ADR;TYPE=work:;;Office;;;;\nADR;TYPE=home:;;Home;;;;")))["location.home.address"], "Home");
await assert.rejects(proposed("a.vcf", "BEGIN:VCARD\nVERSION:2.1\nFN:J\u00fcrgen\nEND:VCARD\n".split("").reduce((all, one) => Buffer.concat([all, Buffer.from(one, "latin1")]), Buffer.alloc(0))), /UTF-8/);
// tables
assert.deepEqual(await proposed("excel_sep.csv"), { ...placed(PERSON, ["Karl Süß", "karl@example.org"]), "location.home.postal_code": "01067" });
assert.deepEqual(await proposed("a.csv", '"name;of;it",Email,City\rA,a@example.org,Rome\r'), { "contact.email.email": "a@example.org", "location.home.city": "Rome" });
assert.deepEqual(await proposed("google_new.csv"), {
  ...placed(PERSON, ["Noor Rahman", "noor@example.org", "+44 7700 900123"]),
  ...placed(HOME, ["1 High St", "Leeds", "West Yorkshire", "LS1 1AA", "GB"]),
  "identity.basic.birth_date": "1991-02-28",
  "professional.work.occupation": "Designer",
});
assert.deepEqual(await proposed("outlook.csv"), {
  ...placed(PERSON, ["Dr. Piet de Vries", "piet@example.org", "+31 15 2222222"]),
  ...placed(HOME, ["Laan 4", "Delft", "ZH", "2611 BB", "Netherlands"]),
  "professional.work.occupation": "Chemist",
});
assert.deepEqual(await proposed("a.csv", "\ufeffVorname;Nachname;Straße;PLZ;Ort;Land;Telefon;E-Mail;Geburtstag\r\nJürgen;Müller;Am Markt 1;01067;Dresden;Deutschland;0351 1;j@example.org;7.5.1990\r\n"), {
  ...placed(PERSON, ["Jürgen Müller", "j@example.org", "0351 1"]),
  ...placed(HOME, ["Am Markt 1", "Dresden", null, "01067", "Deutschland"]),
  "identity.basic.birth_date": "7.5.1990",
});
const { "identity.basic.full_name": ofNameAndVorname } = await proposed("a.csv", "Name;Vorname;E-Mail\r\nMüller;Jürgen;j@example.org\r\n");
assert.equal(ofNameAndVorname, "Jürgen Müller");
const aylin = await proposed("linkedin_Profile.csv");
assert.deepEqual([aylin["identity.basic.full_name"], aylin["location.home.postal_code"]], ["Aylin Demir", "34710"]);
// whose it is
assert.deepEqual(await proposed("schema_person_employer_first.json"), {
  ...placed(PERSON, ["Bia Souza", "bia@example.org", "+44 7700 900123"]),
  ...placed(HOME, ["2 Home Row", null, null, "LS1 1AA", null]),
});
assert.deepEqual(await proposed("a.json", '{"alumniOf": {"name": "School"}, "children": [{"name": "B", "email": "b@example.org"}]}'), {});
assert.deepEqual(await proposed("takeout_Profile.json"), {
  ...placed(PERSON, ["Noor Rahman", "noor@example.org"]),
  "identity.basic.birth_date": "1991-02-28",
  "identity.basic.gender": "female",
});
process.exit(0); // a page's timers go on for as long as it is open
