// @ts-check
// Server-sent events apart from any socket: bytes in, events out, and where to go on. The format is the HTML standard's,
// section 9.2.6. An id that comes without data only says where the stream stands.

import { BadAnswer, Problem, Unreachable } from "./errors.js";
import { parseObject } from "./formats/json.js";
import { CONNECTION_EVENT, PROCESSING, shaped, STATUS } from "./shapes.js";

/** @typedef {import("./index.js").ConsentEvent} ConsentEvent */

export const SILENCE = 45; // seconds; the service says something every fifteen
export const PATIENCE = 300; // seconds of waiting for the service after which a stream is given up
const LONGEST_PAUSE = 30;
const MAX_BUFFER = 1024 * 1024;
const PASSING = [429, 500, 502, 503, 504];

/** Where one reader stands in its app's events, over as many connections as it takes. */
export class Stream {
  /** @param {number | null} lastEventId @param {number} patience seconds */
  constructor(lastEventId, patience) {
    this.lastEventId = lastEventId;
    this.patience = patience;
    this.retry = 2;
    this.waitingSince = Date.now();
    this.failures = 0;
    this.#forget();
  }

  #decoder = new TextDecoder();
  #rest = "";
  /** @type {Record<string, string[]>} */ #fields = {};

  #forget() {
    this.#decoder = new TextDecoder();
    this.#rest = "";
    this.#fields = {};
  }

  /** What a new connection is opened with; an event that came in part is left behind with the old one. @returns {Record<string, string>} */
  headers() {
    this.#forget();
    /** @type {Record<string, string>} */
    const resume = this.lastEventId === null ? {} : { "Last-Event-ID": String(this.lastEventId) };
    return { Accept: "text/event-stream", "Cache-Control": "no-cache", ...resume };
  }

  /** The events that these bytes complete, each one only once. @param {Uint8Array} chunk @returns {ConsentEvent[]} */
  feed(chunk) {
    this.failures = 0;
    this.waitAgain();
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a CRLF: it stays for the next bytes.
    const trailing = this.#rest.endsWith("\r") ? "\r" : "";
    const lines = this.#rest.slice(0, this.#rest.length - trailing.length).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() + trailing;
    if (this.#rest.length > MAX_BUFFER) throw new BadAnswer(`an event has a line of more than ${MAX_BUFFER} bytes`);
    return lines.map((line) => this.#take(line)).filter((event) => event !== null);
  }

  /** Count from now: the service was heard, and what a consumer then took for an event was no waiting for it. */
  waitAgain() {
    this.waitingSince = Date.now();
  }

  /**
   * Milliseconds before the next connection; throws `error` where another would be no use.
   * @param {unknown} error null: the server ended the stream in order, as it does now and then
   */
  pauseAfter(error) {
    const jitter = 0.5 + Math.random() / 2;
    if (error === null) return this.retry * jitter * 1000;
    const passing = error instanceof Unreachable || (error instanceof Problem && PASSING.includes(error.status));
    this.failures += 1;
    const retryAfter = error instanceof Problem ? error.retryAfter : null;
    const pause = (retryAfter || Math.min(LONGEST_PAUSE, this.retry * 2 ** (this.failures - 1) * jitter)) * 1000;
    if (!passing || Date.now() + pause - this.waitingSince > this.patience * 1000) throw error;
    return pause;
  }

  /** @param {string} line @returns {ConsentEvent | null} */
  #take(line) {
    if (line) {
      const [, name, value = ""] = /** @type {RegExpExecArray} */ (/^([^:]*):? ?(.*)$/su.exec(line));
      if (name) (this.#fields[name] ??= []).push(value);
      return null;
    }
    const fields = this.#fields;
    this.#fields = {};
    const retry = Number(fields.retry?.at(-1));
    if (Number.isSafeInteger(retry) && retry > 0) this.retry = Math.min(LONGEST_PAUSE, retry / 1000);
    return this.#dispatch(fields.id?.at(-1), fields.data, fields.event?.at(-1), fields.type?.at(-1));
  }

  /**
   * @param {string | undefined} id @param {string[] | undefined} data @param {string} [type]
   * @param {string} [webhookType]
   * @returns {ConsentEvent | null}
   */
  #dispatch(id, data, type = "consent", webhookType = type) {
    if (id === undefined) return null;
    if (!/^\d{1,15}$/.test(id)) throw new BadAnswer("an event's id is no number");
    const position = Number(id);
    if (this.lastEventId !== null && position <= this.lastEventId) return null;
    this.lastEventId = position;
    if (!data) return null;
    let body;
    try {
      body = parseObject(data.join("\n"), "an event");
    } catch (error) {
      throw new BadAnswer(/** @type {Error} */ (error).message);
    }
    if (type === "consent") return { id: position, type, webhookType, status: shaped(STATUS, body, "an event") };
    if (type.startsWith("connection.")) return { id: position, type, webhookType, connection: shaped(CONNECTION_EVENT, body, "an event") };
    return { id: position, type, webhookType, processing: shaped(PROCESSING, body, "an event") };
  }
}
