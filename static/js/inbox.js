// @ts-check
// An open inbox says within seconds that somebody asks, in its title, too; nothing moves under a finger. And it denies
// several requests at once.

import { gettext, interpolate, ngettext } from "./i18n.js";
import { keepLooking } from "./looking.js";
import { all, find } from "./page.js";
import { call } from "./vault/api.js";

const inbox = find("#inbox");
const title = document.title.replace(/^\(\d+\) /, "");

/** @param {{waiting: number, newest: string}} news */
function show({ waiting, newest }) {
  document.title = waiting ? `(${waiting}) ${title}` : title;
  for (const count of all(".count [aria-hidden]")) count.textContent = String(waiting);
  const before = Number(inbox.dataset.waiting);
  if (waiting === before && newest === inbox.dataset.newest) return;
  if (!before) location.reload(); // there was nothing to read here
  const more = find("#inbox-news a");
  const words = ngettext("%(n)s new request: show it", "%(n)s new requests: show them", waiting - before);
  const text = waiting > before ? interpolate(words, { n: waiting - before }) : gettext("What waits has changed: show it");
  if (more.textContent !== text) more.textContent = text;
  more.hidden = false;
}

const several = document.getElementById("several"); // not of an empty inbox
const button = document.getElementById("select-several");
button?.addEventListener("click", () => {
  const selecting = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(selecting));
  several?.classList.toggle("is-selecting", selecting);
  if (!selecting) for (const box of all("input[name=request]")) /** @type {HTMLInputElement} */ (box).checked = false;
});

void keepLooking(async () => show(await call("GET", "/consent/inbox/news")), { every: 4000, afterTrouble: 30000 });
