// @ts-check
// What the vault signs: the root that lies sealed in it, the key of each app that comes of the root, and the approvals
// that these sign. Whoever has a session but not the vault key can sign nothing.

import { calculateJwkThumbprint } from "../../vendor/jose.js";
import { random, toBase64url, utf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { open, seal } from "./compact.js";

/** @typedef {import("./types.js").ExportMembers} ExportMembers */
/** @typedef {import("./types.js").Keys} Keys */
/** @typedef {import("./types.js").PublicKey} PublicKey */
/** @typedef {import("./types.js").Signed} Signed */
/** @typedef {{privateKey: CryptoKey, jwk: PublicKey, kid: string}} SigningKey */
/** @typedef {Uint8Array<ArrayBuffer>} Root 32 octets, which leave this module sealed only */

const ROOT_LENGTH = 32;
/** What stands before the 32 octets of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Uint8Array.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]);

/** @returns {Root} */
export const newRoot = () => random(ROOT_LENGTH);

/**
 * The two members that tell the server of a root.
 * @param {Root} root
 * @param {{userId: string, keyId: string, key: CryptoKey}} vault
 * @returns {Promise<{signing_public_key: PublicKey, signing_jwe: string}>}
 */
export async function rootMembers(root, { userId, keyId, key }) {
  const { jwk } = await rootKey(root);
  return { signing_public_key: jwk, signing_jwe: await seal("root", { kid: keyId, sub: userId }, root, key) };
}

/**
 * The root that the vault holds, once its public half is the one that the server names.
 * @param {Pick<Keys, "signing_jwe" | "signing_public_key">} keys
 * @param {{userId: string, keyId: string, key: CryptoKey}} vault
 * @returns {Promise<Root | null>} null where there is none yet
 * @throws {Refused} reason signing_key, where somebody changed it on the server
 */
export async function openRoot({ signing_jwe, signing_public_key }, { userId, keyId, key }) {
  if (!signing_jwe) return null;
  const { plaintext } = await open("root", signing_jwe, key, { kid: keyId, sub: userId });
  const root = /** @type {Root} */ (plaintext);
  if (root.length !== ROOT_LENGTH) throw new Refused("the approval root is not 32 octets", null, "plaintext");
  const { jwk } = await rootKey(root);
  if (signing_public_key?.x !== jwk.x) {
    throw new Refused("the server names another approval key than your vault's", "signing_public_key", "signing_key");
  }
  return root;
}

/** @param {Root} root */
export const rootKey = (root) => derived(root, utf8("consent-approval-root"));

/** No two apps share one. @param {Root} root @param {string} issuer @param {string} appId */
export const appKey = (root, issuer, appId) => derived(root, utf8(`consent-approval-app\0${issuer}\0${appId}`));

/** @param {Root} root @param {Uint8Array<ArrayBuffer>} info @returns {Promise<SigningKey>} */
async function derived(root, info) {
  const source = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const salt = new Uint8Array(0);
  const seed = new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, source, 256));
  const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
  try {
    // only a key that can be read tells its public half
    const readable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", readable);
    const jwk = { kty: "OKP", crv: "Ed25519", x: String(x) }; // exactly these: WebCrypto adds alg, key_ops and ext
    const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
    return { privateKey, jwk, kid: await calculateJwkThumbprint(jwk, "sha256") };
  } finally {
    seed.fill(0);
    pkcs8.fill(0);
  }
}

/** @param {unknown} value */
const encoded = (value) => toBase64url(utf8(JSON.stringify(value)));

/** @param {SigningKey} key @param {string} typ @param {string} payload base64url @returns {Promise<[string, string]>} header and signature */
async function signature({ privateKey, kid }, typ, payload) {
  const header = encoded({ alg: "EdDSA", typ, kid });
  const octets = new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, utf8(`${header}.${payload}`)));
  return [header, toBase64url(octets)];
}

/** @param {SigningKey} key @param {string} typ @param {Record<string, unknown>} claims @returns {Promise<string>} compact JWS */
async function sign(key, typ, claims) {
  const payload = encoded(claims);
  const [header, signed] = await signature(key, typ, payload);
  return `${header}.${payload}.${signed}`;
}

const now = () => Math.floor(Date.now() / 1000);

/** @param {string} text ASCII @returns {Promise<string>} base64url SHA-256 */
const sha256 = async (text) => toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));

/** @param {Root} root @param {{iss: string, sub: string, aud: string}} names @param {(key: SigningKey) => Promise<string>} what @returns {Promise<Signed>} */
async function signed(root, { iss, sub, aud }, what) {
  const [key, certifier] = await Promise.all([appKey(root, iss, aud), rootKey(root)]);
  const [approval, certificate] = await Promise.all([
    what(key),
    sign(certifier, "approval-key+jwt", { iss, sub, aud, jwk: key.jwk, iat: now() }),
  ]);
  return { approval, approval_key: key.jwk, approval_key_certificate: certificate };
}

/**
 * @param {Root} root
 * @param {ExportMembers} members the export's own
 * @param {{attributes: string[], accessDuration: number, endsAt?: number, jwe: string}} what without `endsAt` it is the first
 *   revision, which sets the end
 * @returns {Promise<Signed>} the three members of a decision or of a newer revision
 */
export async function signApproval(root, { iss, sub, aud, request_id, request_digest, revision }, { attributes, accessDuration, endsAt, jwe }) {
  const iat = now();
  const claims = {
    iss,
    sub,
    aud,
    iat,
    ends_at: endsAt ?? iat + accessDuration,
    request_id,
    request_digest,
    revision,
    access_duration: accessDuration,
    approved_attributes: [...attributes].sort(),
    export_sha256: await sha256(jwe),
  };
  return signed(root, { iss, sub, aud }, (key) => sign(key, "consent-approval+jwt", claims));
}

/**
 * Letting a paused grant go on opens reading again.
 * @param {Root} root
 * @param {{iss: string, sub: string, aud: string, grant_id: string, request_digest: string, nonce: string}} names
 * @returns {Promise<Signed>}
 */
export const signResumption = (root, names) =>
  signed(root, names, (key) => sign(key, "consent-resume+jwt", { ...names, iat: now() }));

/**
 * What lets a new root take the place of the old one: a step for the root itself, then one for each app, signed by both.
 * @param {Root} old @param {Root} next
 * @param {{iss: string, sub: string}} names
 * @param {number} seq of the root's step
 * @param {{app_id: string, seq: number}[]} apps how many steps each app knows
 */
export async function signRotation(old, next, { iss, sub }, seq, apps) {
  const steps = [
    step(await rootKey(old), await rootKey(next), { iss, sub, aud: iss, seq }),
    ...apps.map(async ({ app_id, seq: known }) =>
      step(await appKey(old, iss, app_id), await appKey(next, iss, app_id), { iss, sub, aud: app_id, seq: known + 1 }),
    ),
  ];
  return Promise.all(steps);
}

/** @param {SigningKey} old @param {SigningKey} next @param {{iss: string, sub: string, aud: string, seq: number}} names */
async function step(old, next, names) {
  const payload = encoded({ ...names, old: old.jwk, new: next.jwk, iat: now() });
  const both = await Promise.all([old, next].map((key) => signature(key, "approval-key-rotation+jwt", payload)));
  return { payload, signatures: both.map(([header, octets]) => ({ protected: header, signature: octets })) };
}

/**
 * What this vault signed before, of which a newer revision repeats the end; null where another key signed it.
 * @param {Root} root @param {string} issuer @param {string} appId @param {string} jws
 * @returns {Promise<{ends_at: number, access_duration: number, request_digest: string} | null>}
 */
export async function ownApproval(root, issuer, appId, jws) {
  const { jwk } = await appKey(root, issuer, appId);
  const key = await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]);
  const [header = "", payload = "", octets = ""] = jws.split(".");
  const good = await crypto.subtle.verify("Ed25519", key, decoded(octets), utf8(`${header}.${payload}`));
  return good ? JSON.parse(new TextDecoder().decode(decoded(payload))) : null;
}

/** @param {string} text base64url @returns {Uint8Array<ArrayBuffer>} */
const decoded = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
