// @ts-check
// Whoever approves signs: the root that a vault holds, the key of each app that comes of it, and what these say.

import { utf8 } from "./formats/bytes.js";
import { sha256, sign, signingKey } from "./signatures.js";

/** @typedef {import("./signatures.js").SigningKey} SigningKey */
/** @typedef {Uint8Array} Root 32 octets */

const { subtle } = globalThis.crypto;
const now = () => Math.floor(Date.now() / 1000);

/** @returns {Root} */
export const newRoot = () => crypto.getRandomValues(new Uint8Array(32));

/** @param {Root} root @param {string} info @returns {Promise<SigningKey>} */
async function derived(root, info) {
  const source = await subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: utf8(info) };
  return signingKey(new Uint8Array(await subtle.deriveBits(derivation, source, 256)));
}

/** The root key, which certifies the keys of the apps and which the service knows. @param {Root} root */
export const rootKey = (root) => derived(root, "consent-approval-root");

/** The key of one app: no two of them share one. @param {Root} root @param {string} issuer @param {string} appId */
export const appKey = (root, issuer, appId) => derived(root, `consent-approval-app\0${issuer}\0${appId}`);

/** @param {Root} root @param {{iss: string, sub: string, aud: string}} names @param {string} typ @param {Record<string, unknown>} claims */
async function signed(root, { iss, sub, aud }, typ, claims) {
  const [key, certifier] = [await appKey(root, iss, aud), await rootKey(root)];
  return {
    approval: await sign(key, typ, claims),
    approval_key: key.jwk,
    approval_key_certificate: await sign(certifier, "approval-key+jwt", { iss, sub, aud, jwk: key.jwk, iat: now() }),
  };
}

/**
 * The three members of an approval; `members` are the export's own.
 * @param {Root} root @param {import("./index.js").ExportHeader} members
 * @param {{attributes: string[], accessDuration: number, jwe: string}} what
 */
export async function signApproval(root, { iss, sub, aud, request_id, request_digest, revision }, { attributes, accessDuration, jwe }) {
  const iat = now();
  return signed(root, { iss, sub, aud }, "consent-approval+jwt", {
    iss,
    sub,
    aud,
    iat,
    ends_at: iat + accessDuration,
    request_id,
    request_digest,
    revision,
    access_duration: accessDuration,
    approved_attributes: [...attributes].sort(),
    export_sha256: sha256(jwe),
  });
}

/**
 * The same of letting a paused grant go on; `nonce` is the service's, good once.
 * @param {Root} root @param {{iss: string, sub: string, aud: string, grant_id: string, request_digest: string, nonce: string}} names
 */
export const signResumption = (root, names) => signed(root, names, "consent-resume+jwt", { ...names, iat: now() });
