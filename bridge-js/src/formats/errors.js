// @ts-check
// Why something sealed, signed or logged is not taken, as classes a caller can tell apart. Every message is one line, fit
// for a log.

const MAX_TEXT = 400;

/** The base of every error that this package throws on purpose. */
export class BridgeError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * Sealed data, a key or a body that is not what it has to be; `member` names what differs, where one does. `reason` is one
 * of: malformed, not_json, repeated_name, too_deep, forbidden_member, unexpected_member, missing_member, algorithm, bad_value,
 * iterations, mismatch, cannot_open, plaintext, connector_key, request_changed, signing_key,
 * not_approved.
 */
export class Refused extends BridgeError {
  /** @param {string} message @param {string | null} [member] @param {string} [reason] */
  constructor(message, member = null, reason = "malformed") {
    super(message);
    this.member = member;
    this.reason = reason;
  }
}

/** A connector key or a secret that cannot be used. */
export class KeyRefused extends Refused {}

/** The header is in order, but the key is not the right one or the bytes were changed. */
export class CannotOpen extends Refused {
  /** @param {string} message @param {string | null} [member] */
  constructor(message, member = null) {
    super(message, member, "cannot_open");
  }
}

/** The key that is said to have signed is not among the keys; a newer set may have it. */
export class UnknownKey extends Refused {}

/** Something typed that cannot be a secret of its kind; `code` is too_short or not_a_recovery_code. */
export class BadSecret extends Error {
  /** @param {string} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.name = "BadSecret";
    this.code = code;
  }
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
