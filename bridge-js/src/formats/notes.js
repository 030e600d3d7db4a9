// @ts-check
// Signed checkpoints of a log and proofs against them, read strictly: C2SP signed-note, tlog-checkpoint,
// tlog-cosignature and tlog-proof. Nothing of a note is believed before a signature of a known key holds. A signature of
// a known key that does not hold refuses the note; those of unknown keys are passed over.

import { fromBase64, joined, same, toBase64, toHex, utf8 } from "./bytes.js";
import { KeyRefused, Refused, shown } from "./errors.js";
import { HASH_BYTES, includes } from "./merkle.js";
import { sha256 } from "./sha256.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {{name: string, kind: number, publicKey: Bytes, keyId: Bytes, text: string}} VerifierKey */
/** @typedef {{witness: string, at: number}} Cosignature `at` in seconds since 1970 */
/** @typedef {{origin: string, size: number, root: Bytes, note: string, cosignatures: Cosignature[]}} Checkpoint */
/** @typedef {{index: number, hashes: Bytes[], checkpoint: Checkpoint}} Proof */
/** @typedef {{name: string, raw: Bytes}} Line who is said to have signed, and the octets with the key's id before them */

export const ED25519 = 1;
export const COSIGNATURE = 4;
const PROOF_HEADER = "c2sp.org/tlog-proof@v1";
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;
const NAME = /^[^\p{White_Space}\p{Surrogate}\u0000-\u001f+]+$/u; // the spaces of Unicode, which are not those of `\s`
// ASCII's control characters but for the newline, and what is no UTF-8: no others, and so neither U+007F nor U+0085
const FORBIDDEN = /(?!\n)[\u0000-\u001f\p{Surrogate}]/u;
const MAX_BYTES = 1024 * 1024;
const MAX_SIGNATURES = 100;
const MAX_HASHES = 64; // no tree is deeper

/** @param {string} text @param {string} what @returns {Bytes} */
function decode(text, what) {
  const octets = fromBase64(text);
  if (!octets) throw new Refused(`${what} is not canonical base64`);
  return octets;
}

/** @param {string} name @param {Bytes} material its kind and the key @returns {Bytes} */
const keyIdOf = (name, material) => sha256(utf8(`${name}\n`), material).slice(0, 4);

/** @param {string} text @param {string} what */
function numberOf(text, what) {
  if (!NUMBER.test(text) || !Number.isSafeInteger(Number(text))) throw new Refused(`${what} is no number`);
  return Number(text);
}

/** A verifier key of the log or of a witness, as signed-note writes it; its id is checked. @param {string} text @returns {VerifierKey} */
export function readKey(text) {
  const [name = "", id = "", ...rest] = text.split("+");
  if (!rest.length || !NAME.test(name)) throw new KeyRefused(`${shown(text)} is no verifier key`);
  const material = decode(rest.join("+"), "the verifier key");
  const kind = material[0] ?? 0;
  if (material.length !== 33 || ![ED25519, COSIGNATURE].includes(kind)) {
    throw new KeyRefused(`${shown(name)} is no verifier key of Ed25519`);
  }
  const keyId = keyIdOf(name, material);
  if (toHex(keyId) !== id) throw new KeyRefused(`the id of ${shown(name)} is not that of its key`);
  return { name, kind, publicKey: material.slice(1), keyId, text };
}

/** The same key under another name of the log, which is part of what a verifier key is. @param {VerifierKey} key @param {string} name @returns {VerifierKey} */
export function renamed({ kind, publicKey }, name) {
  const material = joined(Uint8Array.of(kind), publicKey);
  const keyId = keyIdOf(name, material);
  return { name, kind, publicKey, keyId, text: `${name}+${toHex(keyId)}+${toBase64(material)}` };
}

/** What `/log/key` says, newest first. @param {string} text @returns {VerifierKey[]} */
export function readKeys(text) {
  const keys = text.split("\n").filter(Boolean).map(readKey);
  if (!keys.length || keys.some(({ kind }) => kind !== ED25519)) throw new Refused("the service names no key of its log");
  return keys;
}

/** Hashes, one a line. @param {string[]} lines @returns {Bytes[]} */
export function readHashes(lines) {
  const hashes = lines.map((line) => decode(line, "a hash of the proof"));
  if (hashes.length > MAX_HASHES || hashes.some(({ length }) => length !== HASH_BYTES)) {
    throw new Refused("the proof has too many hashes, or one that is no SHA-256");
  }
  return hashes;
}

/** The text that was signed, and who is said to have signed it. @param {string} note @returns {{text: string, lines: Line[]}} */
function split(note) {
  if (note.length > MAX_BYTES || utf8(note).length > MAX_BYTES) throw new Refused("the note is too long");
  if (FORBIDDEN.test(note)) throw new Refused("the note holds a control character");
  const at = note.lastIndexOf("\n\n");
  if (at < 0 || !note.endsWith("\n") || at + 2 >= note.length) {
    throw new Refused("this is no signed note: it has no signatures under an empty line");
  }
  const lines = note.slice(at + 2, -1).split("\n").map(lineOf);
  if (lines.length > MAX_SIGNATURES) throw new Refused("the note has too many signatures");
  return { text: note.slice(0, at + 1), lines };
}

/** @param {string} line @returns {Line} */
function lineOf(line) {
  const [dash, name = "", encoded = "", ...more] = line.split(" ");
  if (dash !== "\u2014" || !NAME.test(name) || more.length) throw new Refused("the note has a line under its text that is no signature");
  const raw = decode(encoded, "a signature");
  if (raw.length < 5) throw new Refused("a signature of the note is too short");
  return { name, raw };
}

/** @param {VerifierKey} key @param {Line[]} lines @returns {Bytes | null} */
function by(key, lines) {
  const found = lines.find(({ name, raw }) => name === key.name && same(raw.subarray(0, 4), key.keyId));
  return found ? found.raw.slice(4) : null;
}

/** @param {VerifierKey} key @param {Bytes} signature @param {string} text */
async function check(key, signature, text) {
  let holds = false;
  try {
    const imported = await crypto.subtle.importKey("raw", key.publicKey, "Ed25519", false, ["verify"]);
    holds = await crypto.subtle.verify("Ed25519", imported, signature, utf8(text));
  } catch {
    // a key that is no point of the curve verifies nothing
  }
  if (!holds) throw new Refused(`the signature of ${key.name} does not hold`, "signature");
}

/**
 * Those of these keys that signed a note; Refused where a signature under one of them does not hold.
 * @param {string} note @param {VerifierKey[]} keys @returns {Promise<VerifierKey[]>}
 */
export async function signers(note, keys) {
  const { text, lines } = split(note);
  const found = [];
  for (const key of keys) {
    const signature = key.kind === ED25519 ? by(key, lines) : null;
    if (!signature) continue;
    await check(key, signature, text);
    found.push(key);
  }
  return found;
}

/** The name of the log that a note is of, by its first line; nothing of it is checked. @param {string} note @returns {string} */
export const originOf = (note) => split(note).text.split("\n")[0] ?? "";

/** The keys by which a note is said to be signed in its log's own name, in hexadecimal; nothing of it is checked. @param {string} note */
export const keyIds = (note) =>
  split(note).lines.flatMap(({ name, raw }) => (name === originOf(note) ? toHex(raw.subarray(0, 4)) : []));

/**
 * Whether somebody signed in the log's own name with a key that is none of these; nothing of it is checked.
 * @param {Checkpoint} checkpoint @param {VerifierKey[]} keys
 */
export function hasOtherSigner({ note, origin }, keys) {
  const isKnown = (/** @type {Uint8Array} */ raw) => keys.some(({ keyId }) => same(keyId, raw.subarray(0, 4)));
  return split(note).lines.some(({ name, raw }) => name === origin && !isKnown(raw));
}

/** @param {VerifierKey} witness @param {Line[]} lines @param {string} text @returns {Promise<Cosignature | null>} */
async function cosignature(witness, lines, text) {
  const stamped = witness.kind === COSIGNATURE ? by(witness, lines) : null;
  if (!stamped) return null;
  const at = stamped.length === 72 ? Number(new DataView(stamped.buffer).getBigUint64(0)) : 0;
  if (!Number.isSafeInteger(at) || at <= 0) throw new Refused(`${witness.name} cosigned at no time`, "signature");
  await check(witness, stamped.slice(8), `cosignature/v1\ntime ${at}\n${text}`);
  return { witness: witness.name, at };
}

/**
 * A checkpoint that one of the log's keys signed, with the cosignatures of known witnesses; its origin is the key's name.
 * By `anyone`, none of them need have: only its consistency with a signed one says that it is the log's.
 * @param {string} note @param {VerifierKey[]} keys @param {VerifierKey[]} [witnesses] @param {{anyone?: boolean}} [by]
 * @returns {Promise<Checkpoint>}
 */
export async function readCheckpoint(note, keys, witnesses = [], { anyone = false } = {}) {
  const { text, lines } = split(note);
  const signed = await signers(note, keys);
  if (!signed.length && !anyone) throw new Refused("no key of the log signed this checkpoint", "signature");
  const [origin = "", size = "", root = "", ...rest] = text.split("\n");
  if (rest.length !== 1 || rest[0] !== "") throw new Refused("this is no checkpoint: it does not have three lines");
  if (signed.some(({ name }) => name !== origin)) throw new Refused(`the checkpoint is of another log, ${shown(origin)}`, "origin");
  const digest = decode(root, "the checkpoint's root");
  if (digest.length !== HASH_BYTES) throw new Refused("the checkpoint's root is no SHA-256", "root");
  const read = await Promise.all(witnesses.map((witness) => cosignature(witness, lines, text)));
  const cosignatures = read.filter((each) => each !== null);
  return { origin, size: numberOf(size, "the checkpoint's size"), root: digest, note, cosignatures };
}

/**
 * A tlog-proof; whether it holds for an entry, `checkProof` says.
 * @param {string} text @param {VerifierKey[]} keys @param {VerifierKey[]} [witnesses] @param {{anyone?: boolean}} [by]
 * @returns {Promise<Proof>}
 */
export async function readProof(text, keys, witnesses = [], by = {}) {
  const at = text.indexOf("\n\n");
  const lines = text.slice(0, Math.max(at, 0)).split("\n");
  if (at < 0 || lines.shift() !== PROOF_HEADER) throw new Refused(`this is no proof: it does not begin with ${PROOF_HEADER}`);
  if (lines[0]?.startsWith("extra ")) decode(lines.shift()?.slice(6) ?? "", "the proof's extra data");
  const index = lines.shift() ?? "";
  if (!index.startsWith("index ")) throw new Refused("the proof does not say the number of its leaf");
  const hashes = readHashes(lines);
  const checkpoint = await readCheckpoint(text.slice(at + 2), keys, witnesses, by);
  return { index: numberOf(index.slice(6), "the proof's index"), hashes, checkpoint };
}

/** Whether the leaf of a proof is this entry. @param {Proof} proof @param {Uint8Array} entry */
export const proves = ({ index, hashes, checkpoint }, entry) => includes(entry, index, checkpoint.size, hashes, checkpoint.root);

/** Refuse unless it is. @param {Proof} proof @param {Uint8Array} entry */
export function checkProof(proof, entry) {
  if (!proves(proof, entry)) throw new Refused("the proof does not hold: the log does not have this entry there", "proof");
}

/**
 * The witnesses whose cosignature is missing, where fewer cosigned than must (all, unless `quorum` says).
 * @param {Checkpoint} checkpoint @param {VerifierKey[]} witnesses @param {number | null} quorum @returns {string[]}
 */
export function missing({ cosignatures }, witnesses, quorum) {
  const seen = new Set(cosignatures.map(({ witness }) => witness));
  const absent = witnesses.map(({ name }) => name).filter((name) => !seen.has(name));
  return seen.size < (quorum ?? witnesses.length) ? absent : [];
}
