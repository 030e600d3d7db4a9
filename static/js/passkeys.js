// @ts-check
// The account's forms that a passkey answers: the device makes or uses one, and the form carries its answer to the server.

import { fromBase64url, toBase64url } from "./formats/bytes.js";
import { unreadableSecret } from "./formats/wrappers.js";
import { all, busy, entry, find, pageData, toast } from "./page.js";
import { carry } from "./vault/keyring.js";
import { credential, PRF_INPUT, prfOutput } from "./vault/passkey.js";

const octets = (/** @type {string} */ text) => fromBase64url(text) ?? new Uint8Array();
const text = (/** @type {ArrayBuffer | null} */ given) => (given ? toBase64url(new Uint8Array(given)) : null);
const named = (/** @type {any[]} */ credentials = []) => credentials.map((one) => ({ ...one, id: octets(one.id) }));

/**
 * What the server checks of it, with octets in base64url. What an extension gave is named one by one: the PRF output stays here.
 * @param {any} given @param {Record<string, unknown>} response @param {Record<string, unknown>} [extensions]
 */
const forServer = (given, response, extensions = {}) => ({
  id: text(given.rawId),
  rawId: text(given.rawId),
  type: given.type,
  authenticatorAttachment: given.authenticatorAttachment ?? null,
  response: { clientDataJSON: text(given.response.clientDataJSON), ...response },
  clientExtensionResults: extensions,
});

/**
 * Makes the passkey that signs in. It is asked for the PRF extension too, since a device may give the output only to
 * passkeys that were made with it; where `unlocks`, for the output as well.
 * @param {{publicKey: any}} options as the server made them, with octets in base64url
 * @returns {Promise<{answer: Record<string, unknown>, credentialId: string, secret: Uint8Array<ArrayBuffer> | null}>} as of
 *   `useSignInPasskey`; many devices give no secret before the passkey is used
 */
async function createSignInPasskey({ publicKey }, { unlocks = false } = {}) {
  const given = await credential(() =>
    navigator.credentials.create({
      publicKey: {
        ...publicKey,
        challenge: octets(publicKey.challenge),
        user: { ...publicKey.user, id: octets(publicKey.user.id) },
        excludeCredentials: named(publicKey.excludeCredentials),
        extensions: { ...publicKey.extensions, prf: unlocks ? { eval: { first: PRF_INPUT } } : {} },
      },
    }),
  );
  const { credProps } = given.getClientExtensionResults();
  const response = { attestationObject: text(given.response.attestationObject), transports: given.response.getTransports?.() ?? [] };
  const answer = forServer(given, response, credProps ? { credProps } : {});
  return { answer, credentialId: toBase64url(new Uint8Array(given.rawId)), secret: prfOutput(given) };
}

/**
 * Signs in or confirms with a passkey; where `unlocks`, what opens the vault comes from the same ceremony.
 * @param {{publicKey: any}} options as the server made them, with octets in base64url
 * @returns {Promise<{answer: Record<string, unknown>, credentialId: string, secret: Uint8Array<ArrayBuffer> | null}>} `answer`
 *   is what the server checks; `secret` is null where this passkey gives none
 */
async function useSignInPasskey({ publicKey }, { unlocks = false } = {}) {
  const extensions = unlocks ? { prf: { eval: { first: PRF_INPUT } } } : {};
  const requestOptions = { ...publicKey, challenge: octets(publicKey.challenge), allowCredentials: named(publicKey.allowCredentials), extensions };
  const given = await credential(() => navigator.credentials.get({ publicKey: requestOptions }));
  const { authenticatorData, signature, userHandle } = given.response;
  const response = { authenticatorData: text(authenticatorData), signature: text(signature), userHandle: text(userHandle) };
  return { answer: forServer(given, response), credentialId: toBase64url(new Uint8Array(given.rawId)), secret: prfOutput(given) };
}

/** @type {Record<string, (form: HTMLFormElement) => Promise<unknown>>} by what the button is for */
const CEREMONIES = {
  create: async () => handOn(await createSignInPasskey(pageData("js_data").creation_options, { unlocks: true }), { forNewVault: true }),
  add: async (form) => (await createSignInPasskey(chosen(pageData("js_data").creation_options, form))).answer,
  confirm: async () => (await useSignInPasskey(pageData("js_data").request_options)).answer,
  login: signIn,
};

/** Signing in unlocks, too, where this passkey is a way to unlock: the page that comes next is given what opens the vault. @param {HTMLFormElement} form */
async function signIn(form) {
  const response = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the sign-in answered ${response.status}`);
  return handOn(await useSignInPasskey((await response.json()).request_options, { unlocks: true }));
}

/** What the passkey gave beside its answer stays in this browser. @param {Awaited<ReturnType<typeof useSignInPasskey>>} given @param {{forNewVault?: boolean}} [how] */
async function handOn({ answer, credentialId, secret }, how) {
  if (secret) {
    const key = await unreadableSecret(secret).finally(() => secret.fill(0));
    await carry(credentialId, key, how).catch(() => undefined); // then the vault stays locked, and a new one asks once more
  }
  return answer;
}

/** Whether it is to sign in alone is the person's choice. @param {any} options @param {HTMLFormElement} form */
function chosen({ publicKey }, form) {
  const alone = /** @type {HTMLInputElement} */ (find("input[name=passwordless]", form)).checked;
  const selection = { ...publicKey.authenticatorSelection, residentKey: alone ? "required" : "discouraged", requireResidentKey: alone };
  if (alone) selection.userVerification = "required";
  return { publicKey: { ...publicKey, authenticatorSelection: selection } };
}

/** @param {HTMLButtonElement} button */
async function answer(button) {
  const form = /** @type {HTMLFormElement} */ (button.form);
  try {
    const given = await entry(CEREMONIES, button.dataset.passkey ?? "")(form);
    /** @type {HTMLInputElement} */ (find("input[name=credential]", form)).value = JSON.stringify(given);
    form.submit();
  } catch {
    toast(document.body.dataset.passkeyFailed ?? "", "warn"); // they cancelled, or the device or the server refused
  }
}

for (const button of /** @type {HTMLButtonElement[]} */ (all("[data-passkey]"))) {
  button.addEventListener("click", () => void busy(button, () => answer(button)));
  button.disabled = false;
}
