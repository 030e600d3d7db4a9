// @ts-check
// Small things that every page's script does: find, make, announce, explain.

import { BadSecret, Refused } from "./formats/errors.js";
import { gettext } from "./i18n.js";
import { ApiError } from "./vault/api.js";
import { CannotUnlock, Locked } from "./vault/keyring.js";
import { PasskeyError } from "./vault/passkey.js";

/**
 * The element that the page must have.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector @param {ParentNode} [within]
 * @returns {T}
 */
export function find(selector, within = document) {
  const found = within.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return /** @type {T} */ (/** @type {unknown} */ (found));
}

/** @param {string} selector @param {ParentNode} [within] @returns {HTMLElement[]} */
export const all = (selector, within = document) => [.../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector))];

/** A fresh copy of a `<template>`'s first element. @param {string} id @returns {HTMLElement} */
export function fromTemplate(id) {
  const template = /** @type {HTMLTemplateElement} */ (find(`template#${id}`));
  return /** @type {HTMLElement} */ (document.importNode(template.content, true).firstElementChild);
}

/**
 * @param {string} tag @param {Record<string, string>} [attributes] @param {(Node | string)[]} [children]
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * What the page must hold under that name.
 * @template T
 * @param {Record<string, T>} table @param {string} name
 * @returns {T}
 */
export function entry(table, name) {
  const found = table[name];
  if (found === undefined) throw new Error(`the page knows no ${name}`);
  return found;
}

/** The JSON that the server left in the page. @param {string} id @returns {any} */
export const pageData = (id) => JSON.parse(find(`#${id}`).textContent || "null");

/** @param {string} text @param {"info" | "success" | "warn" | "danger"} [tone] */
export const toast = (text, tone = "success") => dispatchEvent(new CustomEvent("toast", { detail: { text, tone } }));

/** Once nothing that the page itself needs is on its way any more. @param {() => void} work */
export function whenLoaded(work) {
  if (document.readyState === "complete") work();
  else addEventListener("load", () => work(), { once: true });
}

/** @param {HTMLElement} button @param {() => Promise<unknown>} work */
export async function busy(button, work) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/**
 * What went wrong, for the person, and what to do about it.
 * @param {unknown} error
 * @returns {string}
 */
export function explain(error) {
  if (error instanceof Locked) return gettext("Your data is locked. Unlock it and try again.");
  if (error instanceof CannotUnlock) return gettext("That does not open your data. Check it and try again.");
  if (error instanceof BadSecret && error.code === "not_a_recovery_code") return gettext("A recovery code has eight groups of four letters and digits.");
  if (error instanceof BadSecret) return gettext("A passphrase has at least 12 characters.");
  if (error instanceof PasskeyError) return passkeyWords(error.code);
  if (error instanceof Refused) return refusedWords(error);
  if (error instanceof ApiError) return apiWords(error);
  console.error(error);
  return gettext("Something went wrong on this page. Reload it and try again.");
}

/** @param {string} code */
function passkeyWords(code) {
  if (code === "cancelled") return gettext("The passkey was not used.");
  if (code === "no_prf") return gettext("This passkey cannot unlock your data. Another device or browser may be able to.");
  if (code === "unsupported") return gettext("This browser cannot do this with a passkey. Use your passphrase.");
  return gettext("The passkey could not be used here.");
}

/** @param {{reason: string}} error */
function refusedWords({ reason }) {
  if (reason === "request_changed") return gettext("This request is not what it says it is, so nothing was shared. Reload the page to see it as it is now.");
  if (reason === "cannot_open") return gettext("A part of your data does not open with your key. Nothing was changed or shared.");
  if (reason === "unknown_invitation") return gettext("Your vault does not know the sharing ID that the app used. Tick that you gave it to this app, or deny.");
  if (reason === "not_approved") return gettext("Your vault did not approve this, so nothing was sent.");
  if (reason === "remembered_vault") return gettext("This browser remembers a vault of yours. Read what stands above about that, and tick that you go on.");
  if (reason === "rolled_back") return gettext("The service shows an older state than this browser saw, so nothing was shared.");
  if (reason === "signing_key") return gettext("The service names another approval key than the one in your vault, so nothing was approved. Tell the operator.");
  return gettext("What was stored does not fit the rules, so this page stopped. Nothing was changed or shared.");
}

/** @param {any} body */
function quotaWords(body) {
  return body?.segments === undefined
    ? gettext("The copies that apps may read take all the room there is for them. Stop sharing what you no longer need, then try again.")
    : gettext("Your storage is full. Delete what you no longer need, then try again. What you keep was not changed.");
}

/** @param {{code: string, status: number, body: any}} error */
function apiWords({ code, status, body }) {
  const words = {
    network: gettext("The server could not be reached. Nothing was lost: check the connection and try again."),
    signed_out: gettext("You are signed out. Sign in again to go on."),
    authentication_required: gettext("You are signed out. Sign in again to go on."),
    csrf_failed: gettext("This page is too old. Reload it and try again."),
    reserved_name: gettext("Apps ask by this name for an answer that is made from another value. Choose another name."),
    stale_revision: gettext("Your data changed somewhere else in the meantime. Look at the values again."),
    already_decided: gettext("This request was decided already. Reload the page to see how."),
    request_expired: gettext("This request has expired. The app can ask again."),
    request_changed: gettext("This request is not what it says it is, so nothing was shared. Reload the page to see it as it is now."),
    required_attribute_missing: gettext("Something that this request needs is missing."),
    invalid_attributes: gettext("Choose at least one thing to share."),
    invalid_duration: gettext("That duration is longer than the app asked for."),
    export_mismatch: gettext("What was sealed does not fit the request, so nothing was shared. Reload the page."),
    approval_mismatch: gettext("What your vault signed was not accepted, so nothing was shared. Look whether the clock of this device is right, then reload the page."),
    move_not_allowed: gettext("This sharing changed in the meantime. Reload the page to see it as it is now."),
    reauthentication_required: gettext("Confirm that it is you, then do this again."),
    possession_required: gettext("What unlocks your data was not shown. Begin the change of its key once more."),
    rotation_under_way: gettext("The key of your data is being changed. Finish that on the security page, or give it up there."),
    rotation_incomplete: gettext("Your data changed all the time, so the change of its key could not be finished. Go on in a moment."),
    last_wrapper: gettext("This is the last way to unlock your data, so it cannot be removed."),
    too_many_wrappers: gettext("There are as many ways to unlock as there can be. Remove one first."),
    vault_exists: gettext("Your data was set up already, perhaps in another tab. Reload the page."),
    payload_too_large: gettext("This is too large to be kept in one place."),
    quota_exceeded: quotaWords(body),
    too_many_requests: gettext("That was often enough for now. Nothing was changed: try again in an hour."),
    temporarily_unavailable: gettext("The service is busy. Nothing was changed: try again in a moment."),
    unknown_request: gettext("There is no such request any more."),
  };
  const known = /** @type {Record<string, string>} */ (words)[code];
  if (known) return known;
  return status >= 500 ? gettext("The server could not do this. Nothing was changed: try again in a moment.") : body?.detail || gettext("The server refused this.");
}

/** Let a form do this in place of being sent; what went wrong is shown in it. @param {HTMLElement} form @param {() => Promise<void>} act */
export function onSubmit(form, act) {
  const place = find("[data-error]", form);
  const button = /** @type {HTMLButtonElement} */ (find("button[type=submit]", form));
  button.disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    place.hidden = true;
    place.textContent = ""; // or the same words would not be read out once more
    void busy(button, async () => {
      try {
        await act();
      } catch (error) {
        place.textContent = error instanceof RangeError ? error.message : explain(error);
        place.hidden = false;
      }
    });
  });
}
