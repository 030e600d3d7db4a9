// @ts-check
// Runs on every page: keeps the unlocked key to its person and session, and shows in the navigation whether it is unlocked.

import { ApiError, getKeys } from "./vault/api.js";
import { changes, isUnlocked, lock, pageOwner, watch } from "./vault/keyring.js";

const chip = document.getElementById("vault-chip");

/** @param {"locked" | "unlocked" | "absent"} state */
function show(state) {
  if (!chip) return;
  chip.dataset.state = state;
  chip.hidden = false;
}

/** Whether there is a vault at all, asked once per person and tab. @returns {Promise<boolean>} */
async function exists() {
  const known = `vault:${pageOwner()?.userId}`;
  try {
    if (sessionStorage.getItem(known)) return true;
    const found = (await getKeys()).vault_status !== "absent";
    if (found) sessionStorage.setItem(known, "1");
    return found;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 404);
  }
}

async function start() {
  const unlocked = await watch();
  if (!pageOwner()) return;
  changes.addEventListener("unlocked", () => show("unlocked"));
  changes.addEventListener("locked", () => show("locked"));
  show(unlocked ? "unlocked" : "locked");
  if (!unlocked && !(await exists()) && !(await isUnlocked())) show("absent");
}

document.getElementById("vault-lock")?.addEventListener("click", () => void lock());
document.getElementById("sign-out")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  await lock("signed_out").catch(() => undefined); // the next page drops it too
  form.submit();
});

void start();
