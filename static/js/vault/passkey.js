// @ts-check
// A passkey as a way to unlock: the WebAuthn PRF extension gives 32 octets that only this passkey can give. They never
// leave the page.

import { fromBase64url, random, toBase64url, utf8 } from "../formats/bytes.js";

/** `code` is unsupported (browser), no_prf (this passkey or its device), cancelled, or failed. */
export class PasskeyError extends Error {
  /** @param {string} code @param {string} detail @param {unknown} [cause] */
  constructor(code, detail, cause) {
    super(detail, { cause });
    this.name = "PasskeyError";
    this.code = code;
  }
}

// One input for everyone: the output differs for every passkey anyway, and each wrapper salts it once more.
export const PRF_INPUT = utf8("consent-vault-passkey");
export const TIMEOUT = 120000; // ms

/** @returns {boolean} */
export const passkeysSupported = () => typeof globalThis.PublicKeyCredential === "function" && !!navigator.credentials;

/** @param {() => Promise<Credential | null>} ask @returns {Promise<any>} */
export async function credential(ask) {
  if (!passkeysSupported())
    throw new PasskeyError("unsupported", "This browser has no passkeys. Use the passphrase instead.");
  let given;
  try {
    given = await ask();
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotAllowedError" || name === "AbortError")
      throw new PasskeyError("cancelled", "The passkey was not used.", error);
    if (name === "NotSupportedError")
      throw new PasskeyError("unsupported", "This device cannot make such a passkey.", error);
    throw new PasskeyError("failed", "The passkey could not be used here.", error);
  }
  if (!given) throw new PasskeyError("failed", "The passkey could not be used here.");
  return given;
}

/** Some authenticators say that they have an output and give nothing. @param {any} given @returns {Uint8Array<ArrayBuffer> | null} */
export function prfOutput(given) {
  const first = given.getClientExtensionResults().prf?.results?.first;
  const octets = first ? new Uint8Array(first) : null;
  return octets?.length === 32 ? octets : null;
}

export const noPrf = () =>
  new PasskeyError("no_prf", "This passkey cannot unlock a vault. Another device or browser may be able to.");

/**
 * @param {string[]} credentialIds base64url; the device offers the ones it has
 * @returns {Promise<{credentialId: string, secret: Uint8Array<ArrayBuffer>}>}
 */
export async function usePasskey(credentialIds) {
  const allowed = credentialIds.map(fromBase64url).filter((id) => id !== null);
  if (!allowed.length) throw new PasskeyError("failed", "No passkey was set up for this vault.");
  const given = await credential(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: random(32),
        allowCredentials: allowed.map((id) => ({ type: "public-key", id })),
        userVerification: "required",
        timeout: TIMEOUT,
        extensions: { prf: { eval: { first: PRF_INPUT } } },
      },
    }),
  );
  const secret = prfOutput(given);
  if (!secret) throw noPrf();
  return { credentialId: toBase64url(new Uint8Array(given.rawId)), secret };
}
