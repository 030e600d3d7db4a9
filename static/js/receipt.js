// @ts-check
// A receipt's page: the keys come with the page, so that the check itself needs no connection.

import { gettext } from "./i18n.js";
import { busy, explain, find, toast } from "./page.js";
import { check, fetchKeys } from "./proofs.js";
import { verdict } from "./receipt_words.js";

const button = find("#verify-receipt");
let keys = fetchKeys();
keys.catch(() => undefined); // said when the person asks

async function verify() {
  const { issuer = "", receiptId } = button.dataset;
  try {
    const checked = await check(find("#receipt-text").textContent ?? "", { issuer, keys: await keys, receiptId });
    const place = find("#receipt-result");
    place.replaceChildren(verdict(checked, { holds: gettext("This receipt is genuine."), fails: gettext("This receipt cannot be trusted.") }));
    place.focus();
  } catch (error) {
    keys = fetchKeys();
    toast(explain(error), "warn");
  }
}

button.addEventListener("click", () => void busy(button, verify));
