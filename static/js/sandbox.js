// @ts-check
// A sandbox person's page: this browser makes and holds their vault, and the developer decides for them.

import { gettext, interpolate } from "./i18n.js";
import { all, busy, explain, find, make } from "./page.js";
import { inWords } from "./values.js";
import { approve, deny, fill, forgetKey, getKeys, heldKey, makeVault, moveGrant, openAll, openVault, preview } from "./vault/sandbox.js";

/** @typedef {import("./vault/types.js").VaultKey} VaultKey */

const place = find("#sandbox");
const person = { userId: place.dataset.userId ?? "", addresses: place.dataset.addresses ?? "" };
const state = find("#vault-state");
const problem = find("#problem");

/** @param {unknown} error */
function showProblem(error) {
  find("[data-text]", problem).textContent = explain(error);
  problem.hidden = false;
  problem.focus();
}

/** Work whose failure is said on the page; what it changes is shown by loading the page anew. @param {() => Promise<unknown>} work */
async function said(work) {
  problem.hidden = true;
  try {
    await work();
  } catch (error) {
    showProblem(error);
  }
}

async function begin() {
  const vault = await heldKey(person);
  const { key_id: keyId } = await getKeys(person);
  if (vault && vault.keyId === keyId) return show(vault);
  if (keyId) {
    state.textContent = gettext("Its key is not in this browser.");
    find("#open-form").hidden = false;
    return undefined;
  }
  return show(await makeAndFill());
}

/** @returns {Promise<VaultKey>} */
async function makeAndFill() {
  state.textContent = gettext("This browser makes the vault …");
  const { vault, recoveryCode } = await makeVault(person);
  find("#recovery-text").textContent = recoveryCode;
  find("#recovery").hidden = false;
  const bar = /** @type {HTMLProgressElement} */ (find("#filling"));
  bar.hidden = false;
  await fill(person, vault, (done, total) => {
    bar.max = total;
    bar.value = done;
    state.textContent = interpolate(gettext("%(done)s of %(total)s parts are filled with made-up data."), { done, total });
  });
  bar.hidden = true;
  return vault;
}

/** @param {VaultKey} vault */
async function show(vault) {
  const segments = await openAll(person, vault);
  const list = find("#values-list");
  list.replaceChildren(
    ...segments.flatMap(({ domain, segment_id, values }) =>
      Object.entries(values).map(([name, value]) =>
        make("div", {}, [make("dt", {}, [make("code", {}, [`${domain}.${segment_id}.${name}`])]), make("dd", {}, [inWords(value)])]),
      ),
    ),
  );
  find("#values").hidden = false;
  find("#open-form").hidden = true;
  await Promise.all(all("form[data-request]").map((form) => said(() => offer(/** @type {HTMLFormElement} */ (form), vault))));
  state.textContent = gettext("Open. This browser holds its key.");
  state.dataset.state = "open";
}

/** Shows what would be shared, each ticked, and lets it be approved. @param {HTMLFormElement} form @param {VaultKey} vault */
async function offer(form, vault) {
  const requestId = form.dataset.request ?? "";
  const shown = await preview(person, vault, requestId);
  const required = (form.dataset.required ?? "").split(" ");
  const boxes = shown.held.map(({ path, value }) => tick(path, value, required.includes(path)));
  find("[data-values]", form).replaceChildren(...(boxes.length ? boxes : [make("p", { class: "muted" }, [gettext("This person keeps none of it.")])]));
  const button = /** @type {HTMLButtonElement} */ (find("button[type=submit]", form));
  button.disabled = !boxes.length;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const attributes = /** @type {HTMLInputElement[]} */ (all("input[name=attribute]:checked", form)).map(({ value }) => value);
    const accessDuration = Number(/** @type {HTMLSelectElement} */ (find("select[name=duration]", form)).value);
    void busy(button, () => said(() => decide(approve(person, shown, { attributes, accessDuration }))));
  });
}

/** @param {string} path @param {unknown} value @param {boolean} required */
function tick(path, value, required) {
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", name: "attribute", value: path }));
  box.checked = true;
  box.disabled = required;
  const words = make("span", { class: "check-text" }, [make("code", {}, [path]), make("span", { class: "check-help" }, [inWords(value)])]);
  return make("label", { class: "check" }, [box, words]);
}

/** The page tells what happened. @param {Promise<unknown>} decision */
async function decide(decision) {
  await decision;
  location.reload();
}

for (const button of all("[data-deny]")) {
  const requestId = /** @type {HTMLElement} */ (button.closest("[data-request]")).dataset.request ?? "";
  button.addEventListener("click", () => busy(button, () => said(() => decide(deny(person, requestId)))));
}
for (const button of all("[data-move]")) {
  const grantId = /** @type {HTMLElement} */ (button.closest("[data-grant]")).dataset.grant ?? "";
  const move = /** @type {"pause" | "resume" | "revoke"} */ (button.dataset.move);
  button.addEventListener("click", () => busy(button, () => said(() => decide(moveGrant(person, grantId, move)))));
}
find("#open-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const button = find("button[type=submit]", find("#open-form"));
  const code = /** @type {HTMLInputElement} */ (find("#recovery-code")).value;
  void busy(button, () => said(async () => show(await openVault(person, code))));
});
find("#delete-form").addEventListener("submit", () => void forgetKey(person.userId));
void said(begin);
