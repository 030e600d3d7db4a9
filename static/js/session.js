// @ts-check
// Runs on every page: keeps the unlocked key to its person and session, and shows in the navigation whether it is unlocked.

import { gettext } from "./i18n.js";
import { whenLoaded } from "./page.js";
import { ApiError, getKeys } from "./vault/api.js";
import { forgetPassword } from "./vault/device.js";
import { changes, isUnlocked, lock, pageOwner, takeCarried, watch } from "./vault/keyring.js";

/** No page waits for it. */
const messagesHere = () => import("./messages_here.js");

const LONGEST_GOODBYE = 2000; // ms that a push service may keep somebody from signing out
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
    if (sessionStorage.getItem(known) || document.querySelector("dialog [data-unlock]")) return true;
    const found = (await getKeys()).vault_status !== "absent";
    if (found) sessionStorage.setItem(known, "1");
    return found;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 404);
  }
}

/** @param {{credentialId: string, key: CryptoKey}} carried */
async function unlocksWith(carried) {
  const { unlockAsSignedIn } = await import("./vault/unlocking.js");
  await unlockAsSignedIn(carried).catch(() => undefined); // it stays locked, and the page asks as always
  const unlocked = await isUnlocked();
  if (unlocked) import("./vault/notes.js").then(({ readNotes }) => readNotes()).catch(() => undefined); // as after any unlocking
  return unlocked;
}

async function start() {
  const unlocked = await watch();
  const carried = await takeCarried().catch(() => null); // a page of nobody drops it
  if (!pageOwner()) return;
  changes.addEventListener("unlocked", () => show("unlocked"));
  changes.addEventListener("locked", () => show("locked"));
  show(unlocked ? "unlocked" : "locked");
  if (carried && !unlocked && (await unlocksWith(carried))) return;
  if (!unlocked && !(await exists()) && !(await isUnlocked())) show("absent");
}

const here = () => encodeURIComponent(location.pathname + location.search);
/** @type {Record<string, () => {title: string, text: string, href?: string, way: string}>} what to do, by what happened */
const WAYS_BACK = {
  signed_out: () => ({
    title: gettext("You are signed out"),
    text: gettext("Nothing was changed. What you typed stays on this page; sign in to go on."),
    href: `/accounts/login/?next=${here()}`,
    way: gettext("Sign in"),
  }),
  beside: () => ({ // after one of the others: what was typed could not be sealed for later
    title: gettext("What you typed is only on this page"),
    text: gettext("Nothing was changed. Keep this tab open: signing in opens in another tab, where you can enter it again."),
    way: gettext("Go on in another tab"),
  }),
  csrf_failed: () => ({
    title: gettext("This page is too old"),
    text: gettext("Nothing was changed. Load the page again to go on."),
    href: location.pathname + location.search,
    way: gettext("Reload the page"),
  }),
  signing_key: () => ({
    title: gettext("Somebody changed your approval key"),
    text: gettext("The service names another key than the one in your vault. Approve nothing, change your password, and tell the operator."),
    href: "/account/security/",
    way: gettext("Look at your security"),
  }),
  rolled_back: () => ({
    title: gettext("The service shows an older state than this browser saw"),
    text: gettext("Nothing was shared, and nothing will be from here before you have looked at what went back."),
    href: "/consent/history/#older-state",
    way: gettext("See what went back"),
  }),
  reauthentication_required: () => ({
    title: gettext("Confirm that it is you"),
    text: gettext("This step needs a fresh sign-in. Nothing was changed."),
    href: `/accounts/reauthenticate/?next=${here()}`,
    way: gettext("Confirm that it is you"),
  }),
};

/** @param {string} what */
function offerWayBack(what) {
  const place = document.getElementById("way-back");
  const words = WAYS_BACK[what]?.();
  if (!place || !words) return;
  for (const [name, text] of Object.entries({ title: words.title, text: words.text, way: words.way })) {
    const element = place.querySelector(`[data-${name}]`);
    if (element) element.textContent = text;
  }
  const way = /** @type {HTMLAnchorElement} */ (place.querySelector("a"));
  way.href = words.href ?? way.href;
  way.target = words.href ? "" : "_blank";
  place.hidden = false;
  for (const over of document.querySelectorAll("dialog")) over.close(); // what is open lies over the way back, and can do nothing before it
  // there is nothing left to lock or to sign out of; signing in is what the header offers then
  if (what === "signed_out") for (const element of document.querySelectorAll(".site-end, #vault-chip")) element.setAttribute("hidden", "");
}

addEventListener("interrupted", (event) => offerWayBack(/** @type {CustomEvent} */ (event).detail));
document.getElementById("vault-lock")?.addEventListener("click", () => void lock());
document.getElementById("sign-out")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  forgetPassword();
  const form = /** @type {HTMLFormElement} */ (event.target);
  await lock("signed_out").catch(() => undefined); // the next page drops it too
  await Promise.race([messagesHere().then(({ unsubscribe }) => unsubscribe()).catch(() => undefined), new Promise((done) => setTimeout(done, LONGEST_GOODBYE))]);
  form.submit();
});

/** The page for being offline: what it needs is fetched when nothing else is. */
async function prepareOffline() {
  const { isPossible, register } = await messagesHere();
  if (isPossible()) await register();
}

if (pageOwner()) whenLoaded(() => (window.requestIdleCallback ?? setTimeout)(() => void prepareOffline().catch(() => undefined)));
void start();
