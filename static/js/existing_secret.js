// @ts-check
// Proving with what works now, before anything is added or changed: a passphrase, a passkey or the recovery code.

import { all, find } from "./page.js";

/** @typedef {import("./vault/types.js").WrapperKind} WrapperKind */

/**
 * Follows the two fields of vault/existing_secret.html.
 * @returns {{given: () => {kind: WrapperKind, secret: string}, clear: () => void, focus: () => void}}
 */
export function existingSecret() {
  const kind = /** @type {HTMLSelectElement} */ (find("#existing-kind"));
  const secret = /** @type {HTMLInputElement} */ (find("#existing-secret"));
  const look = () => {
    for (const part of all("[data-typed]")) part.hidden = kind.value === "passkey";
    find("[data-label-of-secret]").textContent = kind.selectedOptions[0]?.textContent?.trim() ?? "";
  };
  kind.addEventListener("change", look);
  look();
  return {
    given: () => ({ kind: /** @type {WrapperKind} */ (kind.value), secret: secret.value }),
    clear: () => void (secret.value = ""),
    focus: () => (kind.value === "passkey" ? kind : secret).focus(),
  };
}
