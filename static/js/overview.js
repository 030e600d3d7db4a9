// @ts-check
// My data, all domains: a look at the values on the cards once unlocked, none of them once locked.

import { gettext, interpolate } from "./i18n.js";
import { all, explain, find, make, pageData } from "./page.js";
import { followLock } from "./unlock.js";
import { humanised, inWords } from "./values.js";
import { Locked, openAll } from "./vault/vault.js";

const PEEK = 4;
const words = pageData("words");
const problem = find("#vault-problem");

/** @param {HTMLElement} card */
async function peek(card) {
  const segments = await openAll({ domain: card.dataset.domain ?? "" });
  const lines = segments.flatMap(({ domain, segment_id, values }) =>
    Object.entries(values).map(([name, value]) => {
      const word = words[`${domain}.${segment_id}.${name}`];
      return { label: word?.label ?? humanised(name), text: inWords(value, word) };
    }),
  );
  const shown = lines.slice(0, PEEK).map(({ label, text }) => make("div", {}, [make("dt", {}, [label]), make("dd", {}, [text])]));
  const place = find("[data-values]", card);
  place.replaceChildren(make("dl", { class: "peek" }, shown));
  if (lines.length > PEEK) place.append(make("p", { class: "small muted" }, [interpolate(gettext("and %(count)s more"), { count: lines.length - PEEK })]));
  place.hidden = false;
}

async function opened() {
  problem.hidden = true;
  try {
    await Promise.all(all("[data-domain][data-held]").map(peek));
  } catch (error) {
    if (error instanceof Locked) return;
    problem.textContent = explain(error);
    problem.hidden = false;
  }
}

function closed() {
  for (const place of all("[data-values]")) {
    place.replaceChildren();
    place.hidden = true;
  }
}

void followLock({ opened, closed });
