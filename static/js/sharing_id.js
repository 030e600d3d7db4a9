// @ts-check
// The sharing ID on a page: once unlocked, the vault remembers that it is its person's own.

import { changes, isUnlocked, rememberInvitation } from "./vault/vault.js";

const place = document.querySelector("#sharing-id");

async function remember() {
  try {
    await rememberInvitation(place?.textContent?.trim() ?? "");
  } catch {
    // it was locked meanwhile, or went back: a request by this sharing ID is then asked about
  }
}

if (place) {
  changes.addEventListener("unlocked", () => void remember());
  if (await isUnlocked()) await remember();
}
