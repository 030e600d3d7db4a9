// @ts-check
// My data, all domains: a look at the values on the cards once unlocked, none of them once locked.

import { gettext, interpolate } from "./i18n.js";
import { all, explain, find, make, pageData } from "./page.js";
import { forgetSearch, searchOver } from "./search.js";
import { followLock } from "./unlock.js";
import { humanised, inWords } from "./values.js";
import { Locked, openAll } from "./vault/vault.js";

const PEEK = 4;
const words = pageData("words");
const problem = find("#vault-problem");

/** @typedef {import("./search.js").Line} Line */

/** @param {HTMLElement} card */
const titleOf = (card) => find(".card-title", card).textContent?.trim() ?? "";

/** @param {HTMLElement} card @param {import("./vault/types.js").OpenedSegment[]} segments @returns {Line[]} one for each value */
function linesOf(card, segments) {
  return segments.flatMap(({ domain, segment_id, values }) =>
    Object.entries(values).map(([name, value]) => {
      const path = `${domain}.${segment_id}.${name}`;
      const word = Object.hasOwn(words, path) ? words[path] : undefined;
      const address = `${find("a.stretched", card).getAttribute("href")}#f-${segment_id}-${name}`;
      return { place: titleOf(card), label: word?.label ?? humanised(name), text: value === null ? "–" : inWords(value, word), address };
    }),
  );
}

/** @param {HTMLElement} card @param {Line[]} lines */
function peek(card, lines) {
  const shown = lines.slice(0, PEEK).map(({ label, text }) => make("div", {}, [make("dt", {}, [label]), make("dd", {}, [text])]));
  const place = find("[data-values]", card);
  place.replaceChildren(make("dl", { class: "peek" }, shown));
  if (lines.length > PEEK) place.append(make("p", { class: "sm mut" }, [interpolate(gettext("and %(count)s more"), { count: lines.length - PEEK })]));
  place.hidden = false;
}

async function opened() {
  problem.hidden = true;
  try {
    const segments = await openAll({});
    const everything = all("[data-domain][data-held]").map((card) => {
      const lines = linesOf(card, segments.filter(({ domain }) => domain === card.dataset.domain));
      peek(card, lines);
      return lines;
    });
    searchOver(everything.flat());
  } catch (error) {
    if (error instanceof Locked) return;
    problem.textContent = explain(error);
    problem.hidden = false;
  }
}

function closed() {
  forgetSearch();
  for (const place of all("[data-values]")) {
    place.replaceChildren();
    place.hidden = true;
  }
}

void followLock({ opened, closed });
