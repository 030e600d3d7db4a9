// @ts-check
// The service's answers, member by member: what is not the contract's is a BadAnswer. Members that came later are kept.

import { isObject } from "./encoding.js";
import { BadAnswer } from "./errors.js";

/** @typedef {(value: any, where: string) => void} Shape */

/** @param {string} kind @param {(value: any) => boolean} fits @returns {Shape} */
const plain = (kind, fits) => (value, where) => {
  if (!fits(value)) throw new BadAnswer(`${where} is not ${kind}`);
};
const text = plain("text", (value) => typeof value === "string");
const whole = plain("a whole number", Number.isSafeInteger);
const truth = plain("true or false", (value) => typeof value === "boolean");
const anything = plain("an object", isObject);

/** @param {Shape} shape @returns {Shape} */
const orNull = (shape) => (value, where) => {
  if (value !== null) shape(value, where);
};

/** @param {Shape} shape @returns {Shape} */
const listOf = (shape) => (value, where) => {
  if (!Array.isArray(value)) throw new BadAnswer(`${where} is not a list`);
  for (const item of value) shape(item, where);
};

/** @param {Record<string, Shape>} members @returns {Shape} */
const record = (members) => (value, where) => {
  if (!isObject(value)) throw new BadAnswer(`${where} is not an object`);
  for (const [name, shape] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) throw new BadAnswer(`${where} has no ${name}`);
    shape(value[name], `${where}'s ${name}`);
  }
};

const SCOPE_ENTRY = record({
  scope: text,
  scope_handle: text,
  label: text,
  description: text,
  domain: text,
  sensitivity_tier: text,
  attributes: listOf(text),
  max_access_duration: whole,
  updated_at: text,
});

const GRANT = record({
  grant_id: text,
  status: text,
  expires_at: text,
  reads: whole,
  reads_remaining: orNull(whole),
  approved_attributes: listOf(text),
  export_revision: orNull(whole),
});

export const STATUS = record({
  request_id: text,
  status: text,
  user_id: text,
  scope: text,
  interval: whole,
  created_at: text,
  expires_at: text,
  decided_at: orNull(text),
  receipt_id: orNull(text),
  sequence: orNull(whole),
  grant: orNull(GRANT),
});

export const DISCOVERY = record({
  user_id: text,
  available_domains: listOf(text),
  scopes: listOf(text),
  scope_entries: listOf(SCOPE_ENTRY),
  runtime: record({
    can_approve: truth,
    wrapping_algorithms: listOf(text),
    connector_curves: listOf(text),
    refresh_policies: listOf(text),
    access_duration: record({ default: whole, min: whole, max: whole }),
    interval: whole,
  }),
});

export const CATALOG = record({ scope_entries: listOf(SCOPE_ENTRY) });

export const ASKED = record({
  request_id: text,
  status: text,
  app_id: text,
  issuer: text,
  user_id: text,
  scope: text,
  scope_label: text,
  approval_url: text,
  interval: whole,
  expires_in: whole,
  expires_at: text,
  access_duration: whole,
  connector_key_id: text,
  connector_fingerprint: text,
  request_digest: text,
  created_at: text,
});

export const ENVELOPE = record({
  request_id: text,
  grant_id: text,
  export_id: text,
  revision: whole,
  user_id: text,
  scope: text,
  approved_attributes: listOf(text),
  connector_key_id: text,
  sealed_at: text,
  expires_at: text,
  reads_remaining: orNull(whole),
  size_bytes: whole,
  jwe: text,
});

export const PAGE = record({ requests: listOf(STATUS), next_cursor: orNull(text) });
export const SIGNED = record({ jws: text });
export const KEYS = record({ keys: listOf(anything) });
export const NOTICE = record({ type: text, timestamp: text, data: STATUS });

/** The same body, if it has this shape. @param {Shape} shape @param {any} body @param {string} [where] @returns {any} */
export function shaped(shape, body, where = "the answer") {
  shape(body, where);
  return body;
}
