// The estimator with the lists that matter for a passphrase: leaked passwords, diceware, English words and first names.
// The two largest lists (last names, encyclopedia words) are left out: they double the download for little.
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary as common } from "@zxcvbn-ts/language-common";
import commonWords from "@zxcvbn-ts/language-en/dist/commonWords.json.mjs";
import firstNames from "@zxcvbn-ts/language-en/dist/firstnames.json.mjs";
import translations from "@zxcvbn-ts/language-en/dist/translations.mjs";
import wordSequences from "@zxcvbn-ts/language-en/dist/wordSequences.json.mjs";

const english = { "commonWords-en": commonWords, "firstnames-en": firstNames, ...wordSequences };

export const estimator = new ZxcvbnFactory({
  dictionary: { ...common, ...english },
  graphs: adjacencyGraphs,
  translations,
});
