// @ts-check
// What can go wrong between the client and the service, beside what formats/errors.js has.

import { BridgeError, oneLine } from "./formats/errors.js";

/** The server did not answer, or not in time. */
export class Unreachable extends BridgeError {}

/** The server answered something that is not the contract's: a redirect, no JSON, a member missing, too much. */
export class BadAnswer extends BridgeError {}

/** The person has not decided within the time that the caller was ready to wait. */
export class WaitTimeout extends BridgeError {}

/** An error answer of the server (RFC 9457): `code` is stable, `detail` is for people. */
export class Problem extends BridgeError {
  /** @param {number} status @param {Record<string, any>} body @param {number | null} retryAfter @param {string} [requestId] in place of a trace_id */
  constructor(status, body, retryAfter, requestId = "") {
    const known = typeof body.code === "string";
    const code = known ? oneLine(body.code, 64) : "unexpected_answer";
    const detail = known ? oneLine(String(body.detail ?? body.title ?? "")) : "the answer is no problem body of this service";
    /** @type {{field: string, code: string, message: string}[]} */
    const errors = Array.isArray(body.errors) ? body.errors.slice(0, 50).map(fieldError) : [];
    const fields = errors.map((error) => `${error.field}: ${error.message}`).join("; ");
    super([`${code} (${status})`, detail, fields].filter(Boolean).join(": "));
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.traceId = oneLine(String(body.trace_id || requestId), 128);
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** @param {any} error */
function fieldError(error) {
  const text = (/** @type {string} */ name) => oneLine(String(error?.[name] ?? ""));
  return { field: text("field"), code: text("code"), message: text("message") };
}
