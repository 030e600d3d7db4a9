// @ts-check
// What can go wrong on the client's side, as classes a caller can tell apart. Every message is one line, fit for a log.

const MAX_TEXT = 400;

/** The base of every error that this package throws on purpose. */
export class BridgeError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Sealed data, a key or a body that is not what it has to be; `member` names what differs, where one does. */
export class Refused extends BridgeError {
  /** @param {string} reason @param {string | null} [member] */
  constructor(reason, member = null) {
    super(reason);
    this.member = member;
  }
}

/** A connector key or a secret that cannot be used. */
export class KeyRefused extends Refused {}

/** The header is in order, but the key is not the right one or the bytes were changed. */
export class CannotOpen extends Refused {}

/** The key that is said to have signed is not among the keys; a newer set may have it. */
export class UnknownKey extends Refused {}

/** The server did not answer, or not in time. */
export class Unreachable extends BridgeError {}

/** The server answered something that is not the contract's: a redirect, no JSON, a member missing, too much. */
export class BadAnswer extends BridgeError {}

/** The person has not decided within the time that the caller was ready to wait. */
export class WaitTimeout extends BridgeError {}

/** An error answer of the server (RFC 9457): `code` is stable, `detail` is for people. */
export class Problem extends BridgeError {
  /** @param {number} status @param {Record<string, any>} body @param {number | null} retryAfter */
  constructor(status, body, retryAfter) {
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
    this.traceId = oneLine(String(body.trace_id ?? ""), 128);
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** @param {any} error */
function fieldError(error) {
  const text = (/** @type {string} */ name) => oneLine(String(error?.[name] ?? ""));
  return { field: text("field"), code: text("code"), message: text("message") };
}

/** Foreign text as it may stand in a log: one line, no controls, bounded. @param {string} text @param {number} [limit] */
export function oneLine(text, limit = MAX_TEXT) {
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return clean.length <= limit ? clean : `${clean.slice(0, limit)}…`;
}

/** A foreign value as it may stand in a reason: JSON, bounded. @param {unknown} value @param {number} [limit] */
export function shown(value, limit = 80) {
  const text = oneLine(JSON.stringify(value) ?? "nothing", limit + 1);
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}
