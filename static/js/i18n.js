// @ts-check
// The scripts' words. English is the source; another language's catalogue is fetched once, before the page's script runs.

/** @returns {Promise<Record<string, string | string[]>>} */
async function load() {
  try {
    const answer = await fetch("/jsi18n/", { credentials: "same-origin" });
    return answer.ok ? (await answer.json()).catalog : {};
  } catch {
    return {}; // English words are better than none
  }
}

const catalogue = document.documentElement.lang.startsWith("en") ? {} : await load();

/** The page's language as it is written where the browser is, which shell.js found. @returns {string | undefined} */
export const region = () => document.documentElement.dataset.region || document.documentElement.lang || undefined;

/** @param {string} text @returns {string} */
export const gettext = (text) => {
  const found = catalogue[text];
  return typeof found === "string" ? found : text;
};

/** @param {string} one @param {string} many @param {number} count @returns {string} */
export const ngettext = (one, many, count) => {
  const found = catalogue[one];
  if (Array.isArray(found)) return found[count === 1 ? 0 : found.length - 1] ?? many;
  return count === 1 ? one : many;
};

/** `%(name)s` in `text` becomes the value of that name. @param {string} text @param {Record<string, unknown>} values */
export const interpolate = (text, values) => text.replace(/%\((\w+)\)s/g, (whole, name) => String(values[name] ?? whole));
