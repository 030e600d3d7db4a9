// What the tests run inside the page, beside the modules under test.

import { Refused } from "/static/js/formats/errors.js";
import { sealingKey } from "/static/js/formats/wrappers.js";

export const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
export const hex = (octets) => Array.from(octets, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** What became of it: {opened}, or {reason, member} where it was refused. Any other error is a failure of the test. */
export async function refusal(work) {
  try {
    return { opened: await work() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { reason: error.reason, member: error.member };
  }
}

/** The name and code of the error that the work ends in, null where it ends well. */
export async function failure(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return [error.name, error.code ?? error.reason ?? null];
  }
}

export async function vaultKey(userId, keyId, keyHex) {
  return { userId, keyId, key: await sealingKey(bytes(keyHex)) };
}
