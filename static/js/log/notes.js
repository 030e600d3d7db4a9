// @ts-check
// Signed checkpoints of a log and proofs against them, read strictly: C2SP signed-note, tlog-checkpoint,
// tlog-cosignature and tlog-proof.

import { includes, same } from "./merkle.js";

/** @typedef {Uint8Array<ArrayBuffer>} Octets */
/** @typedef {{name: string, kind: number, publicKey: Octets, keyId: Octets, text: string}} VerifierKey */
/** @typedef {{witness: string, at: number}} Cosignature `at` in seconds since 1970 */
/** @typedef {{origin: string, size: number, root: Octets, note: string, cosignatures: Cosignature[]}} Checkpoint */
/** @typedef {{index: number, hashes: Octets[], checkpoint: Checkpoint}} Proof */

/** What is read is not what it has to be; `message` says why. */
export class NoteRefused extends Error {}

export const ED25519 = 1;
export const COSIGNATURE = 4;
const PROOF_HEADER = "c2sp.org/tlog-proof@v1";
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;
const NAME = /^[^\s+]+$/u;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;
const MAX_CHARS = 1024 * 1024;
const MAX_SIGNATURES = 100;
const MAX_HASHES = 64;

/** @param {string} text @returns {Octets} */
const utf8 = (text) => new TextEncoder().encode(text);

/** @param {boolean} holds @param {string} why */
function expect(holds, why) {
  if (!holds) throw new NoteRefused(why);
}

/** Standard base64, and no other spelling of it. @param {string} text @param {string} what @returns {Octets} */
function decode(text, what) {
  let binary = "";
  try {
    binary = atob(text);
  } catch {
    throw new NoteRefused(`${what} is not base64`);
  }
  expect(btoa(binary) === text, `${what} is not base64`);
  return Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
}

/** @param {string} text @param {string} what @returns {number} */
function number(text, what) {
  expect(NUMBER.test(text) && Number.isSafeInteger(Number(text)), `${what} is no number`);
  return Number(text);
}

/** A verifier key of the log or of a witness; its id is checked. @param {string} text @returns {Promise<VerifierKey>} */
export async function readKey(text) {
  const [name = "", id = "", ...rest] = text.split("+");
  const material = decode(rest.join("+"), "the key");
  const kind = material[0] ?? 0;
  expect(NAME.test(name) && material.length === 33 && [ED25519, COSIGNATURE].includes(kind), "this is no verifier key");
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...utf8(name), 10, ...material]));
  const keyId = new Uint8Array(digest).slice(0, 4);
  expect([...keyId].map((octet) => octet.toString(16).padStart(2, "0")).join("") === id, "the key's id is another");
  return { name, kind, publicKey: material.slice(1), keyId, text };
}

/** The same key under another name of the log, which is part of what a verifier key is. @param {VerifierKey} key @param {string} name @returns {Promise<VerifierKey>} */
export async function renamed({ kind, publicKey }, name) {
  const material = new Uint8Array([kind, ...publicKey]);
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...utf8(name), 10, ...material]));
  const keyId = new Uint8Array(digest).slice(0, 4);
  const id = [...keyId].map((octet) => octet.toString(16).padStart(2, "0")).join("");
  return { name, kind, publicKey, keyId, text: `${name}+${id}+${btoa(String.fromCharCode(...material))}` };
}

/** What `/log/key` says, newest first. @param {string} text @returns {Promise<VerifierKey[]>} */
export async function readKeys(text) {
  const keys = await Promise.all(text.split("\n").filter(Boolean).map(readKey));
  expect(keys.length > 0 && keys.every(({ kind }) => kind === ED25519), "the service names no key of its log");
  return keys;
}

/** One hash a line. @param {string[]} lines @returns {Octets[]} */
export function readHashes(lines) {
  const hashes = lines.map((line) => decode(line, "a hash of the proof"));
  expect(hashes.length <= MAX_HASHES && hashes.every(({ length }) => length === 32), "the proof has a hash that is none");
  return hashes;
}

/** @param {string} note @returns {{text: string, signatures: {name: string, raw: Octets}[]}} */
function split(note) {
  expect(note.length <= MAX_CHARS && !CONTROL.test(note), "the note holds what no note holds");
  const at = note.lastIndexOf("\n\n");
  expect(at >= 0 && note.endsWith("\n") && at + 2 < note.length, "the note has no signatures");
  const lines = note.slice(at + 2, -1).split("\n");
  expect(lines.length <= MAX_SIGNATURES, "the note has too many signatures");
  const signatures = lines.map((line) => {
    const [dash, name = "", encoded = "", ...more] = line.split(" ");
    expect(dash === "\u2014" && NAME.test(name) && more.length === 0, "the note has a line that is no signature");
    const raw = decode(encoded, "a signature");
    expect(raw.length > 4, "a signature is too short");
    return { name, raw };
  });
  return { text: note.slice(0, at + 1), signatures };
}

/** The name of the log that a note is of, by its first line; nothing of it is checked. @param {string} note @returns {string} */
export const originOf = (note) => split(note).text.split("\n")[0] ?? "";

/** @param {VerifierKey} key @param {{name: string, raw: Octets}[]} signatures @returns {Octets | null} */
function by(key, signatures) {
  const found = signatures.find(({ name, raw }) => name === key.name && same(raw.slice(0, 4), key.keyId));
  return found ? found.raw.slice(4) : null;
}

/** @param {VerifierKey} key @param {Octets} signature @param {string} text */
async function verify(key, signature, text) {
  const imported = await crypto.subtle.importKey("raw", key.publicKey, "Ed25519", false, ["verify"]);
  expect(await crypto.subtle.verify("Ed25519", imported, signature, utf8(text)), `the signature of ${key.name} does not hold`);
}

/**
 * Those of these keys that signed a note; refused where a signature under one of them does not hold.
 * @param {string} note @param {VerifierKey[]} keys @returns {Promise<VerifierKey[]>}
 */
export async function signers(note, keys) {
  const { text, signatures } = split(note);
  const signed = [];
  for (const key of keys) {
    const signature = key.kind === ED25519 ? by(key, signatures) : null;
    if (!signature) continue;
    await verify(key, signature, text);
    signed.push(key);
  }
  return signed;
}

/**
 * Whether somebody signed in the log's own name with a key that is none of these; nothing of it is checked.
 * @param {Checkpoint} checkpoint @param {VerifierKey[]} keys
 */
export const hasOtherSigner = ({ note, origin }, keys) =>
  split(note).signatures.some(({ name, raw }) => name === origin && !keys.some(({ keyId }) => same(keyId, raw.slice(0, 4))));

/** @param {VerifierKey} witness @param {{name: string, raw: Octets}[]} signatures @param {string} text @returns {Promise<Cosignature | null>} */
async function cosignature(witness, signatures, text) {
  const stamped = witness.kind === COSIGNATURE ? by(witness, signatures) : null;
  if (!stamped) return null;
  expect(stamped.length === 72, "a cosignature has another length");
  const at = Number(new DataView(stamped.buffer).getBigUint64(0));
  await verify(witness, stamped.slice(8), `cosignature/v1\ntime ${at}\n${text}`);
  return { witness: witness.name, at };
}

/**
 * A checkpoint that one of the log's keys signed, with the cosignatures of known witnesses. By `anyone`, none need have: then
 * only its consistency with one that is signed says that it is the log's.
 * @param {string} note @param {VerifierKey[]} keys @param {VerifierKey[]} [witnesses] @param {{anyone?: boolean}} [by]
 * @returns {Promise<Checkpoint>}
 */
export async function readCheckpoint(note, keys, witnesses = [], { anyone = false } = {}) {
  const { text, signatures } = split(note);
  const signed = await signers(note, keys);
  const [origin = "", size = "", root = "", ...rest] = text.split("\n");
  expect(signed.every(({ name }) => name === origin), "the checkpoint is of another log");
  expect(anyone || signed.length > 0, "no key of the log signed this checkpoint");
  expect(rest.length === 1 && rest[0] === "", "the checkpoint does not have three lines");
  const digest = decode(root, "the root");
  expect(digest.length === 32, "the root is no SHA-256");
  const found = await Promise.all(witnesses.map((witness) => cosignature(witness, signatures, text)));
  const cosignatures = found.filter((each) => each !== null);
  return { origin, size: number(size, "the size"), root: digest, note, cosignatures };
}

/**
 * A tlog-proof; whether it holds for an entry, `proves` says.
 * @param {string} text @param {VerifierKey[]} keys @param {VerifierKey[]} [witnesses] @param {{anyone?: boolean}} [by]
 * @returns {Promise<Proof>}
 */
export async function readProof(text, keys, witnesses = [], by = {}) {
  const at = text.indexOf("\n\n");
  const lines = text.slice(0, Math.max(at, 0)).split("\n");
  expect(at > 0 && lines.shift() === PROOF_HEADER, "this is no proof of a log");
  if (lines[0]?.startsWith("extra ")) decode(lines.shift()?.slice(6) ?? "", "the extra data");
  const index = lines.shift() ?? "";
  expect(index.startsWith("index "), "the proof does not say the number of its leaf");
  const checkpoint = await readCheckpoint(text.slice(at + 2), keys, witnesses, by);
  return { index: number(index.slice(6), "the index"), hashes: readHashes(lines), checkpoint };
}

/** Whether the leaf of a proof is this entry. @param {Proof} proof @param {Octets} entry @returns {Promise<boolean>} */
export const proves = ({ index, hashes, checkpoint }, entry) => includes(entry, index, checkpoint.size, hashes, checkpoint.root);
