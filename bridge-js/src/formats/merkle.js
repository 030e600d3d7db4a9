// @ts-check
// The half of RFC 9162, section 2.1, that a reader of a log needs: whether its proofs hold. Pure.

import { same } from "./bytes.js";
import { sha256 } from "./sha256.js";

export const HASH_BYTES = 32;

const [LEAF, NODE] = [Uint8Array.of(0), Uint8Array.of(1)];

// numbers are halved by division: sizes may be above what shifting takes
/** @param {number} number */
const half = (number) => Math.floor(number / 2);

/**
 * Whether a tree of this size and root has this entry as the leaf of this number (2.1.3.2).
 * @param {Uint8Array} entry @param {number} index @param {number} size @param {Uint8Array[]} proof @param {Uint8Array} root
 */
export function includes(entry, index, size, proof, root) {
  if (index < 0 || index >= size) return false;
  let [place, last, found] = [index, size - 1, sha256(LEAF, entry)];
  for (const digest of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      found = sha256(NODE, digest, found);
      while (place % 2 === 0 && place > 0) [place, last] = [half(place), half(last)];
    } else {
      found = sha256(NODE, found, digest);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && same(found, root);
}

/** @param {number} number */
function isPowerOfTwo(number) {
  let rest = number;
  while (rest % 2 === 0 && rest > 1) rest /= 2;
  return rest === 1;
}

/**
 * Whether the tree of the new size and root begins with all that the old one had (2.1.4.2); `old` is 1 at least.
 * @param {number} old @param {Uint8Array} oldRoot @param {number} size @param {Uint8Array} root @param {Uint8Array[]} proof
 */
export function isConsistent(old, oldRoot, size, root, proof) {
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
      before = sha256(NODE, digest, before);
      after = sha256(NODE, digest, after);
      while (place % 2 === 0 && place > 0) [place, last] = [half(place), half(last)];
    } else {
      after = sha256(NODE, after, digest);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && same(before, oldRoot) && same(after, root);
}
