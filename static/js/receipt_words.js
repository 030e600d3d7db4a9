// @ts-check
// Shows what was checked of a receipt, and what a receipt says, in words.

import { gettext, region } from "./i18n.js";
import { make } from "./page.js";
import { humanised } from "./values.js";

/** @typedef {import("./proofs.js").Checked} Checked */

/** @param {"success" | "warn" | "danger"} kind @param {string} title @param {HTMLElement[]} children */
function notice(kind, title, children) {
  const body = make("div", { class: "notice-body" }, [make("p", { class: "notice-title" }, [title]), ...children]);
  return make("div", { class: `notice notice-${kind}` }, [body]);
}

/** @param {import("./proofs.js").Step} step */
function markOf({ holds, pending, unchecked }) {
  if (unchecked) return gettext("Not checked:");
  if (pending) return gettext("Not yet:");
  return holds ? gettext("Holds:") : gettext("Does not hold:");
}

/**
 * @param {Checked} checked
 * @param {{holds: string, fails: string, pending?: string, unconfirmed?: string}} titles `pending` where a step may wait, `unconfirmed`
 *   where others have to confirm it: that comes first, and what else holds under it
 * @returns {HTMLElement}
 */
export function verdict({ claims, steps }, titles) {
  const lines = steps.map((step) => {
    const mark = make("strong", { class: "proof-mark" }, [markOf(step)]);
    return make("li", {}, [mark, " ", step.words, ...(step.why ? [". ", step.why] : [])]);
  });
  const list = make("ol", { class: "proof", role: "list" }, lines);
  if (claims === null) return notice("danger", titles.fails, [list]);
  const pending = titles.pending !== undefined && steps.some((step) => step.pending);
  const title = (pending && titles.pending) || titles.holds;
  if (titles.unconfirmed && steps.some((step) => step.unconfirmed)) return notice("warn", titles.unconfirmed, [make("p", {}, [title]), list]);
  return notice(pending ? "warn" : "success", title, [list]);
}

const EVENTS = () => /** @type {Record<string, string>} */ ({
  approved: gettext("Approved"),
  denied: gettext("Denied"),
  cancelled: gettext("Cancelled"),
  expired: gettext("Expired"),
  revoked: gettext("Stopped by the person, by a rule of theirs, or with their old vault"),
  released: gettext("Given back by the app"),
  terminated: gettext("Ended by staff"),
  exhausted: gettext("All reads used"),
  superseded: gettext("Replaced by a newer approval"),
});

/** What the app said becomes of the data, as far as it said it. @param {any} claims @returns {[string, string][]} */
function handling({ recipients, storage, jurisdiction }) {
  /** @type {[string, string | undefined][]} */
  const facts = [
    [gettext("Who receives the data"), recipients],
    [gettext("Where the data is stored"), storage?.location],
    [gettext("How long it is kept"), storage?.retention],
    [gettext("Whose law applies"), jurisdiction],
  ];
  return /** @type {[string, string][]} */ (facts.filter(([, words]) => words));
}

const RIGHTS = () => /** @type {Record<string, string>} */ ({
  withdraw_consent: gettext("to stop at any time"),
  access: gettext("to see what is kept"),
  erasure: gettext("to have it erased"),
  portability: gettext("to take it along"),
  complaint: gettext("to complain to an authority"),
});

/** On what it rests, what the person may do, and what they were told. @param {any} claims @returns {[string, string][]} */
const standing = ({ lawful_basis: basis, rights, notice: privacyNotice, withdrawal_method: stop }) => [
  [gettext("On what it rests"), basis === "consent" ? gettext("Consent") : basis],
  [gettext("Rights"), rights.map((/** @type {string} */ right) => RIGHTS()[right] ?? right).join(", ")],
  [gettext("What the person was told"), `${privacyNotice.version} (${privacyNotice.language})`],
  [gettext("To stop"), stop],
];

/** What the receipt says; only of one whose signature holds. @param {any} claims @returns {HTMLElement} */
export function inWords(claims) {
  const when = (/** @type {string} */ text) => new Date(text).toLocaleString(region(), { dateStyle: "long", timeStyle: "short" });
  const names = claims.pii_types.map((/** @type {string} */ path) => humanised(path.split(".").slice(1).join(": "))).join(", ");
  /** @type {[string, string][]} */
  const facts = [
    [gettext("What happened"), EVENTS()[claims.event.type] ?? claims.event.type],
    [gettext("When"), when(claims.event.time)],
    [gettext("Who"), `${claims.pii_controller.name}, ${claims.pii_controller.contact}`],
    [gettext("About"), claims.pii_principal_id],
    [gettext("What"), names],
    [gettext("Why, in their own words"), claims.purpose],
    ...handling(claims),
    ...standing(claims),
    [gettext("Until when"), claims.retention.expires_at ? when(claims.retention.expires_at) : gettext("Nothing was shared")],
    [gettext("Receipt"), claims.receipt_id],
  ];
  return make("dl", { class: "pairs" }, facts.map(([name, value]) => make("div", {}, [make("dt", {}, [name]), make("dd", {}, [value])])));
}
