// @ts-check
// The sharing page: whoever comes here with an unlocked vault refreshes the exports whose data changed, and resumes what
// is paused. What the vault did not approve is shown, and sent only once the person approves it. Stopping and pausing are
// plain forms: protection needs no key and no script.

import { gettext, region } from "./i18n.js";
import { all, busy, explain, find, make, toast } from "./page.js";
import { refreshExports, unapprovedUpdate } from "./refresh.js";
import { followLock } from "./unlock.js";
import { humanised, inWords } from "./values.js";
import { isUnlocked, resumeGrant } from "./vault/vault.js";

/** @typedef {import("./refresh.js").Outdated} Outdated */

const dialog = /** @type {HTMLDialogElement} */ (find("#unapproved"));
/** @type {Map<string, Outdated>} */
const unapproved = new Map();

async function refresh() {
  const found = await refreshExports();
  for (const grantId of found.renewed) showRenewed(grantId);
  for (const grant of found.unapproved) {
    const card = document.getElementById(grant.grant_id);
    if (!card) continue; // on another page of the list
    unapproved.set(grant.grant_id, grant);
    find("[data-unapproved]", card).hidden = false;
  }
}

/** @param {string} grantId */
function showRenewed(grantId) {
  const card = document.getElementById(grantId);
  const place = card?.querySelector("[data-sealed]");
  if (place) place.textContent = gettext("Sealed just now");
  const notice = /** @type {HTMLElement | null | undefined} */ (card?.querySelector("[data-unapproved]"));
  if (notice) notice.hidden = true;
}

/** What would be sent, before anything is. @param {Outdated} grant */
async function look(grant) {
  const problem = find("[data-problem]", dialog);
  const approveButton = /** @type {HTMLButtonElement} */ (find("[data-approve]", dialog));
  const update = await unapprovedUpdate(grant);
  if (dialog.open) return; // another was faster: what is on it stays, and so does what its button does
  const label = (/** @type {string} */ path) =>
    all(`[data-path="${CSS.escape(path)}"]`, document.getElementById(grant.grant_id) ?? undefined)[0]?.textContent ?? humanised(path.split(".").at(-1) ?? path);
  find("[data-app]", dialog).textContent = update.app;
  find("[data-purpose]", dialog).textContent = update.purpose;
  find("[data-until]", dialog).textContent = new Intl.DateTimeFormat(region(), { dateStyle: "long", timeStyle: "short" }).format(update.endsAt * 1000);
  find("[data-key]", dialog).textContent = update.fingerprint;
  find("[data-strange-key]", dialog).hidden = update.isKnownKey;
  find("[data-values]", dialog).replaceChildren(
    ...[...update.values].map(([path, value]) => make("div", {}, [make("dt", {}, [label(path)]), make("dd", { class: "break" }, [value === undefined ? gettext("Nothing there now") : inWords(value)])])),
  );
  problem.hidden = true;
  approveButton.onclick = () => void busy(approveButton, async () => {
    try {
      await update.approve();
      showRenewed(grant.grant_id);
      dialog.close();
    } catch (error) {
      problem.textContent = explain(error);
      problem.hidden = false;
    }
  });
  dialog.showModal();
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
for (const button of all("[data-look]")) {
  button.addEventListener("click", () => void busy(button, async () => {
    const grant = unapproved.get(button.closest("article")?.id ?? "");
    if (grant) await look(grant).catch((error) => toast(explain(error), "warn"));
  }));
}
void followLock({ opened: () => void refresh() });
