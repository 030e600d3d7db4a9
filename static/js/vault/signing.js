// @ts-check
// What this vault signed before.

import { utf8 } from "../formats/bytes.js";
import { appKey } from "../formats/signing.js";

/** @typedef {import("../formats/signing.js").Root} Root */

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
