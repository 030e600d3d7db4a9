// @ts-check
// The approval root as it lies sealed in the vault, and what this vault signed with it before.

import { utf8 } from "../formats/bytes.js";
import { Refused } from "../formats/errors.js";
import { appKey, ROOT_LENGTH, rootKey } from "../formats/signing.js";
import { open, seal } from "./compact.js";

/** @typedef {import("./types.js").Keys} Keys */
/** @typedef {import("./types.js").PublicKey} PublicKey */
/** @typedef {import("../formats/signing.js").Root} Root */

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
