// @ts-check
// Signing up with a passkey alone: the device makes it, and the form carries it to the server.

import { busy, find, pageData } from "./page.js";
import { createSignInPasskey, PasskeyError } from "./vault/vault.js";

const button = /** @type {HTMLButtonElement} */ (find("#create-passkey"));
const form = /** @type {HTMLFormElement} */ (button.closest("form"));

button.addEventListener("click", () =>
  busy(button, async () => {
    try {
      const made = await createSignInPasskey(pageData("js_data").creation_options);
      /** @type {HTMLInputElement} */ (find("input[name=credential]", form)).value = JSON.stringify(made);
      form.submit();
    } catch (error) {
      if (!(error instanceof PasskeyError)) throw error;
      document.dispatchEvent(new CustomEvent("allauth.error", { cancelable: true })); // shell.js says so
    }
  }),
);
button.disabled = false;
