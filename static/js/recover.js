// @ts-check
// A forgotten passphrase: the recovery code or a passkey opens the data, then new secrets take the place of the old ones.

import { existingSecret } from "./existing_secret.js";
import { gettext } from "./i18n.js";
import { find, onSubmit, pageData } from "./page.js";
import { passphraseFields } from "./passphrase.js";
import { showRecoveryCode } from "./recovery.js";
import { prepareWays } from "./vault/vault.js";

const forms = { give: find("#recover-form"), confirm: find("#confirm-form") };
const existing = existingSecret();
const passphrase = passphraseFields(pageData("known"));
const forgotten = /** @type {HTMLSelectElement | null} */ (document.getElementById("forgotten"));
/** @type {(() => Promise<void>) | null} */
let finish = null;
/** @type {ReturnType<typeof showRecoveryCode> | null} */
let shown = null;

/** The code that was used goes too: it has been out of its drawer. */
async function prepare() {
  const proof = existing.given();
  const byCode = proof.kind === "recovery";
  const added = [{ kind: /** @type {const} */ ("passphrase"), label: gettext("Passphrase"), secret: await passphrase.checked() }];
  const code = { kind: /** @type {const} */ ("recovery"), label: gettext("Recovery code") };
  const ways = await prepareWays(proof, byCode ? [...added, code] : added);
  const replaced = [...(forgotten?.value ? [forgotten.value] : []), ...(byCode ? [ways.openedBy] : [])];
  finish = async () => {
    await ways.confirm(replaced);
    await ways.unlock();
    finish = null;
    location.assign(find("#recover").dataset.back ?? "/vault/");
  };
  if (ways.recoveryCode) showCode(ways.recoveryCode);
  else await finish();
}

/** @param {string} code */
function showCode(code) {
  existing.clear();
  passphrase.clear();
  shown = showRecoveryCode(code);
  find("#step-secrets").hidden = true;
  find("#step-code").hidden = false;
  scrollTo(0, 0);
  find("#step-code h2").focus();
}

onSubmit(forms.give, prepare);
onSubmit(forms.confirm, async () => {
  const typed = /** @type {HTMLInputElement} */ (find("#confirm-group")).value;
  if (!shown?.matches(typed)) throw new RangeError(gettext("That is not this group. Look at what you wrote down."));
  await finish?.();
  shown.forget();
});

// Until it is confirmed, nothing has changed: leaving would mean starting again.
addEventListener("beforeunload", (event) => {
  if (finish && shown) event.preventDefault();
});
