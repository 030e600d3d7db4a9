// @ts-check
// The sharing page: whoever comes here with an unlocked vault brings copies that are kept up to date up to date.

import { renewCopies } from "./copies.js";
import { gettext } from "./i18n.js";
import { changes, isUnlocked } from "./vault/vault.js";

async function renew() {
  for (const grant of await renewCopies()) {
    const place = document.getElementById(grant)?.querySelector("[data-sealed]");
    if (place) place.textContent = gettext("Sealed just now");
  }
}

changes.addEventListener("unlocked", () => void renew());
if (await isUnlocked()) void renew();
