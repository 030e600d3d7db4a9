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
const PRF_INPUT = utf8("consent-vault-passkey");
const TIMEOUT = 120000;

/** @returns {boolean} */
export const passkeysSupported = () => typeof globalThis.PublicKeyCredential === "function" && !!navigator.credentials;

/** @param {() => Promise<Credential | null>} ask @returns {Promise<any>} */
async function credential(ask) {
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
function prfOutput(given) {
  const first = given.getClientExtensionResults().prf?.results?.first;
  const octets = first ? new Uint8Array(first) : null;
  return octets?.length === 32 ? octets : null;
}

const noPrf = () =>
  new PasskeyError("no_prf", "This passkey cannot unlock a vault. Another device or browser may be able to.");

/**
 * Makes the passkey that signs in. It is asked for the PRF extension too, since a device may give the output only to
 * passkeys that were made with it; the output itself is not asked for here.
 * @param {{publicKey: any}} options as the server made them, with octets in base64url
 * @returns {Promise<Record<string, unknown>>} what the server checks, with octets in base64url
 */
export async function createSignInPasskey({ publicKey }) {
  const octets = (/** @type {string} */ text) => fromBase64url(text) ?? new Uint8Array();
  const given = await credential(() =>
    navigator.credentials.create({
      publicKey: {
        ...publicKey,
        challenge: octets(publicKey.challenge),
        user: { ...publicKey.user, id: octets(publicKey.user.id) },
        excludeCredentials: (publicKey.excludeCredentials ?? []).map((/** @type {any} */ one) => ({ ...one, id: octets(one.id) })),
        extensions: { ...publicKey.extensions, prf: {} },
      },
    }),
  );
  const { credProps } = given.getClientExtensionResults();
  const rawId = toBase64url(new Uint8Array(given.rawId));
  return {
    id: rawId,
    rawId,
    type: given.type,
    authenticatorAttachment: given.authenticatorAttachment ?? null,
    response: {
      clientDataJSON: toBase64url(new Uint8Array(given.response.clientDataJSON)),
      attestationObject: toBase64url(new Uint8Array(given.response.attestationObject)),
      transports: given.response.getTransports?.() ?? [],
    },
    clientExtensionResults: credProps ? { credProps } : {},
  };
}

/**
 * A passkey for the vault: one that signs in where it can open the vault as well, else a new one for the vault alone.
 * Nothing is signed in with that, so nobody checks the challenge.
 * @param {{name: string, displayName: string, signIn?: string[]}} person names shown by the device; `signIn` the
 *   credential IDs of passkeys that may serve, base64url
 * @returns {Promise<{credentialId: string, secret: Uint8Array<ArrayBuffer>}>}
 */
export async function createPasskey({ name, displayName, signIn = [] }) {
  if (signIn.length) {
    try {
      return await usePasskey(signIn);
    } catch (error) {
      if (!(error instanceof PasskeyError && error.code === "no_prf")) throw error;
    }
  }
  const given = await credential(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: random(32),
        rp: { name: "Consent vault" },
        // A handle of its own: the same one as a sign-in passkey's would make some devices overwrite that one.
        user: { id: random(32), name, displayName },
        pubKeyCredParams: [
          { type: "public-key", alg: -8 },
          { type: "public-key", alg: -7 },
          { type: "public-key", alg: -257 },
        ],
        authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
        timeout: TIMEOUT,
        extensions: { prf: { eval: { first: PRF_INPUT } } },
      },
    }),
  );
  if (!given.getClientExtensionResults().prf?.enabled) throw noPrf();
  const credentialId = toBase64url(new Uint8Array(given.rawId));
  // Most devices give the output only when the passkey is used, not when it is made.
  const secret = prfOutput(given) ?? (await usePasskey([credentialId])).secret;
  return { credentialId, secret };
}

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
