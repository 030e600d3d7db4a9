// @ts-check
// A new key for everything that is kept: what unlocks it afterwards, the new recovery code, then segment by segment.

import { existingSecret } from "./existing_secret.js";
import { gettext, interpolate } from "./i18n.js";
import { all, busy, explain, find, make, onSubmit, pageData } from "./page.js";
import { passphraseFields } from "./passphrase.js";
import { showRecoveryCode } from "./recovery.js";
import { followLock } from "./unlock.js";
import { humanised } from "./values.js";
import { finishRotation, getKeys, giveUpRotation, nextKey, Paused, prepareRotation, replaceRoot } from "./vault/vault.js";

/** @typedef {import("./vault/types.js").StoredWrapper} StoredWrapper */
/** @typedef {import("./vault/types.js").VaultKey} VaultKey */
/** @typedef {import("./vault/rotation.js").NextWay} NextWay */

/** @type {Record<string, string>} "domain.segment" → its name */
const labels = pageData("labels");
const work = find("#step-work");
let paused = false;
let unconfirmed = false;

/** @param {string} name */
function step(name) {
  for (const section of all("[id^=step-]")) section.hidden = section.id !== `step-${name}`;
  document.getElementById("unlock-panel")?.setAttribute("hidden", "");
  scrollTo(0, 0);
  find(`#step-${name} h2`).focus();
}

/** @param {VaultKey} next */
async function run(next) {
  paused = false;
  step("work");
  const place = find("[data-error]", work);
  const bar = /** @type {HTMLProgressElement} */ (find("progress", work));
  try {
    await finishRotation(next, {
      paused: () => paused,
      progress: ({ done, total, at }) => {
        bar.max = total || 1;
        bar.value = done;
        find("[data-count]", work).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total });
        if (at) find("[data-now]", work).textContent = labels[`${at.domain}.${at.segment_id}`] ?? humanised(at.segment_id);
      },
    });
    step("done");
  } catch (error) {
    place.textContent = error instanceof Paused ? gettext("Stopped. What is sealed stays, and the old key goes on to work.") : explain(error);
    place.hidden = false;
    find("#pause").hidden = true;
    find("#again").hidden = false;
    find("#again").focus();
  }
}

/** What is chosen above: the ways in that there will be. */
function choose() {
  const existing = existingSecret();
  const passphrase = passphraseFields(pageData("known"));
  const choice = /** @type {HTMLSelectElement} */ (find("#passphrase-choice"));
  const kind = /** @type {HTMLSelectElement} */ (find("#existing-kind"));
  /** @type {StoredWrapper[]} */
  const ways = pageData("ways");
  const keptPasskeys = () => all("#keep-passkeys input:checked").map((box) => /** @type {HTMLInputElement} */ (box).value);

  const look = () => {
    const same = /** @type {HTMLOptionElement | null} */ (choice.querySelector("option[value=same]"));
    if (same) same.disabled = kind.value !== "passphrase";
    if (same?.disabled && choice.value === "same") choice.value = "new";
    find("[data-new-passphrase]").hidden = choice.value !== "new";
    const others = ways.filter(({ kind }) => kind === "passphrase").length > 1;
    const falls = ways.filter((way) => (way.kind === "passkey" ? !keptPasskeys().includes(way.wrapper_id) : way.kind === "recovery" || choice.value !== "same" || others));
    const named = falls.map((way) => make("li", {}, [make("bdi", {}, [way.label])]));
    if (choice.value === "same" && others) named.push(make("li", {}, [gettext("Of your passphrases, only the one that you gave above stays.")]));
    find("[data-falls]").replaceChildren(...named);
  };
  for (const field of [kind, choice, ...all("#keep-passkeys input")]) field.addEventListener("change", look);
  look();

  /** @returns {Promise<NextWay[]>} */
  const chosen = async () => {
    /** @type {NextWay[]} */
    const next = [];
    const proof = existing.given();
    if (choice.value === "new") next.push({ kind: "passphrase", label: gettext("Passphrase"), secret: await passphrase.checked() });
    if (choice.value === "same") next.push({ kind: "passphrase", label: gettext("Passphrase"), secret: proof.secret });
    const kept = keptPasskeys();
    const stored = kept.length ? (await getKeys()).wrappers.filter(({ wrapper_id }) => kept.includes(wrapper_id)) : [];
    for (const { label, credential_id } of stored) next.push({ kind: "passkey", label, credentialId: credential_id ?? "" });
    if (!next.length) throw new RangeError(gettext("Keep a passkey or choose a passphrase: a recovery code alone is not enough."));
    return [...next, { kind: "recovery", label: gettext("Recovery code") }];
  };

  onSubmit(find("#secrets-form"), async () => {
    const prepared = await prepareRotation(existing.given(), await chosen());
    existing.clear();
    passphrase.clear();
    const shown = showRecoveryCode(prepared.recoveryCode ?? "");
    unconfirmed = true;
    step("code");
    confirmed = async (typed) => {
      if (!shown.matches(typed)) throw new RangeError(gettext("That is not this group. Look at what you wrote down."));
      const next = await prepared.begin();
      unconfirmed = false;
      shown.forget();
      await run(next);
    };
  });
  onSubmit(find("#confirm-form"), () => confirmed(/** @type {HTMLInputElement} */ (find("#confirm-group")).value));
}

/** @type {(typed: string) => Promise<void>} */
let confirmed = async () => {};

/** A change that began earlier, or on another device. */
function goOn() {
  const coming = existingSecret();
  onSubmit(find("#resume-form"), async () => {
    const next = await nextKey(coming.given());
    coming.clear();
    await run(next);
  });
  const giveUp = find("#give-up");
  giveUp.addEventListener("click", () => busy(giveUp, async () => {
    try {
      await giveUpRotation();
      location.assign("/account/security/");
    } catch (error) {
      const place = find("#give-up-error");
      place.textContent = explain(error);
      place.hidden = false;
    }
  }));
  void followLock({});
}

const replace = find("#replace-root");
replace.addEventListener("click", () => busy(replace, async () => {
  const state = find("#root-state");
  try {
    await replaceRoot();
    state.textContent = gettext("The signing key is replaced.");
    replace.hidden = true;
  } catch (error) {
    state.textContent = explain(error);
  }
}));
find("#pause").addEventListener("click", () => { paused = true; });
// Until the code is confirmed, nothing was sent: leaving would mean starting again.
addEventListener("beforeunload", (event) => {
  if (unconfirmed) event.preventDefault();
});
if (document.getElementById("resume-form")) goOn();
else choose();
