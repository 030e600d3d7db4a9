// @ts-check
// "Check this history": fetches the chain page by page, computes every hash again, names the first that does not fit, and
// finds the newest entry in the public log, which has to be the log that this browser saw before.

import { ENDS, readEntry } from "./formats/entries.js";
import { Refused } from "./formats/errors.js";
import { gettext, interpolate, ngettext, region } from "./i18n.js";
import { logSteps } from "./log/reading.js";
import { busy, explain, find, make, pageData, toast } from "./page.js";
import { verdict } from "./receipt_words.js";
import { humanised } from "./values.js";
import { getChain } from "./vault/api.js";
import { changes, isUnlocked, takeOlderState, whatWentBack } from "./vault/vault.js";

/** @typedef {import("./formats/entries.js").Entry} Entry */
/** @typedef {import("./proofs.js").Step} Step */
/** @typedef {{sequence: number, entry_hash: string}} Head */

/** Not of an empty history. */
const form = document.getElementById("verify-history");

/** @param {number} done @param {number} total */
function showProgress(done, total) {
  const progress = find("#verify-progress");
  const bar = /** @type {HTMLProgressElement} */ (find("progress", progress));
  bar.max = Math.max(total, 1);
  bar.value = done;
  find("[data-count]", progress).textContent = interpolate(gettext("%(done)s of %(total)s"), { done, total });
}

/** Why an entry does not follow the one before it, if so. @param {Entry} entry @param {Head} last @param {string} chain @returns {string | null} */
function flaw(entry, last, chain) {
  if (entry.chain !== chain) return gettext("It is of somebody else's history.");
  if (entry.sequence !== last.sequence + 1) return gettext("An entry is missing before it.");
  if (entry.prev_hash !== last.entry_hash) return gettext("It does not follow the entry before it.");
  try {
    // the facts of somebody's own chain go with the whole account, never before
    return readEntry(entry).facts ? null : gettext("What it tells is gone.");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return gettext("It is not what was written.");
  }
}

/** @typedef {{broken: {sequence: number, why: string} | null, count: number, chain: string, hashes: Map<number, string>, times: Map<number, string>, approved: Map<string, any>}} Walked `approved` is grant → facts */
/** @typedef {{grant_id: string, app_name: string, approved_attributes: string[], expires_at: string}} Running */

/** The whole chain, computed again. @returns {Promise<Walked>} */
async function walk() {
  /** @type {Head} */
  let last = { sequence: 0, entry_hash: "" };
  const [hashes, times, approved] = [new Map(), new Map(), new Map()];
  for (;;) {
    const { head, entries } = await getChain(last.sequence);
    for (const entry of /** @type {Entry[]} */ (entries)) {
      const why = flaw(entry, last, head.chain);
      if (why) return { broken: { sequence: last.sequence + 1, why }, count: last.sequence, chain: head.chain, hashes, times, approved };
      last = entry;
      hashes.set(entry.sequence, entry.entry_hash);
      times.set(entry.sequence, entry.at);
      if (entry.kind === "approved") approved.set(entry.facts?.grant_id, entry.facts);
      else if (ENDS.has(entry.kind)) approved.delete(entry.facts?.grant_id);
    }
    showProgress(last.sequence, head.sequence);
    if (entries.length && last.sequence < head.sequence) continue;
    // what was appended between two answers is no fault; a head that nothing leads to is
    const whole = last.sequence > head.sequence || (last.sequence === head.sequence && last.entry_hash === head.entry_hash);
    const broken = whole ? null : { sequence: last.sequence + 1, why: gettext("The history ends before its newest entry.") };
    return { broken, count: last.sequence, chain: head.chain, hashes, times, approved };
  }
}

/** @param {Awaited<ReturnType<typeof walk>>} walked @returns {Step} */
function chainStep({ broken, count }) {
  if (broken) return { words: interpolate(gettext("Entry %(n)s"), { n: broken.sequence }), holds: false, why: broken.why };
  const words = ngettext("%(n)s entry is as it was written", "All %(n)s entries are as they were written", count);
  return { words: interpolate(words, { n: count }), holds: true };
}

/** Who reads without an approval in the history. @param {Walked} walked @returns {Step} */
function approvalStep({ approved }) {
  const running = /** @type {Running[]} */ (pageData("running-grants"));
  const without = running.filter(({ grant_id, approved_attributes, expires_at }) => {
    const entered = approved.get(grant_id)?.grant;
    return entered?.expires_at !== expires_at || JSON.stringify(entered.approved_attributes) !== JSON.stringify(approved_attributes);
  });
  const words = gettext("You approved everything that is shared now");
  if (!without.length) return { words, holds: true };
  const apps = [...new Set(without.map(({ app_name }) => app_name))].join(", ");
  return { words, holds: false, unapproved: true, why: interpolate(gettext("Your history tells of no such approval for %(apps)s. Stop sharing with them, and tell us."), { apps }) };
}

/** @typedef {import("./log/reading.js").Taken} Taken */

/** The way on where the log's key changed: the operator's word, on another way than this page. @param {string[]} keys @param {Taken} taken */
function offerKeys(keys, taken) {
  const take = make("button", { class: "btn sml", type: "button" }, [gettext("The operator confirmed this key: take it")]);
  take.addEventListener("click", () => void busy(take, () => verify({ ...taken, keys })));
  return make("div", { class: "stack stack-s", id: "log-key-offer" }, [
    make("p", {}, [gettext("The service names this key. Ask the operator whether it is theirs, on a way that does not lead over this service. Until then, take it for somebody else's.")]),
    ...keys.map((key) => make("p", {}, [make("code", { class: "break" }, [key])])),
    make("p", {}, [take]),
  ]);
}

/**
 * The way on after a restore: the person knows of it, and looks twice.
 * @param {string} id @param {{what: string, facts: [string, string][], go: string, from: string, take: string, onTake: () => Promise<void>}} words
 */
function offerRestored(id, { what, facts, go: goOn, from, take: takeIt, onTake }) {
  const go = make("button", { class: "btn sml", type: "button", "aria-expanded": "false", "aria-controls": `${id}-second` }, [goOn]);
  const take = make("button", { class: "btn sml", type: "button" }, [takeIt]);
  take.addEventListener("click", () => void busy(take, onTake));
  const second = make("div", { class: "stack stack-s", id: `${id}-second`, hidden: "" }, [make("p", {}, [from]), make("p", {}, [take])]);
  go.addEventListener("click", () => {
    second.hidden = false;
    go.setAttribute("aria-expanded", "true");
    take.focus();
  });
  return make("div", { class: "stack stack-s", id: `${id}-offer` }, [
    make("p", {}, [what]),
    make("dl", { class: "pairs" }, facts.map(([name, value]) => make("div", {}, [make("dt", {}, [name]), make("dd", { class: "break" }, [value])]))),
    make("p", {}, [go]),
    second,
  ]);
}

/** Which of the person's data went back, in words. @param {{place: string, from: number, to: number}[]} segments */
function wentBack(segments) {
  const domains = [...new Set(segments.map(({ place }) => place.split(".")[0] ?? ""))];
  return domains.map((domain) => {
    const parts = segments.filter(({ place }) => place.startsWith(`${domain}.`));
    const gone = parts.filter(({ to }) => to === 0).length;
    const changes = parts.reduce((sum, { from, to }) => sum + (to ? from - to : 0), 0);
    const words = [
      ...(changes ? [interpolate(ngettext("%(n)s change went back", "%(n)s changes went back", changes), { n: changes })] : []),
      ...(gone ? [interpolate(ngettext("%(n)s part is not there any more", "%(n)s parts are not there any more", gone), { n: gone })] : []),
    ];
    return /** @type {[string, string]} */ ([humanised(domain), words.join(", ")]);
  });
}

/** A scope by its names. @param {string} scope */
const inWords = (scope) => scope.split(".").slice(1).filter((part) => part !== "*").map(humanised).join(": ");

/** What the service shows is older than what this browser saw: said before anything is sealed, with what to do. */
async function showOlderState() {
  const section = find("#older-state");
  const found = (await isUnlocked()) ? await whatWentBack() : null;
  section.hidden = found === null;
  if (!found) return;
  find("[data-offer]", section).replaceChildren(found.areGone ? goneNotes() : offerOlder(found));
  section.scrollIntoView({ block: "start" });
  section.focus({ preventScroll: true });
}

/** Nothing to go on with: no browser takes a vault without the notes that came with it. */
const goneNotes = () =>
  make("div", { class: "stack stack-s" }, [
    make("p", {}, [gettext("What your vault wrote down for itself is gone: which keys it knows, and what it approved. Your data can be read here, and nothing can be shared any more. Ask the operator to bring it back, on a way that does not lead over this service. If they cannot, only a new vault helps: download your data before you make one.")]),
    make("p", {}, [make("a", { href: "/account/security/" }, [gettext("Security")])]),
  ]);

/** @param {import("./vault/older_state.js").WentBack} found */
function offerOlder({ seenAt, keptAt, segments, shown, entries, isBehind }) {
  const when = new Intl.DateTimeFormat(region(), { dateStyle: "long", timeStyle: "short" });
  return offerRestored("older-state", {
    what: gettext("That is so where the service was restored from a backup. It is also what somebody would do who wants to bring back what you stopped or changed. Ask the operator what happened, on a way that does not lead over this service. As long as you wait, nothing is shared from here; what is there can be read."),
    facts: [
      .../** @type {[string, string][]} */ (seenAt === null ? [] : [[gettext("Seen here last"), when.format(seenAt)]]),
      [gettext("What is there now is of"), keptAt === null ? gettext("Nothing is there any more") : when.format(keptAt)],
      .../** @type {[string, string][]} */ (entries ? [[gettext("Your own history"), interpolate(ngettext("%(n)s entry is gone, or another stands in its place", "%(n)s entries are gone, or others stand in their place", entries), { n: entries })]] : []),
      .../** @type {[string, string][]} */ (isBehind ? [[gettext("Your own history"), gettext("It tells of a later state of your vault")]] : []),
      ...wentBack(segments),
      .../** @type {[string, string][]} */ (shown.length ? [[gettext("Hidden by you, and shown to apps again"), shown.map(inWords).join(", ")]] : []),
    ],
    go: gettext("Go on with the older state…"),
    from: gettext("From then on this browser compares with what is there now. What went back stays so. Whatever apps get whenever you change it is asked about again, since you may have stopped it in the meantime."),
    take: gettext("I know of the restore: go on"),
    onTake: async () => {
      try {
        await takeOlderState();
        location.replace("/consent/history/");
      } catch (error) {
        toast(explain(error), "warn");
      }
    },
  });
}

/** Where the log began anew. @param {import("./proofs.js").Epoch} epoch @param {Taken} taken */
const offerEpoch = ({ last, size, newest, lost }, taken) =>
  offerRestored("log-epoch", {
    what: gettext("A log begins anew where the service was restored from a backup and what it had published could not be brought back. It is also what somebody would do who has something to hide. Ask the operator what happened, on a way that does not lead over this service."),
    facts: [
      [gettext("The log that was seen"), interpolate(gettext("%(name)s, with %(n)s entries"), { name: last, n: size })],
      [gettext("The new log"), newest],
      [gettext("Your own history"), lost],
    ],
    go: gettext("Go on with the new log…"),
    from: gettext("From then on this browser, and your other devices, compare with the new log alone. What the old one got after the backup is lost, and nobody can show you any more what it was."),
    take: gettext("I know of the restore: take the new log"),
    onTake: () => verify({ ...taken, epoch: newest }),
  });

/** Where the log is the same, and what was seen of the history or the notes is gone. @param {string} lost @param {Taken} taken */
const offerLoss = (lost, taken) =>
  offerRestored("history-loss", {
    what: gettext("Was the service restored from a backup? Then what came after it is gone. It is also what somebody would do who has something to hide. Ask the operator what happened, on a way that does not lead over this service."),
    facts: [[gettext("Your own history"), lost]],
    go: gettext("Go on with what is left…"),
    from: gettext("From then on this browser compares with what is left alone. What is gone stays gone, and nobody can show you any more what it was."),
    take: gettext("I know of the restore: go on"),
    onTake: () => verify({ ...taken, restored: true }),
  });

/**
 * What to do about a step that failed for something that the person may take.
 * @param {Step[]} steps @param {Taken} taken @returns {{title?: string, offer: HTMLElement} | null}
 */
function offerOf(steps, taken) {
  const { keys, epoch, lost } = steps.find((step) => step.keys ?? step.epoch ?? step.lost) ?? {};
  if (keys) return { title: gettext("The public log has another key, and nobody whom this browser knows vouches for it."), offer: offerKeys(keys, taken) };
  if (epoch) return { title: gettext("The public log begins anew, and nothing shows what was lost."), offer: offerEpoch(epoch, taken) };
  return lost ? { offer: offerLoss(lost, taken) } : null;
}

/** @param {Taken} [taken] what the person takes of the log */
async function verify(taken = {}) {
  const progress = find("#verify-progress");
  progress.hidden = false;
  showProgress(0, 0);
  try {
    const walked = await walk();
    const steps = [chainStep(walked), ...(walked.broken ? [] : [approvalStep(walked), ...(await logSteps(walked, taken))])];
    const holds = steps.every((step) => step.holds);
    const offered = offerOf(steps, taken);
    const titles = {
      holds: gettext("Your history is as it was written."),
      pending: gettext("Your history is as it was written. Not all of it is published yet."),
      unconfirmed: gettext("Not confirmed by others"),
      fails: steps.some((step) => step.unapproved)
        ? gettext("Somebody reads your data without your approval.")
        : offered?.title ?? gettext("Your history does not hold. Tell us: this must not happen."),
    };
    const place = find("#verify-result");
    place.replaceChildren(verdict({ claims: holds ? {} : null, steps }, titles), ...(offered ? [offered.offer] : []));
    place.focus();
  } catch (error) {
    progress.hidden = true;
    toast(explain(error), "warn");
  }
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(find("button[type=submit]", form), () => verify());
});
const look = () => void showOlderState().catch((error) => toast(explain(error), "warn"));
changes.addEventListener("unlocked", look);
look();
