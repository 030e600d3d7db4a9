// @ts-check
// Whether a new passphrase is the password that this tab signed in with. The server receives that password and must never
// receive the passphrase, so only the browser can compare them.
//
// Kept until the tab closes or signs out: two octets of a slow, salted digest. They show the same text again with one
// wrong alarm in 65,536, and are too few to find the password out by trying.

import { forgetPassword, PASSWORD as PLACE } from "./vault/device.js";

const OCTETS = 2;
const ROUNDS = 200_000;

/** @param {string} text @param {Uint8Array<ArrayBuffer>} salt @returns {Promise<string>} */
async function digest(text, salt) {
  const entered = new TextEncoder().encode(text.normalize("NFKC").trim());
  const key = await crypto.subtle.importKey("raw", entered, "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt, iterations: ROUNDS }, key, OCTETS * 8);
  return [...new Uint8Array(bits)].join(".");
}

/** @param {string} password */
export async function rememberPassword(password) {
  forgetPassword();
  const salt = crypto.getRandomValues(new Uint8Array(16));
  sessionStorage.setItem(PLACE, JSON.stringify({ salt: [...salt], digest: await digest(password, salt) }));
}

/** @param {string} passphrase @returns {Promise<boolean>} false too where this tab saw no password */
export async function isRememberedPassword(passphrase) {
  const kept = sessionStorage.getItem(PLACE);
  if (!kept) return false;
  const { salt, digest: known } = JSON.parse(kept);
  return (await digest(passphrase, new Uint8Array(salt))) === known;
}
