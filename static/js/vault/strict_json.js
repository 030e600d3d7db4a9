// @ts-check
// JSON without what two readers could read in two ways: no name twice in one object, and no endless nesting.

const DEEPEST = 500;

/** Text that must not be used; `code` is not_json, repeated_name or too_deep. */
export class BadJson extends Error {
  /** @param {"not_json" | "repeated_name" | "too_deep"} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.name = "BadJson";
    this.code = code;
  }
}

/** @param {string} text @returns {unknown} @throws {BadJson} */
export function strictJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadJson("not_json", "this is not JSON");
  }
  refuseTwoMeanings(text);
  return value;
}

/** JSON.parse keeps the last of two equal names; another reader may keep the first. @param {string} text that is JSON */
function refuseTwoMeanings(text) {
  /** @type {(Set<string> | null)[]} the names of each object that is open, null for a list */
  const open = [];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "{") open.push(new Set());
    else if (letter === "[") open.push(null);
    else if (letter === "}" || letter === "]") open.pop();
    else if (letter === '"') {
      const end = endOfText(text, at);
      const names = open.at(-1);
      if (names && isFollowedByColon(text, end)) note(names, JSON.parse(text.slice(at, end)));
      at = end - 1;
    }
    if (open.length > DEEPEST) throw new BadJson("too_deep", `it is nested deeper than ${DEEPEST}`);
  }
}

/** @param {Set<string>} names @param {string} name */
function note(names, name) {
  if (names.has(name)) throw new BadJson("repeated_name", `${name} stands in one object twice`);
  names.add(name);
}

/** Where the text that begins at `start` is over. @param {string} text @param {number} start */
function endOfText(text, start) {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === "\\") before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
}

/** @param {string} text @param {number} from */
function isFollowedByColon(text, from) {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at += 1;
  return text[at] === ":";
}
