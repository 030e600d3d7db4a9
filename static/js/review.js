// @ts-check
// The review page: shows the real values once unlocked, and seals what stays ticked. What is shown is what is sealed,
// and nothing is sealed before it was shown.

import { keepChoice, takeChoice } from "./drafts.js";
import { LATER_MEMBERS } from "./formats/contract.js";
import { Refused } from "./formats/errors.js";
import { gettext, interpolate, ngettext } from "./i18n.js";
import { all, busy, explain, find, make, pageData, whenLoaded } from "./page.js";
import { followLock } from "./unlock.js";
import { breakable, inWords } from "./values.js";
import { ApiError, isInterrupted } from "./vault/api.js";
import { isUnlocked, Locked } from "./vault/keyring.js";

/** What opens and seals: loaded when there is a key, since most of the page needs none. */
const sealing = () => import("./vault/review.js");

const review = find("#review");
const requestId = review.dataset.requestId ?? "";
const words = pageData("words");
const approveButton = /** @type {HTMLButtonElement} */ (find("#approve"));
const form = /** @type {HTMLFormElement} */ (find("#approve-form"));
const canApprove = "ready" in approveButton.dataset;
const panel = /** @type {HTMLDialogElement | null} */ (document.querySelector("#unlock-panel"));
/** Where nobody vouches for the key of confidential data: ticked by who shares it all the same. */
const unvouched = /** @type {HTMLInputElement | null} */ (document.querySelector("#share-unvouched"));
/** Asked where the vault does not know the sharing ID that the app used: ticked by who gave it to this app. */
const invited = /** @type {HTMLInputElement | null} */ (document.querySelector("#gave-invitation"));
/** Whether the real values stand on the page now: without them pressing Approve shows them and decides nothing. */
let valuesShown = false;
/** Those values in words, and the answers that may stand in their place. @type {Map<string, string>} */
const values = new Map();

/** @returns {HTMLInputElement[]} */
const boxes = () => /** @type {HTMLInputElement[]} */ (all("input[name=attribute]", form));

/** What the app takes in this row: the value, and where it accepts them the answers in its place. @param {Element | null} row */
const formsIn = (row) => /** @type {HTMLInputElement[]} */ (row ? all("input[type=radio]", row) : []);

/** The path of what would leave of a row. @param {HTMLInputElement} box */
const formOf = (box) => formsIn(box.closest("li")).find((form) => form.checked)?.value ?? box.value;

/** @returns {string[]} what would leave */
const chosen = () => boxes().filter((box) => box.checked).map(formOf);

/** Stops where the page shows something else than what was asked and will be signed for. */
async function compareWithPage() {
  const { loadRequest } = await sealing();
  const { request, vouching } = await loadRequest(requestId);
  const members = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (request));
  for (const element of all("[data-shown]", review)) {
    const member = element.dataset.shown ?? "";
    if (element.textContent !== String(members[member])) throw new Refused("is not what this page shows", member, "request_changed");
  }
  const longest = find("[data-shown-duration]", review).dataset.shownDuration;
  if (Number(longest) !== request.access_duration) throw new Refused("is not what this page shows", "access_duration", "request_changed");
  if (find("[data-shown-reads]", review).dataset.shownReads !== String(request.max_reads ?? "")) {
    throw new Refused("is not what this page shows", "max_reads", "request_changed");
  }
  if (find("[data-shown-refresh]", review).dataset.shownRefresh !== request.refresh_policy) {
    throw new Refused("is not what this page shows", "refresh_policy", "request_changed");
  }
  // that somebody vouches by now, where the page still says nobody, promised nobody anything: keys are fetched meanwhile
  const [by, domain] = (find("[data-shown-vouching]", review).dataset.shownVouching ?? "").split(" ");
  if (domain !== (vouching?.domain ?? "") || (by !== "nobody" && by !== vouching?.by)) {
    throw new Refused("is not what this page shows", "vouching", "request_changed");
  }
  for (const member of ["binding_message", ...LATER_MEMBERS].filter((member) => member !== "accepts")) {
    if ((members[member] ?? null) !== null && !review.querySelector(`[data-shown="${member}"]`)) {
      throw new Refused("is not on this page", member, "request_changed");
    }
  }
  for (const box of boxes()) {
    const forms = formsIn(box.closest("li")).map((form) => form.value).filter((path) => path !== box.value);
    if (forms.sort().join() !== [...(request.accepts?.[box.value] ?? [])].sort().join()) {
      throw new Refused("is not what this page shows", "accepts", "request_changed");
    }
  }
  const required = boxes().filter((box) => "required" in box.dataset).map((box) => box.value);
  if (!(request.required_attributes ?? []).every((path) => required.includes(path))) {
    throw new Refused("are not what this page shows", "required_attributes", "request_changed");
  }
}

async function showValues() {
  if (panel?.open) {
    panel.close();
    find("#data-title").focus({ preventScroll: true }); // the button that had the focus is gone, and nothing has moved
  }
  try {
    const { preview } = await sealing();
    await compareWithPage();
    for (const { path, value } of await preview(requestId)) values.set(path, inWords(value, words[path]));
    await sayWhatIsRemembered(); // before the values, with which a decision may follow: none is made without the vault's word on the key
    hideProblem();
    valuesShown = true;
    showForms();
  } catch (error) {
    if (!(error instanceof Locked)) showProblem(error);
  }
}

/** In each row what would leave of it, and what the other forms would tell. */
function showForms() {
  for (const box of boxes()) {
    const row = /** @type {HTMLElement} */ (box.closest("li"));
    const place = row.querySelector("[data-value]");
    for (const form of formsIn(row)) {
      const label = /** @type {HTMLElement} */ (form.parentElement);
      find("[data-preview]", label).textContent = values.has(form.value) ? `: ${values.get(form.value)}` : "";
      if (form.checked) find(".value-label", row).textContent = find(".form-label", label).textContent;
    }
    if (!place || !valuesShown) continue;
    place.classList.remove("is-locked");
    place.removeAttribute("aria-label");
    place.removeAttribute("role");
    place.replaceChildren(...breakable(values.get(formOf(box)) ?? gettext("Not there any more. Reload the page.")));
  }
}

/** What this vault remembers of the app's keys and domain counts, whatever the page says. */
async function sayWhatIsRemembered() {
  const { memoryOf } = await sealing();
  const memory = await memoryOf(requestId);
  const words = {
    first: gettext("Your vault has never shared anything with this app: this is the first time that it sees a key of it."),
    new: gettext("Your vault has not seen this key of this app before. Ask the app whether it changed its key."),
    known: "",
  };
  const domain = gettext("When you last approved this app, its domain was %(domain)s. Now it is another one, or none. If you did not expect that, deny.");
  const sentences = [words[memory.key], memory.domainBefore ? interpolate(domain, { domain: memory.domainBefore }) : "", knownWords(memory.knows)];
  const place = find("#own-memory");
  place.textContent = sentences.filter(Boolean).join(" ");
  place.hidden = !place.textContent;
  const question = invited?.closest(".notice");
  if (question instanceof HTMLElement) question.hidden = memory.isInvited;
}

/** What the app was answered about these values before: with one more answer it may know the value. @param {Record<string, any>} knows */
function knownWords(knows) {
  const answers = Object.entries(knows).map(([path, value]) => `${words[path]?.label ?? path}: ${inWords(value, words[path])}`);
  return answers.length ? interpolate(gettext("This app already knows: %(answers)s."), { answers: answers.join(", ") }) : "";
}

/** What is to be looked at before a decision. */
function goToValues() {
  const title = find("#data-title");
  title.focus({ preventScroll: true });
  title.scrollIntoView({ block: "start" });
}

/** Asks for the key over the page, which stays as it is. */
function goToLock() {
  if (!panel || panel.open) return;
  panel.showModal();
  firstField(panel)?.focus();
}

/** The first of the panel's fields that is to be seen: not every vault has a passphrase. @param {HTMLElement} within */
const firstField = (within) => all("input, button", within).find((field) => field.getClientRects().length > 0);

function hideValues() {
  valuesShown = false; // what was opened, the vault's module forgets by itself
  values.clear();
  showForms();
  for (const place of all("[data-value]", form)) {
    place.textContent = "";
    place.classList.add("is-locked");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", gettext("Locked"));
  }
}

const problem = find("#review-problem");

function hideProblem() {
  problem.hidden = true;
}

/** @param {string} text @param {HTMLElement[]} [actions] what to do about it */
function showWords(text, actions = []) {
  find("[data-text]", problem).textContent = text;
  find("[data-actions]", problem).replaceChildren(...actions);
  problem.hidden = false;
  problem.focus();
}

/** @param {unknown} error */
const showProblem = (error) => showWords(explain(error), wayOut(error));

/** What to do about it, where there is something to do. @param {unknown} error @returns {HTMLElement[]} */
function wayOut(error) {
  const reload = () => make("a", { class: "btn sml", href: location.pathname }, [gettext("Reload the page")]);
  if (error instanceof Refused && error.reason === "request_changed") return [reload()];
  if (!(error instanceof ApiError)) return [];
  if (error.code === "reauthentication_required") {
    return [make("a", { class: "btn sml", href: find("#reauthenticate").dataset.url ?? "" }, [gettext("Confirm that it is you")])];
  }
  if (error.code === "stale_revision") {
    const again = make("button", { class: "btn sml", type: "button" }, [gettext("Show the values as they are now")]);
    again.addEventListener("click", () => location.reload());
    return [again];
  }
  if (["signed_out", "authentication_required"].includes(error.code)) {
    return [make("a", { class: "btn sml", href: `/accounts/login/?next=${encodeURIComponent(location.pathname)}` }, [gettext("Sign in")])];
  }
  return ["already_decided", "request_expired", "request_changed", "csrf_failed"].includes(error.code) ? [reload()] : [];
}

function summarise() {
  if (!canApprove) return;
  const count = chosen().length;
  const line = find("#decision-summary");
  const text = ngettext("*%(count)s value* to %(app)s *until %(date)s*. Stop any time in Apps.", "*%(count)s values* to %(app)s *until %(date)s*. Stop any time in Apps.", count);
  if (count) line.replaceChildren(...text.split("*").map((words, at) => make(at % 2 ? "b" : "span", {}, dated(words, count, line.dataset.app ?? ""))), ...lessWords());
  else line.textContent = gettext("Choose at least one thing to share, or deny.");
}

/** What is shared in place of a value, said after the summary. @returns {(Node | string)[]} */
function lessWords() {
  const less = boxes().filter((box) => box.checked && formOf(box) !== box.value).map((box) => find(".value-label", box.closest("li") ?? form).textContent);
  return less.length ? [` ${interpolate(gettext("Less than asked for: %(names)s."), { names: less.join(", ") })}`] : [];
}

/** `words` of ours with what stands for it in them: the app's name is put in last, and is never read as a pattern. */
function dated(/** @type {string} */ words, /** @type {number} */ count, /** @type {string} */ app) {
  const [before = "", ...after] = words.split("%(date)s").map((part) => interpolate(part, { count, app }));
  return [before, ...after.flatMap((part) => [find("[data-until] time").cloneNode(true), part])];
}

function showTicks() {
  for (const box of boxes()) box.closest("li")?.classList.toggle("off", !box.checked);
  showForms();
  find("#ticked-count").textContent = interpolate(gettext("%(count)s of %(total)s"), { count: chosen().length, total: boxes().length });
  summarise();
}

/** Until when, were it approved now. */
function showEnd() {
  const length = /** @type {HTMLInputElement} */ (find("input[name=duration]:checked", form));
  const end = /** @type {HTMLTimeElement} */ (find("[data-until] time"));
  end.dateTime = new Date(Date.now() + Number(length.value) * 1000).toISOString();
  summarise();
  document.dispatchEvent(new Event("shell:refresh"));
}

/** @param {boolean} ticked */
function tickAll(ticked) {
  for (const box of boxes()) if (!box.disabled) box.checked = ticked;
  showTicks();
}

async function decide() {
  const seen = valuesShown; // as the button was pressed: values that come a moment later were not looked at
  hideProblem();
  if (!(await isUnlocked())) {
    goToLock();
    return;
  }
  if (!seen || !valuesShown) {
    if (!valuesShown) await showValues();
    if (valuesShown) goToValues();
    return;
  }
  if (!chosen().length) {
    showWords(gettext("Choose at least one thing to share, or deny."));
    return;
  }
  if (unvouched && !unvouched.checked) {
    find("#decision-summary").textContent = gettext("Nobody vouches for the app’s key. Tick that you share it all the same, or deny.");
    unvouched.focus({ preventScroll: true });
    unvouched.scrollIntoView({ block: "center" });
    return;
  }
  if (invited && !invited.checked && invited.getClientRects().length) {
    find("#decision-summary").textContent = gettext("Your vault does not know the sharing ID that the app used. Tick that you gave it to this app, or deny.");
    invited.focus({ preventScroll: true });
    invited.scrollIntoView({ block: "center" });
    return;
  }
  const duration = /** @type {HTMLInputElement} */ (find("input[name=duration]:checked", form)).value;
  try {
    const { approve } = await sealing();
    await compareWithPage();
    await approve(requestId, { attributes: chosen(), accessDuration: Number(duration), unvouched: unvouched?.checked ?? false, invited: invited?.checked ?? false });
    // back to where they came from; else the same address tells what happened
    location.replace("returns" in review.dataset ? `${location.pathname}return/` : location.pathname);
  } catch (error) {
    if (isInterrupted(error)) keepChoice("approve", { attributes: chosen(), duration });
    // what would be sealed next is not what stands here
    if (error instanceof ApiError && error.code === "stale_revision") valuesShown = false;
    showProblem(error);
  }
}

/** Signing in again led away from here: the same is ticked as before, and waits for the button to be pressed. */
function restoreChoice() {
  const before = takeChoice("approve");
  if (!before || !canApprove) return;
  for (const box of boxes()) {
    const kept = formsIn(box.closest("li")).find((form) => before.attributes.includes(form.value));
    if (kept) kept.checked = true;
    if (!box.disabled) box.checked = before.attributes.includes(formOf(box));
  }
  for (const one of /** @type {HTMLInputElement[]} */ (all("input[name=duration]", form))) one.checked = one.value === before.duration;
  showEnd();
  showWords(gettext("You had to sign in first, so nothing was shared. What you ticked is ticked again: unlock your data and approve to confirm it, or deny."));
}

restoreChoice();
form.addEventListener("change", (event) => {
  const pressed = /** @type {HTMLInputElement} */ (event.target);
  if (pressed.name === "duration") showEnd();
  else {
    const box = pressed.name.startsWith("form-") ? boxes().find((one) => one.value === pressed.name.slice("form-".length)) : undefined;
    if (box && !box.disabled) box.checked = true; // who chooses what to share of it shares it
    showTicks();
  }
});
form.addEventListener("keydown", (event) => {
  // Enter on a tick would press the form's button, which is Approve
  if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(approveButton, decide);
});
for (const button of all("[data-select]", form)) button.addEventListener("click", () => tickAll(button.dataset.select === "all"));
document.getElementById("show-values")?.addEventListener("click", goToLock);
// a page that came back from the browser's memory may hold other choices than it was sent with
showTicks();
showEnd();
approveButton.disabled = !canApprove; // without a script it stays as the page came: only the browser can seal
const entering = /** @type {HTMLFormElement | null} */ (document.querySelector("#enter-form"));
if (entering) void import("./entering.js").then(({ enterMissing }) => enterMissing(entering, goToLock));
// while something is entered, the page is about to be loaded again
void followLock({ opened: () => (entering && "busy" in entering.dataset ? undefined : showValues()), closed: hideValues });
whenLoaded(() => void sealing().catch(() => undefined));
