// @ts-check
// On the account's pages: what is entered as the sign-in password is noted, so that no passphrase becomes the same.

import { rememberPassword } from "./password.js";
import { forgetPassword } from "./vault/device.js";

const PASSWORD = "input[type=password][name=password], input[type=password][name=password1]";

// Where nobody is signed in, whoever comes next begins anew.
if (!document.documentElement.dataset.userId) forgetPassword();
for (const form of document.forms) {
  const field = /** @type {HTMLInputElement | null} */ (form.querySelector(PASSWORD));
  if (field) watch(form, field);
}

/** @param {HTMLFormElement} form @param {HTMLInputElement} field */
function watch(form, field) {
  let noted = false;
  form.addEventListener("submit", async (event) => {
    if (noted) return;
    event.preventDefault();
    const { submitter } = event;
    try {
      await rememberPassword(field.value);
    } catch {
      // without storage or cryptography there is nothing to compare with later, and signing in goes on
    }
    noted = true;
    form.requestSubmit(submitter);
  });
  addEventListener("pageshow", () => { noted = false; }); // the page as it was, reached by going back
}
