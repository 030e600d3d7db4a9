// @ts-check
// One domain: every segment is a form. A save writes only what changed, and overwrites nothing unseen.

import { chosenOf, confirmed, undoBar } from "./domain_questions.js";
import { dropDraft, keepDraft, openDraft } from "./drafts.js";
import { gettext, interpolate } from "./i18n.js";
import { all, busy, entry, explain, find, fromTemplate, make, pageData } from "./page.js";
import { refreshExports } from "./refresh.js";
import { followLock } from "./unlock.js";
import { asName, editor, humanised } from "./values.js";
import { Conflict, hideScope, isInterrupted, isUnlocked, Locked, openAll, showScope, writeAll, writeAttributes } from "./vault/vault.js";

/** @typedef {import("./values.js").Word} Word */
/** @typedef {import("./values.js").Editor} Editor */
/** @typedef {{content_revision: number, values: Record<string, unknown>} | null} Seen */

const domain = find("#domain").dataset.domain ?? "";
/** @type {Record<string, {label: string, attributes: Record<string, Word & {help: string}>}>} */
const known = pageData("segments");
const problem = find("#vault-problem");

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

class Segment {
  /** @param {HTMLElement} section */
  constructor(section) {
    this.section = section;
    this.id = section.dataset.segment ?? "";
    this.words = entry(known, this.id).attributes;
    /** @type {Map<string, Editor>} */
    this.editors = new Map();
    /** @type {Seen} */
    this.seen = null;
    this.form = /** @type {HTMLFormElement} */ (find("[data-fields-form]", section));
    this.save = /** @type {HTMLButtonElement} */ (find("[data-save]", section));
    this.settled = false; // whether the last save was a choice between two values
    this.kept = false; // whether what is typed waits in this tab for a sign-in
    this.changed = false; // whether something is typed that is not saved
    this.form.addEventListener("input", () => {
      this.mark();
      if (this.kept) void this.keepTyped();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void busy(this.save, () => this.submit());
    });
    find("[data-own-add]", section).addEventListener("click", () => this.addOwn());
    find("[data-own-name]", section).addEventListener("keydown", (event) => {
      if (/** @type {KeyboardEvent} */ (event).key !== "Enter") return;
      event.preventDefault();
      this.addOwn();
    });
    find("[data-clear]", section).addEventListener("click", () => this.clear());
  }

  /** @param {string} name @returns {Word} */
  wordOf(name) {
    const known = Object.hasOwn(this.words, name) ? this.words[name] : undefined;
    return known ?? { label: humanised(name), kind: "text", options: {}, parts: {} };
  }

  /** @param {Seen} seen what is stored now, as this page shows it @param {Record<string, unknown>} [typed] over it, not saved */
  show(seen, typed = {}) {
    this.seen = seen;
    this.kept = false;
    const at = this.form.contains(document.activeElement) ? document.activeElement?.id : "";
    const values = Object.fromEntries(Object.entries({ ...seen?.values, ...typed }).filter(([, value]) => value !== null));
    this.editors.clear();
    find("[data-fields]", this.section).replaceChildren(...Object.entries(this.words).map(([name, word]) => this.field(name, word, values[name])));
    const own = Object.keys(values).filter((name) => !Object.hasOwn(this.words, name));
    find("[data-own]", this.section).replaceChildren(...own.map((name) => this.ownField(name, values[name])));
    find("[data-clear]", this.section).hidden = !Object.keys(values).length;
    this.fail("");
    this.mark();
    markWhole();
    if (at) document.getElementById(at)?.focus({ preventScroll: true });
  }

  /** Shows what is stored, with what was typed before a sign-in was needed. @param {Seen} seen */
  async showAgain(seen) {
    this.show(seen);
    const draft = /** @type {{seen: Seen, changes: Record<string, unknown>} | null} */ (await openDraft(this.id));
    if (!draft) return;
    this.show(draft.seen, draft.changes); // as the page was: whatever changed meanwhile is a conflict, and is asked about
    const discard = make("button", { class: "btn q sml", type: "button" }, [gettext("Discard it")]);
    discard.addEventListener("click", () => {
      dropDraft(this.id);
      this.show(seen);
    });
    find("[data-state]", this.section).replaceChildren(gettext("What you typed is filled in again. Save it, or discard it."), " ", discard);
  }

  async keepTyped() {
    try {
      this.kept = await keepDraft(this.id, { seen: this.seen, changes: this.changes() });
    } catch { /* something typed does not fit yet: it stays on the page */ }
  }

  /** Takes every value off the page. */
  hide() {
    this.dropUndo();
    this.changed = false;
    this.save.disabled = true;
    this.seen = null;
    this.editors.clear();
    find("[data-fields]", this.section).replaceChildren();
    find("[data-own]", this.section).replaceChildren();
  }

  /** @param {string} name @param {Word & {help?: string}} word @param {unknown} value @returns {HTMLElement} */
  field(name, word, value) {
    const id = `f-${this.id}-${name}`;
    const made = editor(word, id, value);
    this.editors.set(name, made);
    const wide = ["group", "list"].includes(word.kind) || made.element.tagName === "TEXTAREA";
    const grouped = made.element.getAttribute("role") === "group";
    const label = grouped ? make("p", { class: "label", id: `${id}-label` }, [word.label]) : make("label", { class: "label", for: id }, [word.label]);
    if (grouped) made.element.setAttribute("aria-labelledby", `${id}-label`);
    return make("div", { class: wide ? "field field-wide" : "field", "data-name": name }, [label, made.element]);
  }

  /** @param {string} name @param {unknown} value @returns {HTMLElement} */
  ownField(name, value) {
    const field = this.field(name, this.wordOf(name), value);
    const remove = fromTemplate("own-remove");
    find("[data-label]", remove).textContent = interpolate(gettext("Delete %(name)s"), { name: humanised(name) });
    remove.addEventListener("click", () => this.removeOwn(name, field));
    field.append(remove);
    field.classList.add("field-own");
    return field;
  }

  addOwn() {
    const input = /** @type {HTMLInputElement} */ (find("[data-own-name]", this.section));
    const name = asName(input.value);
    if (!name) return this.fail(gettext("Give it a name with at least one letter."));
    if (this.editors.has(name)) {
      find(`#f-${this.id}-${name}`, this.section).focus();
      return this.fail("");
    }
    find("[data-own]", this.section).append(this.ownField(name, null));
    input.value = "";
    this.fail("");
    find(`#f-${this.id}-${name}`, this.section).focus();
    return undefined;
  }

  /** @param {string} name @param {HTMLElement} field */
  async removeOwn(name, field) {
    if (!(name in (this.seen?.values ?? {}))) {
      this.editors.delete(name);
      field.remove();
      this.mark();
      return;
    }
    if (await confirmed(interpolate(gettext("“%(name)s” will be deleted from your data."), { name: humanised(name) }))) await this.take([name]);
  }

  async clear() {
    const text = interpolate(gettext("Everything under “%(name)s” will be deleted from your data."), { name: entry(known, this.id).label });
    if (await confirmed(text)) await this.take(Object.keys(this.seen?.values ?? {}));
  }

  /** Deletes these, and offers to put them back. @param {string[]} names */
  async take(names) {
    const before = this.valuesOf(names);
    if (!(await this.store(Object.fromEntries(names.map((name) => [name, null]))))) return;
    find("[data-undo]", this.offerUndo(before, gettext("Deleted."))).focus();
  }

  /** What these are now, null where there is none. @param {string[]} names @returns {Record<string, unknown>} */
  valuesOf(names) {
    return Object.fromEntries(names.map((name) => [name, this.seen?.values[name] ?? null]));
  }

  /** One step back, as a new revision: what somebody else wrote meanwhile is asked about. @param {Record<string, unknown>} before @param {string} text */
  offerUndo(before, text) {
    this.dropUndo();
    const bar = undoBar(text, () => {
      find("h2", this.section).focus({ preventScroll: true }); // the button is gone
      return this.store(before);
    });
    this.form.after(bar);
    return bar;
  }

  dropUndo() {
    this.section.querySelector("[data-undo]")?.parentElement?.remove();
  }

  async submit() {
    try {
      const changes = this.changes();
      if (!Object.keys(changes).length) return;
      const before = this.valuesOf(Object.keys(changes));
      this.settled = false;
      // after a choice between two values there is no one step back
      if ((await this.store(changes)) && !this.settled) this.offerUndo(before, gettext("Saved. You can take it back."));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.fail(error.message);
    }
  }

  /** @returns {Record<string, unknown>} attribute → new value, null takes it away; throws a RangeError with words */
  changes() {
    const before = this.seen?.values ?? {};
    const read = [...this.editors].map(([name, made]) => {
      try {
        return [name, made.read()];
      } catch (error) {
        if (error instanceof RangeError) throw new RangeError(`${this.wordOf(name).label}: ${error.message}`);
        throw error;
      }
    });
    return Object.fromEntries(read.filter(([name, value]) => !same(value, before[/** @type {string} */ (name)])));
  }

  mark() {
    this.changed = true;
    try {
      this.changed = Object.keys(this.changes()).length > 0;
    } catch { /* something typed does not fit yet: saving says what */ }
    this.save.disabled = !this.changed && this.save !== document.activeElement; // or whoever pressed it would be nowhere
    find("[data-state]", this.section).textContent = this.changed ? gettext("Not saved yet") : "";
  }

  /** @param {Record<string, unknown>} changes @returns {Promise<boolean>} whether it was written */
  async store(changes) {
    try {
      const written = await writeAttributes(domain, this.id, changes, this.seen);
      dropDraft(this.id);
      this.show({ content_revision: written.content_revision, values: written.values });
      find("[data-state]", this.section).textContent = gettext("Saved");
      void refreshExports();
      return true;
    } catch (error) {
      if (error instanceof Conflict) return this.settle(changes, error);
      if (isInterrupted(error)) await this.keepTyped();
      this.fail(explain(error));
      return false;
    }
  }

  /** Shows both values of each difference and writes what is chosen. @param {Record<string, unknown>} changes @param {Conflict} conflict */
  async settle(changes, conflict) {
    const choices = await chosenOf(conflict, (name) => this.wordOf(name));
    if (!choices) return false;
    this.settled = true;
    const now = (await openAll({ domain })).find(({ segment_id }) => segment_id === this.id) ?? null;
    const kept = Object.fromEntries(Object.entries(changes).filter(([name]) => choices[name] !== "theirs"));
    if (Object.keys(kept).length) {
      this.seen = now;
      return this.store(kept);
    }
    this.show(now);
    return true;
  }

  /** @param {string} text */
  fail(text) {
    const place = find("[data-error]", this.section);
    place.textContent = text;
    place.hidden = !text;
  }
}

const segments = all("[data-segment]").map((section) => new Segment(section));

const whole = find("#clear-domain");
const clearWhole = /** @type {HTMLButtonElement} */ (find("[data-clear-domain]", whole));

/** Nothing to delete, no button. */
function markWhole() {
  clearWhole.hidden = !segments.some(({ seen }) => Object.keys(seen?.values ?? {}).length);
}

/** @param {string} text */
function failWhole(text) {
  const place = find("[data-error]", whole);
  place.textContent = text;
  place.hidden = !text;
}

/** What this domain holds, as this page shows it; a segment that the page does not show, as it is stored. */
async function contents() {
  const stored = /** @type {{segment_id: string, content_revision: number, values: Record<string, unknown>}[]} */ (await openAll({ domain }));
  const unshown = stored.filter(({ segment_id }) => !segments.some(({ id }) => id === segment_id));
  const found = [
    ...segments.map(({ id, seen }) => ({ id, seen })),
    ...unshown.map(({ segment_id, content_revision, values }) => ({ id: segment_id, seen: { content_revision, values } })),
  ];
  return found.flatMap(({ id, seen }) => (seen && Object.keys(seen.values).length ? [{ id, seen }] : []));
}

/** Deletes segment after segment. What was changed elsewhere meanwhile stays, and all that went can be put back. */
async function clearDomain() {
  const text = interpolate(gettext("Everything in “%(name)s” will be deleted from your data."), { name: find("#domain").dataset.label ?? "" });
  if (!(await confirmed(text))) return;
  failWhole("");
  dropWholeUndo();
  /** @type {{id: string, before: Record<string, unknown>, seen: NonNullable<Seen>}[]} */
  const gone = [];
  const before = await contents().catch(refusedWhole);
  for (const { id, seen } of before ?? []) {
    const changes = Object.fromEntries(Object.keys(seen.values).map((name) => [name, null]));
    const left = await changeWhole(id, () => writeAttributes(domain, id, changes, seen));
    if (left === undefined) break;
    if (left) gone.push({ id, before: seen.values, seen: left });
  }
  if (!gone.length) return;
  void refreshExports();
  const bar = undoBar(gettext("Deleted."), () => putBack(gone));
  whole.append(bar);
  find("[data-undo]", bar).focus();
}

/** @param {{id: string, before: Record<string, unknown>, seen: NonNullable<Seen>}[]} gone */
async function putBack(gone) {
  failWhole("");
  const left = [...gone];
  for (const { id, before, seen } of gone) {
    // where null was a value it is one again
    if ((await changeWhole(id, () => writeAll(domain, id, before, seen))) === undefined) break;
    left.shift();
  }
  if (left.length) whole.append(undoBar(gettext("Not everything is back yet."), () => putBack(left)));
  void refreshExports();
}

/**
 * One segment of several. @param {string} id @param {() => Promise<NonNullable<Seen>>} write
 * @returns {Promise<NonNullable<Seen> | null | undefined>} what is there now; null where it was changed elsewhere and
 *   stays; undefined where nothing more can be done now
 */
async function changeWhole(id, write) {
  const segment = segments.find((one) => one.id === id);
  try {
    const { content_revision, values } = await write();
    dropDraft(id);
    segment?.dropUndo();
    segment?.show({ content_revision, values });
    return { content_revision, values };
  } catch (error) {
    if (!(error instanceof Conflict)) return refusedWhole(error);
    failWhole(gettext("Some of it was changed somewhere else meanwhile, and stays as it is there. Load this page again to see it."));
    return null;
  }
}

/** @param {unknown} error @returns {undefined} */
function refusedWhole(error) {
  failWhole(explain(error));
}

function dropWholeUndo() {
  whole.querySelector("[data-undo]")?.parentElement?.remove();
}

clearWhole.addEventListener("click", () => busy(clearWhole, clearDomain));

/**
 * The vault remembers what it hides, and alone may show it again: its notes go with the change, and the form then tells of it.
 * A locked vault can hide by the form alone.
 * @param {HTMLFormElement} form @param {HTMLButtonElement} button
 */
async function changeDiscovery(form, button) {
  const scope = /** @type {HTMLInputElement} */ (find("[name=scope]", form)).value;
  problem.hidden = true;
  try {
    if (await isUnlocked()) await (button.value === "1" ? hideScope(scope) : showScope(scope));
    for (const segment of segments) if (segment.changed) await segment.keepTyped(); // the page comes anew
    form.dataset.remembered = "";
  } catch (error) {
    if (button.value === "1") form.dataset.remembered = ""; // hiding waits for nothing
    else {
      problem.textContent = explain(error);
      problem.hidden = false;
      problem.scrollIntoView({ block: "center" });
    }
  }
}

for (const form of /** @type {HTMLFormElement[]} */ (all("form[data-discovery]"))) {
  form.addEventListener("submit", (event) => {
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
    if (form.dataset.remembered !== undefined || !button) return;
    event.preventDefault();
    event.stopPropagation();
    void busy(button, () => changeDiscovery(form, button)).then(() => form.dataset.remembered === undefined || form.requestSubmit(button));
  });
}

async function opened() {
  problem.hidden = true;
  try {
    const stored = await openAll({ domain });
    for (const segment of segments) await segment.showAgain(stored.find(({ segment_id }) => segment_id === segment.id) ?? null);
    goToNamed();
  } catch (error) {
    if (error instanceof Locked) return;
    problem.textContent = explain(error);
    problem.hidden = false;
  }
}

/** Takes every value off the page, also those that could have been put back. */
function closed() {
  segments.forEach((segment) => segment.hide());
  dropWholeUndo();
  failWhole("");
}

let named = location.hash.slice(1);

/** To the field that a search led to, once it is there. */
function goToNamed() {
  const field = named.startsWith("f-") ? document.getElementById(named) : null;
  named = "";
  field?.scrollIntoView({ block: "center" });
  field?.focus({ preventScroll: true });
}

addEventListener("beforeunload", (event) => {
  if (segments.some((segment) => segment.changed && !segment.kept)) event.preventDefault();
});
void followLock({ opened, closed });
