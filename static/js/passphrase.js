// @ts-check
// Choosing a passphrase, and how strong it is.

import { gettext } from "./i18n.js";
import { find } from "./page.js";
import { isRememberedPassword } from "./password.js";
import { checkPassphrase, strength } from "./vault/vault.js";

const GOOD = 3;

/** @returns {string[]} one for every score */
const verdicts = () => [
  gettext("Very easy to guess."),
  gettext("Easy to guess."),
  gettext("Could be guessed. Make it longer."),
  gettext("Good."),
  gettext("Strong."),
];

/**
 * Follows the field of vault/passphrase_fields.html.
 * @param {string[]} known words that others would try for this person
 * @returns {{checked: () => Promise<string>, clear: () => void}} `checked()` gives the passphrase or throws a RangeError with words
 */
export function passphraseFields(known) {
  const first = /** @type {HTMLInputElement} */ (find("#new-passphrase"));
  let turns = 0;

  const judge = async () => {
    const turn = ++turns;
    const judged = first.value ? await strength(first.value, known) : null;
    if (turn !== turns) return judged; // typed on in the meantime
    find("#strength").dataset.score = String(judged?.score ?? 0);
    find("#strength-text").textContent = judged ? verdict(judged) : "";
    return judged;
  };
  first.addEventListener("input", () => void judge());

  return {
    async checked() {
      checkPassphrase(first.value);
      const judged = await judge();
      if (judged && judged.score < GOOD) throw new RangeError(gettext("This passphrase is too easy to guess. Add a word or two."));
      if (await isRememberedPassword(first.value)) {
        throw new RangeError(gettext("This is the password that you sign in with. The server receives that one and must never receive this: choose another."));
      }
      return first.value;
    },
    clear() {
      first.value = "";
      void judge();
    },
  };
}

/** @param {{score: number, longEnough: boolean, warning: string | null}} judged */
function verdict({ score, longEnough, warning }) {
  if (!longEnough) return gettext("Too short: at least 12 characters.");
  return [verdicts()[score], score < GOOD && warning ? warning : ""].filter(Boolean).join(" ");
}
