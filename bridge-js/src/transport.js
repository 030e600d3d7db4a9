// @ts-check
// One HTTP call: bounded in time and size, redirects never followed, errors as Problem.

import { setTimeout as wait } from "node:timers/promises";

import { BadAnswer, Problem, Unreachable } from "./errors.js";
import { Refused } from "./formats/errors.js";
import { parseObject } from "./formats/json.js";
import { MAX_JWE_CHARS } from "./formats/profiles.js";

const MAX_BODY_BYTES = MAX_JWE_CHARS + 256 * 1024;
const TRANSIENT = [502, 503, 504];
const PAUSE = 200;
const LONGEST_RETRY_AFTER = 10;
const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds

/**
 * @typedef {{status: number, headers: Headers, body: Uint8Array}} Answer
 * @typedef {{method?: string, params?: Record<string, unknown>, body?: unknown, headers?: Record<string, string>,
 *   extraSeconds?: number, repeatable?: boolean, signal?: AbortSignal}} Call
 * @typedef {(milliseconds: number, signal?: AbortSignal) => Promise<void>} Pause
 */

/** Whether trying again later may help. @param {unknown} error */
export const isTransient = (error) =>
  error instanceof Unreachable || (error instanceof Problem && TRANSIENT.includes(error.status));

/** Throws the signal's reason once that is aborted. @type {Pause} */
export const sleep = (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted());

/** Calls under one address. */
export class Transport {
  /**
   * @param {string} baseUrl @param {Record<string, string>} headers
   * @param {{timeoutSeconds: number, attempts: number, pause: Pause}} limits
   */
  constructor(baseUrl, headers, limits) {
    // written so that NaN, which no comparison is true of, is refused too
    if (!(typeof limits.timeoutSeconds === "number" && limits.timeoutSeconds > 0)) {
      throw new Refused(`${limits.timeoutSeconds} is no time to answer in: give seconds, more than 0`);
    }
    this.baseUrl = checkedBaseUrl(baseUrl);
    this.headers = headers;
    this.limits = limits;
  }

  /**
   * One answer below 400. Only what is `repeatable` is tried again, after a connection that failed or a 502, 503 or 504.
   * @param {string} path @param {Call} call @returns {Promise<Answer>}
   */
  async send(path, call) {
    const attempts = call.repeatable === false ? 1 : this.limits.attempts;
    for (let attempt = 1; ; attempt++) {
      try {
        return judged(await this.#once(path, call));
      } catch (error) {
        const pause = pauseAfter(error, attempt);
        if (attempt >= attempts || pause === null) throw error;
        await this.limits.pause(pause, call.signal);
      }
    }
  }

  /** @param {string} path @param {Call} call @returns {Promise<Answer>} */
  async #once(path, { method = "GET", params = {}, body, headers = {}, extraSeconds = 0, signal }) {
    /** @type {Record<string, string>} */
    const json = body === undefined ? {} : { "Content-Type": "application/json" };
    const sent = {
      method,
      headers: headersOf({ Accept: "application/json", ...this.headers, ...json, ...headers }),
      body: body === undefined ? undefined : jsonText(body),
    };
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timerOf(this.limits.timeoutSeconds + extraSeconds));
    const release = abortWith(abort, signal);
    try {
      const response = await fetch(`${this.baseUrl}${path}${query(params)}`, { ...sent, redirect: "manual", signal: abort.signal });
      return { status: response.status, headers: response.headers, body: await boundedBody(response) };
    } catch (error) {
      if (error instanceof BadAnswer) throw error;
      signal?.throwIfAborted();
      throw unreachable(method, path, error);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  /**
   * The body of a 200 as it comes; Unreachable after so many seconds of waiting without a byte.
   * @param {string} path @param {Record<string, string>} headers @param {number} silence @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<Uint8Array, void, undefined>}
   */
  async *stream(path, headers, silence, signal) {
    const abort = new AbortController();
    const sent = headersOf({ ...this.headers, ...headers });
    let timer = setTimeout(() => abort.abort(), silence * 1000);
    const release = abortWith(abort, signal);
    try {
      const response = await fetch(`${this.baseUrl}${path}`, {
        headers: sent,
        redirect: "manual",
        signal: abort.signal,
      });
      if (response.status !== 200 || !response.body) {
        judged({ status: response.status, headers: response.headers, body: await boundedBody(response) });
        throw new BadAnswer(`the server answered ${response.status} where a stream was asked for`);
      }
      for await (const chunk of response.body) {
        clearTimeout(timer); // while the consumer works nobody listens, so nobody misses anything
        yield chunk;
        timer = setTimeout(() => abort.abort(), silence * 1000);
      }
    } catch (error) {
      if (error instanceof BadAnswer || error instanceof Problem) throw error;
      signal?.throwIfAborted();
      throw unreachable("GET", path, error);
    } finally {
      clearTimeout(timer);
      release();
      abort.abort();
    }
  }
}

/** The body as a JSON object; BadAnswer if it is none. @param {Answer} answer */
export function jsonOf(answer) {
  try {
    return parseObject(answer.body, "the server's answer");
  } catch (error) {
    throw new BadAnswer(`${/** @type {Refused} */ (error).message} (status ${answer.status})`);
  }
}

/** An http or https address without a trailing slash, query or credentials. @param {string} url */
export function checkedBaseUrl(url) {
  const parts = URL.canParse(url) ? new URL(url) : null;
  if (!parts || !/^https?:$/.test(parts.protocol) || parts.search || parts.hash || parts.username || parts.password) {
    throw new Refused("the base address is not an http or https address without query and credentials");
  }
  return url.replace(/\/+$/, "");
}

/** The same; of an origin alone, `/api/v1` is added. @param {string} url */
export function restBaseUrl(url) {
  const base = checkedBaseUrl(url);
  return new URL(base).pathname === "/" ? `${base}/api/v1` : base;
}

/** Abort with the caller's signal too, until what is returned is called. @param {AbortController} abort @param {AbortSignal} [signal] */
function abortWith(abort, signal) {
  const stop = () => abort.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  return () => signal?.removeEventListener("abort", stop);
}

/** @param {Record<string, string>} headers @throws {Refused} */
function headersOf(headers) {
  try {
    return new Headers(headers);
  } catch {
    throw new Refused("a header has characters that no header can have");
  }
}

/** @param {unknown} body @throws {Refused} */
function jsonText(body) {
  try {
    return JSON.stringify(body, finite);
  } catch {
    throw new Refused("the body has what JSON cannot say");
  }
}

/** JSON.stringify would send null for NaN, which leaves a member out. @param {string} _name @param {unknown} value */
function finite(_name, value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("no number of JSON");
  return value;
}

/** Seconds as a timer takes them. @param {number} seconds */
const timerOf = (seconds) => Math.min(LONGEST_TIMER, Math.ceil(seconds * 1000));

/** A name as a part of an address. @param {string} name @throws {Refused} */
export function part(name) {
  try {
    return encodeURIComponent(name);
  } catch {
    throw new Refused("a name holds a lone surrogate");
  }
}

/** @param {Record<string, unknown>} params */
function query(params) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) given.set(name, String(value));
  }
  return given.size ? `?${given}` : "";
}

/** @param {Response} response @returns {Promise<Uint8Array>} */
async function boundedBody(response) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new BadAnswer(`the server's answer is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @param {Answer} answer @returns {Answer} */
function judged(answer) {
  if (answer.status >= 300 && answer.status < 400 && answer.status !== 304) {
    throw new BadAnswer(`the server answered with a redirect (${answer.status}), which is not followed`);
  }
  if (answer.status >= 400) throw problemOf(answer);
  return answer;
}

/** @param {Answer} answer */
function problemOf(answer) {
  const wait = answer.headers.get("Retry-After") ?? "";
  let body = {};
  try {
    body = jsonOf(answer);
  } catch {
    // told as unexpected_answer
  }
  const requestId = answer.headers.get("X-Request-Id") ?? "";
  return new Problem(answer.status, body, /^\d{1,6}$/.test(wait) ? Number(wait) : null, requestId);
}

/** Milliseconds before the next attempt, or null where another would be no use. @param {unknown} error @param {number} attempt */
function pauseAfter(error, attempt) {
  if (!isTransient(error)) return null;
  const retryAfter = error instanceof Problem ? error.retryAfter : null;
  if (retryAfter) return retryAfter <= LONGEST_RETRY_AFTER ? retryAfter * 1000 : null;
  return PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random());
}

/** The address may hold what the caller does not want in a log, so the text tells only the kind of failure. @param {string} method @param {string} path @param {any} error */
function unreachable(method, path, error) {
  const late = error?.name === "TimeoutError" || error?.name === "AbortError";
  const reason = late ? "the answer did not come in time" : isUntrusted(error) ? "the server's certificate was not accepted" : "no connection";
  return new Unreachable(`${method} ${path} failed: ${reason}`, { cause: error });
}

/** Whether OpenSSL or Node refused the server's certificate, by the names that they have for it. @param {any} error of fetch */
function isUntrusted(error) {
  return /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_)|SELF_SIGNED/.test(error?.cause?.code ?? "");
}
