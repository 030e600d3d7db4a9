// @ts-check
// How hard a passphrase is to guess. The estimator is large, so it is fetched only once someone chooses a passphrase.

import { MIN_PASSPHRASE } from "../formats/wrappers.js";

/**
 * @typedef {{score: number, guessesLog10: number, longEnough: boolean, warning: string | null,
 *   suggestions: string[]}} Strength
 */

/**
 * @param {string} passphrase
 * @param {string[]} [known] words that others would try for this person: name, e-mail address
 * @returns {Promise<Strength>} score 0 (guessed at once) to 4 (strong); 3 and more is good
 */
export async function strength(passphrase, known = []) {
  const { estimator } = await import("../../vendor/zxcvbn.js");
  const typed = passphrase.normalize("NFKC");
  const { score, guessesLog10, feedback } = estimator.check(typed, known);
  const longEnough = [...typed].length >= MIN_PASSPHRASE;
  return { score, guessesLog10, longEnough, warning: feedback.warning || null, suggestions: feedback.suggestions };
}
