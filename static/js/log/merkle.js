// @ts-check
// The half of RFC 9162, section 2.1, that a reader of a log needs: whether its proofs hold. Pure.

/** @typedef {Uint8Array<ArrayBuffer>} Octets */

/** @param {number} prefix @param {...Octets} parts @returns {Promise<Octets>} */
async function sha256(prefix, ...parts) {
  const joined = new Uint8Array(1 + parts.reduce((length, part) => length + part.length, 0));
  joined[0] = prefix;
  let at = 1;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}

/** @param {Octets} entry @returns {Promise<Octets>} */
export const leafHash = (entry) => sha256(0, entry);

/** @param {Octets} left @param {Octets} right @returns {Promise<Octets>} */
const nodeHash = (left, right) => sha256(1, left, right);

/** @param {Octets} one @param {Octets} other */
export const same = (one, other) => one.length === other.length && one.every((octet, at) => octet === other[at]);

// numbers are halved by division: sizes may be above what shifting takes
/** @param {number} number */
const half = (number) => Math.floor(number / 2);

/**
 * Whether a tree of this size and root has this entry as the leaf of this number (2.1.3.2).
 * @param {Octets} entry @param {number} index @param {number} size @param {Octets[]} proof @param {Octets} root
 * @returns {Promise<boolean>}
 */
export async function includes(entry, index, size, proof, root) {
  if (index < 0 || index >= size) return false;
  let [place, last, found] = [index, size - 1, await leafHash(entry)];
  for (const digest of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      found = await nodeHash(digest, found);
      while (place % 2 === 0 && place > 0) [place, last] = [half(place), half(last)];
    } else {
      found = await nodeHash(found, digest);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && same(found, root);
}

/** @param {number} number */
function isPowerOfTwo(number) {
  while (number % 2 === 0 && number > 1) number /= 2;
  return number === 1;
}

/**
 * Whether the tree of the new size and root begins with all that the old one had (2.1.4.2); `old` is 1 at least.
 * @param {number} old @param {Octets} oldRoot @param {number} size @param {Octets} root @param {Octets[]} proof
 * @returns {Promise<boolean>}
 */
export async function isConsistent(old, oldRoot, size, root, proof) {
  if (old < 1 || old > size) return false;
  if (old === size) return proof.length === 0 && same(oldRoot, root);
  const [first, ...rest] = isPowerOfTwo(old) ? [oldRoot, ...proof] : proof;
  if (!first) return false;
  let [place, last] = [old - 1, size - 1];
  while (place % 2 === 1) [place, last] = [half(place), half(last)];
  let [before, after] = [first, first];
  for (const digest of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      before = await nodeHash(digest, before);
      after = await nodeHash(digest, after);
      while (place % 2 === 0 && place > 0) [place, last] = [half(place), half(last)];
    } else {
      after = await nodeHash(after, digest);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && same(before, oldRoot) && same(after, root);
}
