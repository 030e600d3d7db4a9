// @ts-check
// The owner's addresses. JSON both ways, the session's cookie, the page's CSRF token; an error is always an ApiError.

/** @typedef {import("./types.js").Keys} Keys */
/** @typedef {import("./types.js").NewWrapper} NewWrapper */
/** @typedef {import("./types.js").OldData} OldData */
/** @typedef {import("./types.js").OldProgress} OldProgress */
/** @typedef {import("./types.js").OldState} OldState */
/** @typedef {import("./types.js").Rotation} Rotation */
/** @typedef {import("./types.js").StoredWrapper} StoredWrapper */
/** @typedef {import("./types.js").StoredSegment} StoredSegment */
/** @typedef {import("./types.js").RequestData} RequestData */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").NewNotes} NewNotes */
/**
 * @typedef {{decision: "approve", request_digest: string, access_duration: number, approved_attributes: string[],
 *   sources: Source[], jwe: string, notes?: NewNotes} & import("./types.js").Signed} Approval
 */
/** @typedef {{decision: "deny", reason?: string}} Denial */

/** `code` is the server's (problem+json), or network, signed_out, unexpected_answer. `body` is the whole problem. */
export class ApiError extends Error {
  /** @param {string} code @param {number} status @param {string} detail @param {any} [body] */
  constructor(code, status, detail, body = {}) {
    super(detail);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.body = body;
  }
}

const SIGN_IN = ["signed_out", "authentication_required"];

/** Whether this waits for the person to sign in, to confirm who they are, or to load the page again. @param {unknown} error */
export const isInterrupted = (error) =>
  error instanceof ApiError && [...SIGN_IN, "csrf_failed", "reauthentication_required"].includes(error.code);

/**
 * Every page offers the way back (session.js), whichever of its scripts was refused.
 * @param {string} method
 * @param {string} address
 * @param {unknown} [body]
 * @returns {Promise<any>} the answer's JSON, null where it has none
 */
export async function call(method, address, body) {
  try {
    return await answerOf(method, address, body);
  } catch (error) {
    if (isInterrupted(error)) {
      const { code } = /** @type {ApiError} */ (error);
      dispatchEvent(new CustomEvent("interrupted", { detail: SIGN_IN.includes(code) ? "signed_out" : code }));
    }
    throw error;
  }
}

/** @param {string} method @param {string} address @param {unknown} body @returns {Promise<any>} */
async function answerOf(method, address, body) {
  const answer = await send(method, address, body);
  // A redirect is the sign-in page: following it would end in HTML, and a POST would be lost on the way.
  if (answer.type === "opaqueredirect")
    throw new ApiError("signed_out", 401, "You are signed out. Sign in again to go on.");
  if (answer.status === 204) return null;
  const found = await readJson(answer);
  if (!answer.ok) throw problem(answer.status, found);
  if (found === undefined)
    throw new ApiError(
      "unexpected_answer",
      answer.status,
      "The server gave an answer that this page does not understand.",
    );
  return found;
}

/** @param {string} method @param {string} address @param {unknown} body @returns {Promise<Response>} */
async function send(method, address, body) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json, application/problem+json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const text = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetch(address, {
      method,
      headers,
      body: text,
      credentials: "same-origin",
      redirect: "manual",
      cache: "no-store",
    });
  } catch (cause) {
    throw new ApiError(
      "network",
      0,
      "The server could not be reached. Nothing was lost: check the connection and try again.",
      { cause },
    );
  }
}

/** @returns {string} */
function csrfToken() {
  return document.querySelector('meta[name="csrf-token"]')?.getAttribute("content") ?? "";
}

/** @param {Response} answer @returns {Promise<any>} undefined where it is no JSON */
async function readJson(answer) {
  if (!/\bjson\b/.test(answer.headers.get("Content-Type") ?? "")) return undefined;
  return answer.json().catch(() => undefined);
}

/** @param {number} status @param {any} body @returns {ApiError} */
function problem(status, body) {
  if (typeof body?.code !== "string") {
    return new ApiError(
      "unexpected_answer",
      status,
      "The server could not do this. Try again in a moment.",
      body ?? {},
    );
  }
  return new ApiError(body.code, status, body.detail ?? body.title ?? body.code, body);
}

/** @param {string[]} parts */
const path = (...parts) => `/${parts.map(encodeURIComponent).join("/")}`;

/** @returns {Promise<Keys>} */
export const getKeys = () => call("GET", "/vault/keys");

/** @typedef {{signing_public_key: import("./types.js").PublicKey, signing_jwe: string}} RootMembers */

/**
 * @param {{key_id: string, wrappers: NewWrapper[], possession_sha256: string, notes: string} & RootMembers} vault
 * @returns {Promise<Keys>}
 */
export const createVault = (vault) => call("POST", "/vault/keys", vault);

/**
 * Needs a fresh sign-in.
 * @param {RootMembers & {rotation?: unknown[]}} root @param {{quiet?: boolean}} [how] whether a page says so itself
 * @returns {Promise<Keys>}
 */
export const setSigningKey = (root, { quiet = false } = {}) =>
  (quiet ? answerOf : call)("PUT", "/vault/signing-key", root);

/** `hidden_scopes` at the moment of these notes. @returns {Promise<{jwe: string | null, revision: number, updated_at?: string | null, hidden_scopes?: string[]}>} */
export const getNotes = () => call("GET", "/vault/notes");

/** @param {NewNotes} notes @returns {Promise<{revision: number}>} */
export const putNotes = (notes) => call("PUT", "/vault/notes", notes);

/** @param {{jwe: string, revision: number}} notes @returns {Promise<null>} */
export const putResealedNotes = (notes) => call("PUT", "/vault/rotation/notes", notes);

/** @param {NewWrapper} wrapper @returns {Promise<StoredWrapper>} */
export const addWrapper = (wrapper) => call("POST", "/vault/wrappers", wrapper);

/** @param {string} wrapperId @returns {Promise<null>} */
export const removeWrapper = (wrapperId) => call("DELETE", path("vault", "wrappers", wrapperId));

/**
 * The server keeps when each way in was used last.
 * @param {string} wrapperId @param {{tried?: boolean}} [how] `tried` to see whether it is good, not to unlock
 * @returns {Promise<null>}
 */
export const noteUnlocked = (wrapperId, how = {}) => call("POST", "/vault/unlocked", { wrapper_id: wrapperId, ...how });

/** Within seven days of its removal. @param {string} wrapperId @returns {Promise<StoredWrapper>} */
export const restoreWrapper = (wrapperId) => call("POST", path("vault", "wrappers", wrapperId, "restore"), {});

/** Keeps a scope out of discovery. @param {string} scope @param {NewNotes} notes @returns {Promise<null>} */
export const hideScope = (scope, notes) => call("PUT", path("vault", "hidden-scopes", scope), { notes });

/** @param {string} scope @param {NewNotes} notes @returns {Promise<null>} */
export const showScope = (scope, notes) => call("DELETE", path("vault", "hidden-scopes", scope), { notes });

/** @param {{scope: string} | {domain: string} | {}} which nothing for all @returns {Promise<StoredSegment[]>} */
export const getSegments = async (which) =>
  (await call("GET", `/vault/segments?${new URLSearchParams(which)}`)).segments;

/**
 * @param {{domain: string, segment_id: string}} address
 * @param {{jwe: string, base_content_revision: number, attributes: string[], notes: NewNotes}} writing
 * @returns {Promise<{content_revision: number, manifest_revision: number}>}
 */
export const putSegment = ({ domain, segment_id }, writing) =>
  call("PUT", path("vault", "segments", domain, segment_id), writing);

/** @param {{domain: string, segment_id: string}} address @param {number} baseContentRevision @param {NewNotes} notes @returns {Promise<any>} */
export const deleteSegment = ({ domain, segment_id }, baseContentRevision, notes) =>
  call("DELETE", `${path("vault", "segments", domain, segment_id)}?base_content_revision=${baseContentRevision}`, { notes });

/** @returns {Promise<Rotation>} */
export const getRotation = () => call("GET", "/vault/rotation");

/**
 * @param {{key_id: string, wrappers: NewWrapper[], signing_jwe: string | null, possession: string, possession_sha256: string}} coming
 *   `possession` is of the present key, its digest of the key to come
 * @returns {Promise<Rotation>}
 */
export const startRotation = (coming) => call("POST", "/vault/rotation", coming);

/** @param {{domain: string, segment_id: string}} address @returns {Promise<{content_revision: number, jwe: string}>} */
export const getResealed = ({ domain, segment_id }) =>
  call("GET", path("vault", "rotation", "segments", domain, segment_id));

/**
 * @param {{domain: string, segment_id: string}} address
 * @param {{jwe: string, content_revision: number}} copy
 * @returns {Promise<any>}
 */
export const putResealed = ({ domain, segment_id }, copy) =>
  call("PUT", path("vault", "rotation", "segments", domain, segment_id), copy);

/** @param {{read_back: string}} seen @returns {Promise<Keys>} */
export const finishRotation = (seen) => call("POST", "/vault/rotation/finish", seen);

/** @returns {Promise<null>} */
export const giveUpRotation = () => call("DELETE", "/vault/rotation");

/** @returns {Promise<OldData>} */
export const getOldData = () => call("GET", "/vault/legacy");

/** @param {OldProgress} progress @returns {Promise<OldState>} */
export const putOldProgress = (progress) => call("PUT", "/vault/legacy/progress", progress);

/**
 * The old row goes, if these segments stand.
 * @param {string} domain
 * @param {{updated_at: string, segments: Record<string, number>, discard: boolean, kept: number}} finish
 * @returns {Promise<OldState>}
 */
export const finishOldDomain = (domain, finish) => call("POST", path("vault", "legacy", domain, "finish"), finish);

/** @param {string} requestId @returns {Promise<RequestData>} */
export const getRequestData = (requestId) => call("GET", path("consent", "requests", requestId, "data"));

/** @param {string} requestId @param {Approval | Denial} decision @returns {Promise<any>} the status body */
export const decide = (requestId, decision) =>
  call("POST", path("consent", "requests", requestId, "decision"), decision);

/** @param {string} grantId @returns {Promise<{request_id: string, approval: string | null, access_duration: number, ends_at: number}>} */
export const getApproval = (grantId) => call("GET", path("consent", "grants", grantId, "approval"));

/** @returns {Promise<{keys: {app_id: string, user_id: string, seq: number}[], issuer: string, rotations: number}>} */
export const getApprovalKeys = () => call("GET", "/consent/approval-keys");

/** Good once, for ten minutes. @param {string} grantId @returns {Promise<{nonce: string}>} */
export const getNonce = (grantId) => call("GET", path("consent", "grants", grantId, "nonce"));

/** @param {string} grantId @param {import("./types.js").Signed} signed @returns {Promise<any>} the status body */
export const resumeGrant = (grantId, signed) => call("POST", path("consent", "grants", grantId, "resume"), signed);

/**
 * Ends a grant; the notes forget it with that.
 * @param {string} grantId @param {NewNotes} notes @returns {Promise<any>} the status body
 */
export const revokeGrant = (grantId, notes) => call("POST", path("consent", "grants", grantId, "revoke"), { notes });

/** @param {number} after a sequence @returns {Promise<{head: import("../formats/entries.js").Head, entries: unknown[]}>} at most 500 entries of the person's own chain */
export const getChain = (after) => call("GET", `/consent/history/chain?after=${after}`);

/**
 * @param {string} grantId
 * @param {{revision: number, sources: Source[], jwe: string, notes: NewNotes} & import("./types.js").Signed} sealed
 * @returns {Promise<any>}
 */
export const putExport = (grantId, sealed) => call("PUT", path("consent", "grants", grantId, "export"), sealed);
