// @ts-check
// Whoever approves signs: the root that a vault holds, the key of each app that comes of it, and what these say. Whoever has a
// session but not the vault key can sign nothing.

import { random, toBase64url, utf8 } from "./bytes.js";
import { sign, signByAll, signingKey } from "./jws.js";

/** @typedef {import("./jws.js").General} General */
/** @typedef {import("./jws.js").OwnerKey} OwnerKey */
/** @typedef {import("./jws.js").SigningKey} SigningKey */
/** @typedef {Uint8Array<ArrayBuffer>} Root 32 octets, which leave a process sealed only */
/** @typedef {{approval: string, approval_key: OwnerKey, approval_key_certificate: string}} Signed */
/** @typedef {{iss: string, sub: string, aud: string, request_id: string, request_digest: string, revision: number}} ApprovalNames the export's own */

export const ROOT_LENGTH = 32;

const now = () => Math.floor(Date.now() / 1000);

/** @returns {Root} */
export const newRoot = () => random(ROOT_LENGTH);

/** @param {Root} root @param {string} info @returns {Promise<SigningKey>} */
async function derived(root, info) {
  const source = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: utf8(info) };
  return signingKey(new Uint8Array(await crypto.subtle.deriveBits(derivation, source, 256)));
}

/** The root key, which certifies the keys of the apps and which the service knows. @param {Root} root */
export const rootKey = (root) => derived(root, "consent-approval-root");

/** The key of one app: no two of them share one. @param {Root} root @param {string} issuer @param {string} appId */
export const appKey = (root, issuer, appId) => derived(root, `consent-approval-app\0${issuer}\0${appId}`);

/** The hash of a sealed text, which may have megabytes, by WebCrypto. @param {string} text ASCII @returns {Promise<string>} base64url */
export const sealedDigest = async (text) => toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));

/** @param {Root} root @param {{iss: string, sub: string, aud: string}} names @param {string} typ @param {Record<string, unknown>} claims @returns {Promise<Signed>} */
async function signed(root, { iss, sub, aud }, typ, claims) {
  const [key, certifier] = await Promise.all([appKey(root, iss, aud), rootKey(root)]);
  const [approval, certificate] = await Promise.all([
    sign(key, typ, claims),
    sign(certifier, "approval-key+jwt", { iss, sub, aud, jwk: key.jwk, iat: now() }),
  ]);
  return { approval, approval_key: key.jwk, approval_key_certificate: certificate };
}

/**
 * The three members of a decision or of a newer revision.
 * @param {Root} root @param {ApprovalNames} members
 * @param {{attributes: string[], accessDuration: number, endsAt?: number, jwe: string}} what without `endsAt` it is the first
 *   revision, which sets the end
 * @returns {Promise<Signed>}
 */
export async function signApproval(root, { iss, sub, aud, request_id, request_digest, revision }, { attributes, accessDuration, endsAt, jwe }) {
  const iat = now();
  return signed(root, { iss, sub, aud }, "consent-approval+jwt", {
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
    export_sha256: await sealedDigest(jwe),
  });
}

/**
 * The same of letting a paused grant go on, which opens reading again; `nonce` is the service's, good once.
 * @param {Root} root @param {{iss: string, sub: string, aud: string, grant_id: string, request_digest: string, nonce: string}} names
 */
export const signResumption = (root, names) => signed(root, names, "consent-resume+jwt", { ...names, iat: now() });

/**
 * What lets a new root take the place of the old one: a step for the root itself, then one for each app, signed by both.
 * @param {Root} old @param {Root} next
 * @param {{iss: string, sub: string}} names `sub` is the person's own ID, which the root's step alone has
 * @param {number} seq of the root's step
 * @param {{app_id: string, user_id: string, seq: number}[]} apps what each calls the person, and how many steps it knows
 * @returns {Promise<General[]>}
 */
export async function signRotation(old, next, { iss, sub }, seq, apps) {
  const steps = [
    step(await rootKey(old), await rootKey(next), { iss, sub, aud: iss, seq }),
    ...apps.map(async ({ app_id, user_id, seq: known }) =>
      step(await appKey(old, iss, app_id), await appKey(next, iss, app_id), { iss, sub: user_id, aud: app_id, seq: known + 1 }),
    ),
  ];
  return Promise.all(steps);
}

/** @param {SigningKey} old @param {SigningKey} next @param {{iss: string, sub: string, aud: string, seq: number}} names */
const step = (old, next, names) =>
  signByAll([old, next], "approval-key-rotation+jwt", { ...names, old: old.jwk, new: next.jwk, iat: now() });
