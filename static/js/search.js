// @ts-check
// Search over what this browser opened: nothing that is typed or found leaves the page.

import { gettext, interpolate, ngettext } from "./i18n.js";
import { find, make } from "./page.js";

/** @typedef {{place: string, label: string, text: string, address: string}} Line one value, where it stands and its page */

const MOST_FOUND = 50;
const MOST_SHOWN = 160; // letters of one value
const box = find("#data-search");
const input = /** @type {HTMLInputElement} */ (find("input", box));
const list = find("[data-found]", box);
const status = find("[data-count]", box);
const cards = find("#domains");
/** @type {(Line & {words: string})[]} */
let lines = [];

/** Letters without case and accents. @param {string} text */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** @param {Line[]} opened what can be found from now on */
export function searchOver(opened) {
  lines = opened.map((line) => ({ ...line, words: plain(`${line.place} ${line.label} ${line.text}`) }));
  show();
}

/** Takes what was typed and found off the page. */
export function forgetSearch() {
  lines = [];
  input.value = "";
  show();
}

function show() {
  const wanted = plain(input.value).split(/\s+/).filter(Boolean);
  const found = wanted.length ? lines.filter(({ words }) => wanted.every((word) => words.includes(word))) : [];
  cards.hidden = wanted.length > 0;
  list.replaceChildren(...found.slice(0, MOST_FOUND).map(row));
  find("[data-nothing]", box).hidden = !wanted.length || found.length > 0;
  status.textContent = wanted.length ? words(found.length) : "";
}

/** @param {number} count */
function words(count) {
  if (count > MOST_FOUND) return interpolate(gettext("The first %(most)s of %(count)s"), { most: MOST_FOUND, count });
  return interpolate(ngettext("%(count)s found", "%(count)s found", count), { count });
}

/** @param {Line} line */
function row({ place, label, text, address }) {
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return make("li", { class: "found" }, [
    make("a", { href: address }, [label]),
    make("bdi", { class: "found-value" }, [shown]),
    make("span", { class: "sm mut" }, [place]),
  ]);
}

/** Down and up walk through what was found. @param {KeyboardEvent} event */
function walk(event) {
  const links = /** @type {HTMLElement[]} */ ([input, ...list.querySelectorAll("a")]);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (!step || at < 0 || !links[at + step]) return;
  event.preventDefault();
  links[at + step]?.focus();
}

input.addEventListener("input", show);
box.addEventListener("submit", (event) => event.preventDefault());
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && input.value) {
    input.value = "";
    input.focus();
    show();
  } else walk(event);
});
