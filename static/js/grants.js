// @ts-check
// What apps can read: whoever comes here with an unlocked vault refreshes the exports whose data changed, and resumes what
// is paused, one approval or all of them. What the vault did not approve is told, and nothing is sent for it: the app has to ask
// anew. Stopping and pausing are plain forms: protection needs no key and no script.

import { gettext, interpolate, region } from "./i18n.js";
import { all, busy, explain, find, make, toast } from "./page.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { humanised } from "./values.js";
import { closeOlderGrants, olderGrants } from "./vault/older_grants.js";
import { isUnlocked, resumeGrant } from "./vault/vault.js";

/** @typedef {import("./vault/older_grants.js").Older} Older */

async function refresh() {
  const found = await refreshExports();
  for (const grantId of found.renewed) showRenewed(grantId);
  for (const { grant_id } of found.unapproved) {
    const card = document.getElementById(grant_id); // else on another page of the list
    if (card) find("[data-unapproved]", card).hidden = false;
  }
  if (!found.unapproved.length) return;
  const older = await olderGrants().catch((error) => (toast(explain(error), "warn"), []));
  if (older.length) askAbout(older);
}

/** @param {string} grantId */
function showRenewed(grantId) {
  const card = document.getElementById(grantId);
  const place = card?.querySelector("[data-sealed]");
  if (place) place.textContent = gettext("Sealed just now");
  const notice = /** @type {HTMLElement | null | undefined} */ (card?.querySelector("[data-unapproved]"));
  if (notice) notice.hidden = true;
}

/**
 * Asks about what other programs approved with this vault before it kept a record: once, all together, none ticked.
 * @param {Older[]} older
 */
function askAbout(older) {
  const dialog = /** @type {HTMLDialogElement} */ (find("#older-grants"));
  if (dialog.open) return;
  const problem = find("[data-problem]", dialog);
  const boxes = older.map(() => /** @type {HTMLInputElement} */ (make("input", { type: "checkbox" })));
  const until = new Intl.DateTimeFormat(region(), { dateStyle: "long" });
  find("[data-list]", dialog).replaceChildren(...older.map(({ data: { request }, approved }, index) =>
    make("label", { class: "check" }, [/** @type {HTMLInputElement} */ (boxes[index]), make("span", { class: "check-text" }, [
      make("span", {}, [`${request.app_name}: ${approved.attributes.map((path) => humanised(path.split(".").at(-1) ?? path)).join(", ")}`]),
      make("span", { class: "check-help" }, [request.purpose, " · ", interpolate(gettext("until %(day)s"), { day: until.format(approved.endsAt * 1000) })]),
    ])])));
  const answer = (/** @type {HTMLElement} */ button, /** @type {() => Older[]} */ chosen) => {
    button.onclick = () => void busy(button, async () => {
      try {
        await closeOlderGrants(chosen());
        dialog.close();
        await refresh();
      } catch (error) {
        problem.textContent = explain(error);
        problem.hidden = false;
      }
    });
  };
  problem.hidden = true;
  answer(find("[data-keep]", dialog), () => older.filter((_, index) => boxes[index]?.checked));
  answer(find("[data-none]", dialog), () => []);
  dialog.showModal();
}

/** One after the other: each is signed by itself. @param {string[]} grantIds */
async function resume(grantIds) {
  const problem = find("#resume-problem");
  problem.hidden = true;
  try {
    if (!(await isUnlocked())) {
      const panel = find("#unlock-panel");
      panel.scrollIntoView({ block: "center" });
      /** @type {HTMLElement | null} */ (panel.querySelector("input"))?.focus({ preventScroll: true });
      return;
    }
    for (const grantId of grantIds) await resumeGrant(grantId);
    location.reload();
  } catch (error) {
    find("[data-text]", problem).textContent = explain(error);
    problem.hidden = false;
    problem.focus();
  }
}

for (const button of all("[data-resume]")) {
  button.addEventListener("click", () => void busy(button, () => resume([button.dataset.resume ?? ""])));
}
for (const button of all("[data-resume-all]")) {
  button.addEventListener("click", () => void busy(button, () => resume((button.dataset.resumeAll ?? "").split(" ").filter(Boolean))));
}
void followLock({ opened: () => void refresh() });
