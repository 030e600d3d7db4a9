// @ts-check
// Exports: the approved slice, sealed to the asking app's own key and bound to one request. What may stand in the header
// is decided here, before any key is touched; the JOSE library does the cryptography.

import { compactDecrypt, importJWK } from "./jose.js";
import { decodeBase64url } from "./formats/bytes.js";
import { CannotOpen, Refused, shown } from "./formats/errors.js";
import { isObject, parseObject } from "./formats/json.js";
import { checkConnectorKey, checkPrivateKey } from "./keys.js";

/** @typedef {import("./index.js").ExportContent} ExportContent */
/** @typedef {import("./index.js").ExportHeader} ExportHeader */

const ALG = "ECDH-ES+A256KW";
const ENC = "A256GCM";
const MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024;
const MAX_HEADER_CHARS = 4096;
const MAX_CIPHERTEXT_CHARS = Math.floor((MAX_PLAINTEXT_BYTES * 4 + 2) / 3);
export const MAX_JWE_CHARS = MAX_HEADER_CHARS + MAX_CIPHERTEXT_CHARS + 256;
const REFUSED_MEMBERS = /^(zip|crit|apu|apv|jku|jwk|x5.*)$/;
const SIZES = [
  { part: 1, what: "the encrypted key", bytes: 40 },
  { part: 2, what: "the initialization vector", bytes: 12 },
  { part: 4, what: "the authentication tag", bytes: 16 },
];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const PLAINTEXT_MEMBERS = ["scope", "approved_attributes", "data", "sources", "sealed_at"];
const SOURCE_MEMBERS = ["domain", "segment_id", "content_revision"];
const ATTRIBUTE_DEPTH = 3; // domain.segment.attribute

/** @typedef {(member: string, value: any) => void | Promise<void>} Check */

/** @type {Record<string, Check>} */
const PROFILE = {
  typ: exactly("consent-export+jwe"),
  cty: exactly("application/json"),
  kid: keyName,
  iss: text,
  sub: text,
  aud: text,
  request_id: text,
  scope: text,
  revision: counter,
  request_digest: digest,
  epk: ephemeralKey,
};

/**
 * The approved slice; refuses an export that is not for exactly this request, naming the member that differs.
 * @param {string} sealed @param {unknown} privateKey @param {ExportHeader} expected
 * @returns {Promise<ExportContent>}
 */
export async function openExport(sealed, privateKey, expected) {
  const key = await checkPrivateKey(privateKey);
  const header = await readHeader(sealed);
  for (const [member, value] of Object.entries(expected)) {
    if (header[member] !== value) {
      throw new Refused(`header member ${member} is ${shown(header[member])}, not ${shown(value)}`, member);
    }
  }
  if (header.epk.crv !== key.crv) {
    throw new Refused(`header member epk is on ${header.epk.crv}, the key on ${key.crv}`, "epk");
  }
  return checkContent(parseObject(await open(sealed, key), "the export's content"), header.scope);
}

/** @param {string} sealed @param {import("./index.js").PrivateKey} key @returns {Promise<Uint8Array>} */
async function open(sealed, key) {
  const options = { keyManagementAlgorithms: [ALG], contentEncryptionAlgorithms: [ENC] };
  try {
    return (await compactDecrypt(sealed, await importJWK({ ...key }, ALG), options)).plaintext;
  } catch {
    throw new CannotOpen("the export does not open: another key sealed it, or it was changed");
  }
}

/** The protected header after every check that needs no key. @param {unknown} sealed @returns {Promise<Record<string, any>>} */
async function readHeader(sealed) {
  if (typeof sealed !== "string" || sealed === "") throw new Refused("the sealed text is empty");
  if (sealed.length > MAX_JWE_CHARS) throw new Refused(`the sealed text is longer than ${MAX_JWE_CHARS} characters`);
  const parts = sealed.split(".");
  if (parts.length !== 5) throw new Refused(`the sealed text is no compact JWE: it has ${parts.length} parts, not 5`);
  const [encoded = "", , , ciphertext = ""] = parts;
  if (encoded.length > MAX_HEADER_CHARS) throw new Refused(`the header is longer than ${MAX_HEADER_CHARS} characters`);
  const header = parseObject(decodeBase64url(encoded, "the header"), "the header");
  await checkMembers(header);
  for (const { part, what, bytes } of SIZES) {
    if (decodeBase64url(parts[part], what).length !== bytes) throw new Refused(`${what} is not ${bytes} bytes long`);
  }
  if (ciphertext.length > MAX_CIPHERTEXT_CHARS) {
    throw new Refused(`the sealed content is larger than ${MAX_PLAINTEXT_BYTES} bytes`);
  }
  return header;
}

/** @param {Record<string, any>} header */
async function checkMembers(header) {
  const stray = Object.keys(header).find((member) => REFUSED_MEMBERS.test(member));
  if (stray !== undefined) throw new Refused(`header member ${stray} is refused`, stray);
  for (const [member, wanted] of Object.entries({ alg: ALG, enc: ENC })) {
    if (present(header, member) !== wanted) {
      throw new Refused(`${member} ${shown(header[member])} is not on the list for a sealed export`, member);
    }
  }
  for (const [member, check] of Object.entries(PROFILE)) await check(member, present(header, member));
  const unknown = Object.keys(header).find((member) => !Object.hasOwn(PROFILE, member) && member !== "alg" && member !== "enc");
  if (unknown !== undefined) throw new Refused(`header member ${shown(unknown)} is unknown in a sealed export`, unknown);
}

/** @param {Record<string, any>} header @param {string} member */
function present(header, member) {
  if (!Object.hasOwn(header, member)) throw new Refused(`the header has no member ${shown(member)}`, member);
  return header[member];
}

/** @param {string} expected @returns {Check} */
function exactly(expected) {
  return (member, value) => {
    if (value !== expected) throw new Refused(`header member ${member} is ${shown(value)}, not ${shown(expected)}`, member);
  };
}

/** @type {Check} */
function text(member, value) {
  const length = typeof value === "string" ? [...value].length : 0;
  if (length < 1 || length > 512 || /[\p{C}\p{Z}]/u.test(value.replaceAll(" ", ""))) {
    throw new Refused(`header member ${member} is not text of 1 to 512 characters`, member);
  }
}

/** @type {Check} */
function keyName(member, value) {
  if (typeof value !== "string" || !/^[A-Za-z0-9._~-]{1,128}$/.test(value)) {
    throw new Refused(`header member ${member} is not 1 to 128 of the characters A-Z a-z 0-9 . _ ~ -`, member);
  }
}

/** @type {Check} */
function counter(member, value) {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new Refused(`header member ${member} is not a positive whole number`, member);
  }
}

/** @type {Check} */
function digest(member, value) {
  const { length } = decodeBase64url(value, `header member ${member}`, member);
  if (length !== 32) throw new Refused(`header member ${member} has ${length} bytes, not 32`, member);
}

/** @type {Check} */
async function ephemeralKey(member, value) {
  try {
    await checkConnectorKey(value, { tolerate: false });
  } catch (error) {
    throw new Refused(`header member ${member} is refused: ${/** @type {Error} */ (error).message}`, member);
  }
}

/**
 * The plaintext with every rule checked: its members, its scope, and `data` within the approved attributes.
 * @param {Record<string, any>} content @param {string} scope
 * @returns {ExportContent}
 */
function checkContent(content, scope) {
  const missing = PLAINTEXT_MEMBERS.find((member) => !Object.hasOwn(content, member));
  if (missing) throw new Refused(`the content has no ${missing}`, missing);
  const unknown = Object.keys(content).find((member) => !PLAINTEXT_MEMBERS.includes(member));
  if (unknown !== undefined) throw new Refused(`the content has an unknown member ${shown(unknown)}`, unknown);
  if (content.scope !== scope) {
    throw new Refused(`the content's scope is ${shown(content.scope)}, not ${shown(scope)}`, "scope");
  }
  checkApproved(content.approved_attributes);
  checkData(content.data, content.approved_attributes);
  checkSources(content.sources);
  if (typeof content.sealed_at !== "string" || !TIME.test(content.sealed_at)) {
    throw new Refused("the content's sealed_at is not a time in UTC", "sealed_at");
  }
  return /** @type {ExportContent} */ (content);
}

/** @param {any} approved */
function checkApproved(approved) {
  if (!Array.isArray(approved) || !approved.every((path) => typeof path === "string")) {
    throw new Refused("the content's approved_attributes is not a list of paths", "approved_attributes");
  }
  if (new Set(approved).size !== approved.length) {
    throw new Refused("the content's approved_attributes names a path twice", "approved_attributes");
  }
}

/** @param {any} data @param {string[]} approved */
function checkData(data, approved) {
  if (!isObject(data)) throw new Refused("the content's data is not an object", "data");
  const stems = new Set();
  for (const path of approved) {
    for (let depth = 1; depth < ATTRIBUTE_DEPTH; depth++) stems.add(path.split(".").slice(0, depth).join("."));
  }
  walk(data, "", 1, stems, new Set(approved));
}

/** @param {Record<string, any>} node @param {string} stem @param {number} depth @param {Set<string>} stems @param {Set<string>} approved */
function walk(node, stem, depth, stems, approved) {
  for (const [name, value] of Object.entries(node)) {
    const path = `${stem}${name}`;
    if (!(depth === ATTRIBUTE_DEPTH ? approved : stems).has(path)) {
      throw new Refused(`data holds ${shown(path)}, which was not approved`, "data");
    }
    if (depth === ATTRIBUTE_DEPTH) continue;
    if (!isObject(value)) throw new Refused(`data's ${shown(path)} is not an object`, "data");
    walk(value, `${path}.`, depth + 1, stems, approved);
  }
}

/** @param {any} sources */
function checkSources(sources) {
  if (!Array.isArray(sources)) throw new Refused("the content's sources is not a list", "sources");
  for (const source of sources) {
    const names = isObject(source) ? Object.keys(source) : [];
    if (names.length !== SOURCE_MEMBERS.length || !SOURCE_MEMBERS.every((name) => names.includes(name))) {
      throw new Refused("a source is not {domain, segment_id, content_revision}", "sources");
    }
    if (typeof source.domain !== "string" || typeof source.segment_id !== "string") {
      throw new Refused("a source's domain or segment_id is not text", "sources");
    }
    if (!Number.isSafeInteger(source.content_revision) || source.content_revision < 1) {
      throw new Refused("a source's content_revision is not a positive whole number", "sources");
    }
  }
}
