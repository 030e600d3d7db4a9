// @ts-check
// The sharing page: whoever comes here with an unlocked vault refreshes the exports whose data changed, and resumes what
// is paused. Stopping and pausing are plain forms: protection needs no key and no script.

import { gettext } from "./i18n.js";
import { all, busy, explain, find } from "./page.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { isUnlocked, resumeGrant } from "./vault/vault.js";

async function refresh() {
  for (const grant of await refreshExports()) {
    const place = document.getElementById(grant)?.querySelector("[data-sealed]");
    if (place) place.textContent = gettext("Sealed just now");
  }
}

/** @param {string} grantId */
async function resume(grantId) {
  const problem = find("#resume-problem");
  problem.hidden = true;
  try {
    if (!(await isUnlocked())) {
      const panel = find("#unlock-panel");
      panel.scrollIntoView({ block: "center" });
      /** @type {HTMLElement | null} */ (panel.querySelector("input"))?.focus({ preventScroll: true });
      return;
    }
    await resumeGrant(grantId);
    location.reload();
  } catch (error) {
    find("[data-text]", problem).textContent = explain(error);
    problem.hidden = false;
    problem.focus();
  }
}

for (const button of all("[data-resume]")) {
  button.addEventListener("click", () => void busy(button, () => resume(button.dataset.resume ?? "")));
}
void followLock({ opened: () => void refresh() });
