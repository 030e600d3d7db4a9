// @ts-check
// The recovery code, shown once: in groups, to copy, print or save, and confirmed by typing back one group.

import { gettext, interpolate } from "./i18n.js";
import { find, make, toast } from "./page.js";

/**
 * @param {string} code eight groups of four
 * @returns {{matches: (typed: string) => boolean, forget: () => void}} whether the asked group was typed back
 */
export function showRecoveryCode(code) {
  const groups = code.split("-");
  const [chance = 0] = crypto.getRandomValues(new Uint8Array(1));
  const index = chance % groups.length;
  find("#recovery-code").replaceChildren(...groups.map((group) => make("code", {}, [group])));
  find("#confirm-label").textContent = interpolate(gettext("Type group %(number)s of the code"), { number: index + 1 });
  find("#recovery-copy").onclick = () => void copy(code);
  find("#recovery-print").onclick = () => print();
  find("#recovery-download").onclick = () => save("recovery-code.txt", `${gettext("Recovery code of my data")}\n\n${code}\n`, "text/plain");
  return {
    matches: (typed) => typed.trim().toUpperCase() === groups[index],
    forget: () => find("#recovery-code").replaceChildren(),
  };
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(gettext("Copied. Paste it somewhere safe, not into a mail."));
  } catch {
    toast(gettext("Copying did not work. Write it down or save it as a file."), "warn");
  }
}

/** Hands a file to the person. @param {string} name @param {string} text @param {string} type */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
