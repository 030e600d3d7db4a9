// @ts-check
// A sandbox person's page: this browser makes and holds their vault, and the developer decides for them.

import { gettext, interpolate } from "./i18n.js";
import { keepLooking } from "./looking.js";
import { all, busy, explain, find, make } from "./page.js";
import { inWords } from "./values.js";
import { approve, deny, fill, forgetKey, getKeys, storedKey, makeVault, moveGrant, openAll, openVault, preview, resume } from "./vault/sandbox.js";

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
async function attempt(work) {
  problem.hidden = true;
  try {
    await work();
  } catch (error) {
    showProblem(error);
  }
}

async function begin() {
  const vault = await storedKey(person);
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

/** @type {VaultKey | null} */
let open = null;

/** @param {VaultKey} vault */
async function show(vault) {
  open = vault;
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
  await offerAll();
  state.textContent = gettext("Open. This browser holds its key.");
  state.dataset.state = "open";
}

/** What is previewed of each request: that is what is sealed. @type {Map<HTMLElement, Awaited<ReturnType<typeof preview>>>} */
const shown = new Map();

/** Shows what each request would share, and lets it be approved. */
const offerAll = () => Promise.all(all("form[data-request]", place).filter((form) => !shown.has(form)).map((form) => attempt(() => offer(form))));

/** @param {HTMLElement} form */
async function offer(form) {
  try {
    if (open) await showValues(form, open);
  } finally {
    letDeny(form);
  }
}

/**
 * Denying needs no values, and yet comes after them: they push the button down, which would move away under the finger.
 * @param {HTMLElement} within
 */
function letDeny(within) {
  for (const button of all("[data-deny]", within)) /** @type {HTMLButtonElement} */ (button).disabled = false;
}

/** @param {HTMLElement} form @param {VaultKey} vault */
async function showValues(form, vault) {
  const found = await preview(person, vault, form.dataset.request ?? "");
  shown.set(form, found);
  const required = (form.dataset.required ?? "").split(" ");
  const boxes = found.attributes.map(({ path, value }) => tick(path, value, required.includes(path)));
  find("[data-values]", form).replaceChildren(...(boxes.length ? boxes : [make("p", { class: "mut" }, [gettext("This person keeps none of it.")])]));
  /** @type {HTMLButtonElement} */ (find("button[type=submit]", form)).disabled = !boxes.length;
}

/** @param {string} path @param {unknown} value @param {boolean} required */
function tick(path, value, required) {
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", name: "attribute", value: path }));
  box.checked = true;
  box.disabled = required;
  const words = make("span", { class: "check-text" }, [make("code", {}, [path]), make("span", { class: "check-help" }, [inWords(value)])]);
  return make("label", { class: "check" }, [box, words]);
}

/** @param {HTMLElement} form */
async function approveAs(form) {
  const previewed = shown.get(form);
  if (!previewed) return;
  const attributes = /** @type {HTMLInputElement[]} */ (all("input[name=attribute]:checked", form)).map(({ value }) => value);
  const accessDuration = Number(/** @type {HTMLSelectElement} */ (find("select[name=duration]", form)).value);
  if (open) await approve(person, open, previewed, { attributes, accessDuration });
}

/** Does it, and shows what came of it. @param {HTMLElement} button @param {() => Promise<unknown>} decision */
const decide = (button, decision) => busy(button, () => attempt(async () => { await decision(); await showNews(); }));

/**
 * A page of ours as the browser reads it, without a text of it becoming one here. Null where it did not come.
 * @param {string} address @returns {Promise<Document | null>}
 */
const loaded = (address) => new Promise((resolve) => {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  request.onload = () => resolve(request.status === 200 ? request.responseXML : null);
  request.onerror = () => resolve(null);
  request.send();
});

/** The parts of the page that say how things stand, as they are now; a request that is still there keeps its ticks. */
async function showNews() {
  const page = await loaded(location.pathname);
  const now = /** @type {HTMLElement | null} */ (page?.querySelector("#sandbox"))?.dataset.state;
  if (!page || now === undefined || now === place.dataset.state) return;
  for (const part of ["waiting", "shared", "told"]) {
    const fresh = document.importNode(/** @type {HTMLElement} */ (find(`#${part}`, page)), true);
    for (const form of all("form[data-request]", fresh)) {
      const before = place.querySelector(`form[data-request="${form.dataset.request}"]`);
      if (before) form.replaceWith(before);
    }
    find(`#${part}`, place).replaceWith(fresh);
  }
  place.dataset.state = now;
  document.dispatchEvent(new Event("shell:refresh"));
  await offerAll();
}

/** Resuming opens reading again, so the vault signs it. @param {string} grantId @param {string | undefined} move */
async function moved(grantId, move) {
  if (move === "resume" && open) await resume(person, open, grantId);
  else await moveGrant(person, grantId, /** @type {"pause" | "revoke"} */ (move));
}

place.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-deny], [data-move]"));
  if (!button) return;
  const requestId = /** @type {HTMLElement | null} */ (button.closest("[data-request]"))?.dataset.request ?? "";
  const grantId = /** @type {HTMLElement | null} */ (button.closest("[data-grant]"))?.dataset.grant ?? "";
  void decide(button, () => (grantId ? moved(grantId, button.dataset.move) : deny(person, requestId)));
});
place.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!("request" in form.dataset)) return;
  event.preventDefault();
  void decide(find("button[type=submit]", form), () => approveAs(form));
});
find("#open-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const button = find("button[type=submit]", find("#open-form"));
  const code = /** @type {HTMLInputElement} */ (find("#recovery-code")).value;
  void busy(button, () => attempt(async () => show(await openVault(person, code))));
});
find("#delete-form").addEventListener("submit", () => void forgetKey(person.userId));
void attempt(begin).then(() => letDeny(place));
void keepLooking(showNews, { every: 3000, afterTrouble: 3000 });
