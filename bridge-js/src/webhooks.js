// @ts-check
// Webhooks as the service sends them: the Standard Webhooks scheme, verified before anything is read.

import { createHmac, timingSafeEqual } from "node:crypto";
import { utf8 } from "./formats/bytes.js";
import { KeyRefused, Refused } from "./formats/errors.js";
import { parseObject } from "./formats/json.js";
import { CONNECTION_NOTICE, NOTICE, PROCESSING_NOTICE, shaped } from "./shapes.js";

const TOLERANCE = 300;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_SIGNATURES = 16;
const NOTICES = { status: NOTICE, connection: CONNECTION_NOTICE, processing: PROCESSING_NOTICE };

/**
 * The notice in a request's exact body, if it was signed with the endpoint's `secret` (whsec_…) and is not old.
 * Refused otherwise: answer 400 then and do nothing.
 * @param {string | Uint8Array} body
 * @param {Headers | Record<string, string | string[] | undefined>} headers names in any case
 * @param {string} secret
 * @param {{toleranceSeconds?: number, now?: number}} [options] `now` in milliseconds
 * @returns {import("./index.js").Webhook}
 */
export function verifyWebhook(body, headers, secret, { toleranceSeconds = TOLERANCE, now = Date.now() } = {}) {
  const raw = typeof body === "string" ? utf8(body) : body;
  if (raw.length > MAX_BODY_BYTES) throw new Refused(`the webhook is larger than ${MAX_BODY_BYTES} bytes`);
  const named = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  const id = header(named, "webhook-id");
  const sentAt = header(named, "webhook-timestamp");
  const signatures = header(named, "webhook-signature");
  checkTime(sentAt, now / 1000, toleranceSeconds);
  const expected = createHmac("sha256", keyOf(secret)).update(`${id}.${sentAt}.`).update(raw).digest();
  const given = signatures.split(" ").slice(0, MAX_SIGNATURES).map(signatureOf);
  if (!given.some((bytes) => bytes.length === expected.length && timingSafeEqual(bytes, expected))) {
    throw new Refused("the webhook's signature does not hold", "webhook-signature");
  }
  const notice = parseObject(raw, "the webhook");
  const member = /^(consent|export)\./u.test(String(notice.type)) ? "status" : String(notice.type).startsWith("connection.") ? "connection" : "processing";
  const { type, timestamp, data } = shaped(NOTICES[member], notice, "the webhook");
  return /** @type {import("./index.js").Webhook} */ ({ webhookId: id, type, timestamp, [member]: data });
}

/** @param {Record<string, string | string[] | undefined>} headers @param {string} name */
function header(headers, name) {
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof found !== "string" || !found) throw new Refused(`the webhook has no header ${name}`, name);
  return found;
}

/** @param {string} sentAt @param {number} now @param {number} tolerance */
function checkTime(sentAt, now, tolerance) {
  if (!/^\d{1,12}$/.test(sentAt)) throw new Refused("the webhook's time is no count of seconds", "webhook-timestamp");
  if (Math.abs(now - Number(sentAt)) > tolerance) {
    const age = Number(sentAt) < now ? "old" : "far ahead of this clock";
    throw new Refused(`the webhook is too ${age}`, "webhook-timestamp");
  }
}

/** @param {string} secret */
function keyOf(secret) {
  const text = secret.replace(/^whsec_/, "");
  if (!isBase64(text)) throw new KeyRefused("the endpoint's secret is not whsec_ and base64");
  return Buffer.from(text, "base64");
}

/** Of our version; while a secret is changed there is one of each. @param {string} entry */
function signatureOf(entry) {
  const [version, text = ""] = entry.split(",", 2);
  return version === "v1" && isBase64(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
}

/** @param {string} text */
const isBase64 = (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
