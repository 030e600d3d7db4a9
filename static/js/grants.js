// @ts-check
// The sharing page: whoever comes here with an unlocked vault refreshes the exports whose data changed.

import { gettext } from "./i18n.js";
import { refreshExports } from "./refresh.js";
import { changes, isUnlocked } from "./vault/vault.js";

async function refresh() {
  for (const grant of await refreshExports()) {
    const place = document.getElementById(grant)?.querySelector("[data-sealed]");
    if (place) place.textContent = gettext("Sealed just now");
  }
}

changes.addEventListener("unlocked", () => void refresh());
if (await isUnlocked()) void refresh();
