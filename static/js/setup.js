// @ts-check
// The first two steps: a passphrase or a passkey, and the recovery code that must be written down before anything is made.

import { gettext } from "./i18n.js";
import { all, find, onSubmit, pageData } from "./page.js";
import { passphraseFields } from "./passphrase.js";
import { showRecoveryCode } from "./recovery.js";
import { warnOfOlder } from "./remembered.js";
import { ApiError, createVault, passkeysSupported } from "./vault/vault.js";

const passphrase = passphraseFields(pageData("known"));
const forms = { passphrase: find("#passphrase-form"), passkey: find("#passkey-form"), confirm: find("#confirm-form") };

const knowsOfOlder = warnOfOlder(document);

/** @type {Awaited<ReturnType<typeof createVault>> | null} */
let made = null;
/** @type {ReturnType<typeof showRecoveryCode> | null} */
let shown = null;

const labels = { passphrase: gettext("Passphrase"), passkey: gettext("Passkey"), recovery: gettext("Recovery code") };

/** @param {Awaited<ReturnType<typeof createVault>>} vault */
function goOn(vault) {
  made = vault;
  passphrase.clear();
  shown = showRecoveryCode(made.recoveryCode);
  find("#step-passphrase").hidden = true;
  find("#step-recovery").hidden = false;
  all("#setup-steps .step").forEach((step, index) => {
    step.dataset.state = index === 0 ? "done" : index === 1 ? "current" : "todo";
    if (index === 1) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  });
  scrollTo(0, 0);
  find("#step-recovery h1").focus();
}

onSubmit(forms.passphrase, async () => goOn(await createVault({ passphrase: await passphrase.checked(), labels, knowsOfOlder: knowsOfOlder() })));
if (passkeysSupported()) {
  onSubmit(forms.passkey, async () => goOn(await createVault({ person: pageData("person"), labels, knowsOfOlder: knowsOfOlder() })));
  forms.passkey.hidden = false;
}

/** What was written down is still good where a long pause asks for a sign-in: that opens beside this page. */
async function confirmVault() {
  try {
    await made?.confirm();
  } catch (error) {
    if (error instanceof ApiError && error.code === "reauthentication_required") dispatchEvent(new CustomEvent("interrupted", { detail: "beside" }));
    throw error;
  }
}

onSubmit(forms.confirm, async () => {
  const typed = /** @type {HTMLInputElement} */ (find("#confirm-group")).value;
  if (!shown?.matches(typed)) throw new RangeError(gettext("That is not this group. Look at what you wrote down."));
  await confirmVault();
  shown.forget();
  made = null;
  location.assign(find("#setup").dataset.next ?? "/vault/");
});

// Until it is confirmed, nothing was made: leaving would mean starting again.
addEventListener("beforeunload", (event) => {
  if (made) event.preventDefault();
});
