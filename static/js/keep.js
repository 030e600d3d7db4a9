// @ts-check
// The link of the mail holds its code behind the #, which a browser sends nowhere: here it goes into the form.

import { find } from "./page.js";

function fill() {
  const code = location.hash.slice(1);
  /** @type {HTMLInputElement} */ (find("#code")).value = code;
  find("[data-code]").hidden = Boolean(code);
}

addEventListener("hashchange", fill);
fill();
