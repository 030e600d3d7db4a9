// @ts-check
// The developer's side of the contract: discover, ask, wait, read, open. Holds the token, never the private key.

import { createHash } from "node:crypto";

import { KeyPins } from "./approvals.js";
import { BadAnswer, Problem, WaitTimeout } from "./errors.js";
import { toBase64url, utf8 } from "./formats/bytes.js";
import { Refused } from "./formats/errors.js";
import { checkConnectorKey, publicHalf, thumbprint } from "./formats/keys.js";
import { sha256 } from "./formats/sha256.js";
import { checkKey, checkRequest, compare, openEnvelope, originOf } from "./opening.js";
import { Proving } from "./proving.js";
import { makePerson, PEOPLE as SANDBOX, SandboxPerson, tellEvent } from "./sandbox.js";
import { CATALOG, CONNECTION, DISCOVERY, ENVELOPE, FOUND, MADE_CONNECTION, MADE_REQUEST, PAGE, PEOPLE, shaped, SIGNED, STATUS, TERMS } from "./shapes.js";
import { PATIENCE, SILENCE, Stream } from "./streams.js";
import { isTransient, jsonOf, part, restBaseUrl, sleep, Transport } from "./transport.js";

/** @typedef {import("./index.js").MadeRequest} MadeRequest */
/** @typedef {import("./index.js").Envelope} Envelope */
/** @typedef {import("./index.js").Slice} Slice */
/** @typedef {import("./index.js").Status} Status */

const LONGEST_WAIT = 30;
const POLL_PAUSE = 1000;

/** Calls of one app with one developer token. Each is described in index.d.ts. */
export class Client {
  /** @type {Map<string, number>} */ #seen = new Map();
  #transport;
  #proving;
  #pause;

  /** @param {string} baseUrl ends in /api/v1; of an origin alone, that is added @param {string} token @param {import("./index.js").ClientOptions} [options] */
  constructor(baseUrl, token, { timeoutSeconds = 30, attempts = 3, pause = sleep, pins = new KeyPins(), ...log } = {}) {
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
      throw new Refused("the developer token is empty or holds a character that no token has");
    }
    const limits = { timeoutSeconds, attempts, pause };
    this.#pause = pause;
    this.pins = pins;
    this.#transport = new Transport(restBaseUrl(baseUrl), { Authorization: `Bearer ${token}` }, limits);
    // What is public is asked for without the token.
    this.#proving = new Proving(new Transport(new URL(this.#transport.baseUrl).origin, {}, limits), log);
  }

  // -- discovering and asking

  /** @param {string} userId @param {{clientHint?: string}} [options] */
  async discover(userId, { clientHint } = {}) {
    const answer = await this.#transport.send(`/user-scopes/${part(userId)}`, { headers: hintOf(clientHint) });
    return shaped(DISCOVERY, jsonOf(answer));
  }

  async catalog() {
    return (await this.#get(CATALOG, "/scope-catalog")).scope_entries;
  }

  /** @param {string} [query] @param {{cursor?: string, limit?: number}} [options] */
  async people(query, { cursor, limit } = {}) {
    return this.#get(FOUND, "/people", { query, cursor, limit });
  }

  /** @param {import("./index.js").ConsentRequest} request @returns {Promise<MadeRequest>} */
  async requestConsent({ userId, scope, purpose, key, connectorKeyId, idempotencyKey, clientHint, ...terms }) {
    const open = Object.hasOwn(key, "d") ? await publicHalf(key) : await checkConnectorKey(key);
    const fingerprint = await thumbprint(open);
    const body = {
      user_id: userId,
      scope,
      purpose,
      connector_public_key: open,
      connector_key_id: connectorKeyId ?? fingerprint,
      connector_wrapping_alg: "ECDH-ES+A256KW",
      ...invitationOf(userId),
      ...wireTerms(terms),
    };
    const answer = await this.#transport.send("/request-consent", {
      method: "POST",
      body,
      headers: { ...hintOf(clientHint), ...repetitionOf(idempotencyKey) },
      repeatable: Boolean(idempotencyKey),
    });
    const request = shaped(MADE_REQUEST, jsonOf(answer));
    checkRequest(request, body, fingerprint);
    return request;
  }

  // -- connecting

  /** @param {import("./index.js").AlongRequest} request @returns {Promise<import("./index.js").RequestAlong>} */
  async requestAlong({ scope, purpose, key, connectorKeyId, ...terms }) {
    const open = Object.hasOwn(key, "d") ? await publicHalf(key) : await checkConnectorKey(key);
    return {
      scope,
      purpose,
      connector_public_key: open,
      connector_key_id: connectorKeyId ?? (await thumbprint(open)),
      connector_wrapping_alg: "ECDH-ES+A256KW",
      ...wireTerms(terms),
    };
  }

  /** @param {{returnUrl?: string, bindingMessage?: string, request?: import("./index.js").RequestAlong}} [options] */
  async beginConnection({ returnUrl, bindingMessage, request } = {}) {
    const body = {
      ...(returnUrl === undefined ? {} : { return_url: returnUrl }),
      ...(bindingMessage === undefined ? {} : { binding_message: bindingMessage }),
      ...(request === undefined ? {} : { request }),
    };
    return shaped(MADE_CONNECTION, jsonOf(await this.#transport.send("/connections", { method: "POST", body, repeatable: false })));
  }

  /** @param {string} connectionId @param {import("./index.js").BegunWith & {waitSeconds?: number}} [options] @returns {Promise<import("./index.js").Connection>} */
  async connection(connectionId, { waitSeconds = 0, ...begunWith } = {}) {
    const path = `/connections/${part(connectionId)}`;
    return checkedConnection(await this.#get(CONNECTION, path, { wait: waitSeconds || undefined }, waitSeconds), connectionId, begunWith);
  }

  /** @param {string} connectionId @param {string} connectionCode @param {import("./index.js").BegunWith} [begunWith] @returns {Promise<import("./index.js").Connection>} */
  async completeConnection(connectionId, connectionCode, begunWith = {}) {
    const sent = { method: "POST", body: { connection_code: connectionCode } };
    const answer = await this.#transport.send(`/connections/${part(connectionId)}/complete`, sent);
    return checkedConnection(shaped(CONNECTION, jsonOf(answer)), connectionId, begunWith);
  }

  /** @param {string} userId */
  async endConnection(userId) {
    await this.#transport.send(`/connections/${part(userId)}`, { method: "DELETE", repeatable: false });
  }

  // -- waiting

  /** @param {string} requestId @param {{waitSeconds?: number}} [options] @returns {Promise<Status>} */
  async status(requestId, { waitSeconds = 0 } = {}) {
    return this.#status({ request_id: requestId }, waitSeconds);
  }

  /** @param {string} userId @param {string} scope @param {{waitSeconds?: number}} [options] @returns {Promise<Status>} */
  async newestStatus(userId, scope, { waitSeconds = 0 } = {}) {
    return this.#status({ user_id: userId, scope }, waitSeconds);
  }

  /** @param {string} requestId @param {{timeoutSeconds: number, signal?: AbortSignal}} options @returns {Promise<Status>} */
  async waitForDecision(requestId, { timeoutSeconds, signal }) {
    // written so that NaN, which no comparison is true of, is refused too
    if (!(timeoutSeconds >= 0)) throw new Refused(`${timeoutSeconds} is no time to wait: give seconds, 0 or more`);
    const deadline = Date.now() + timeoutSeconds * 1000;
    for (;;) {
      const started = Date.now();
      let pause = POLL_PAUSE;
      let failure = null;
      try {
        const waitSeconds = Math.max(0, Math.min(LONGEST_WAIT, Math.floor((deadline - started) / 1000)));
        const status = await this.#status({ request_id: requestId }, waitSeconds, signal);
        if (status.status !== "pending") return status;
        // The server held the answer: no need to pause as well.
        if (Date.now() - started >= POLL_PAUSE) pause = 0;
      } catch (error) {
        const slow = error instanceof Problem && error.code === "slow_down";
        if (!slow && !isTransient(error)) throw error;
        if (error instanceof Problem && error.retryAfter) pause = error.retryAfter * 1000;
        if (!(error instanceof Problem)) failure = error;
      }
      if (Date.now() >= deadline) throw failure ?? new WaitTimeout(`no decision within ${timeoutSeconds} seconds`);
      if (pause) await this.#pause(Math.min(pause, Math.max(0, deadline - Date.now())), signal);
    }
  }

  /** @param {{lastEventId?: number | null, patienceSeconds?: number, signal?: AbortSignal}} [options] */
  async *events({ lastEventId = null, patienceSeconds = PATIENCE, signal } = {}) {
    const stream = new Stream(lastEventId, patienceSeconds);
    for (;;) {
      /** @type {unknown} */
      let ended = null;
      try {
        for await (const chunk of this.#transport.stream("/consent-events", stream.headers(), SILENCE, signal)) {
          for (const event of stream.feed(chunk)) {
            signal?.throwIfAborted();
            yield event;
          }
          stream.waitAgain();
        }
      } catch (error) {
        if (error instanceof BadAnswer) throw error;
        signal?.throwIfAborted();
        ended = error;
      }
      await this.#pause(stream.pauseAfter(ended), signal);
    }
  }

  // -- reading

  /** @param {string} requestId @returns {Promise<Envelope>} */
  async fetchExport(requestId) {
    return whole((await this.#fetch(requestId)).envelope);
  }

  /** @param {MadeRequest} request @param {unknown} key @param {{seenRevision?: number}} [options] @returns {Promise<Slice>} */
  async read(request, key, { seenRevision = 0 } = {}) {
    await checkKey(request, key);
    const { envelope, etag } = await this.#fetch(request.request_id);
    return this.#opened(whole(envelope), etag, request, key, seenRevision);
  }

  /** @param {MadeRequest} request @param {unknown} key @param {Slice} known @returns {Promise<Slice | null>} */
  async readNewer(request, key, known) {
    await checkKey(request, key);
    const { envelope, etag } = await this.#fetch(request.request_id, known.etag);
    return envelope && this.#opened(envelope, etag, request, key, known.revision);
  }

  /** @param {string} requestId @param {string} [known] */
  async #fetch(requestId, known) {
    const answer = await this.#transport.send("/consent-export", {
      params: { request_id: requestId },
      // The same key with each attempt: an answer that was lost and is fetched again counts as one read.
      headers: { "Idempotency-Key": crypto.randomUUID(), ...(known ? { "If-None-Match": known } : {}) },
    });
    const envelope = answer.status === 304 ? null : shaped(ENVELOPE, jsonOf(answer));
    return { envelope, etag: answer.headers.get("ETag") ?? "" };
  }

  /** @param {Envelope} envelope @param {string} etag @param {MadeRequest} request @param {unknown} key @param {number} seen @returns {Promise<Slice>} */
  async #opened(envelope, etag, request, key, seen) {
    const least = Math.max(seen, this.#seen.get(request.request_id) ?? 0);
    const slice = await openEnvelope(envelope, request, key, { seenRevision: least, etag, pins: this.pins });
    this.#seen.set(request.request_id, slice.revision);
    return slice;
  }

  /** @param {MadeRequest} request @param {import("./index.js").OwnerKey} key */
  acceptOwnerKey(request, key) {
    this.pins.accept(originOf(request.issuer), request.user_id, key);
  }

  // -- ending and looking back

  /** @param {string} requestId @returns {Promise<Status>} */
  async end(requestId) {
    const options = { method: "POST", body: { request_id: requestId } };
    return shaped(STATUS, jsonOf(await this.#transport.send("/end-consent", options)));
  }

  /** @param {{status?: string, cursor?: string, limit?: number}} [options] */
  async requests({ status, cursor, limit } = {}) {
    return this.#get(PAGE, "/consent-requests", { status, cursor, limit });
  }

  /** @param {{status?: string}} [options] @returns {AsyncGenerator<Status, void, undefined>} */
  async *allRequests({ status } = {}) {
    let cursor;
    do {
      const page = await this.requests({ status, cursor, limit: 100 });
      yield* page.requests;
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  // -- playing a person

  /** @param {string} [label] */
  async makeSandboxPerson(label = "") {
    return makePerson(this.#transport, label);
  }

  /** @param {string} userId @param {import("./index.js").VaultKey | null} [vaultKey] */
  sandboxPerson(userId, vaultKey = null) {
    return new SandboxPerson(this.#transport, userId, "", vaultKey);
  }

  async sandboxPeople() {
    return (await this.#get(PEOPLE, SANDBOX)).people;
  }

  /** @param {string} type */
  async tellSandboxEvent(type) {
    return tellEvent(this.#transport, type);
  }

  // -- proofs

  /** @param {string} receiptId */
  async receipt(receiptId) {
    const { jws } = await this.#get(SIGNED, `/receipts/${part(receiptId)}`);
    return this.#proving.receipt(receiptId, jws);
  }

  /** @param {string} receiptId */
  async receiptWithProof(receiptId) {
    const answer = await this.#transport.send(`/receipts/${part(receiptId)}`, { params: { proof: 1 } });
    return answer.status === 200 ? this.#proving.receiptWithProof(receiptId, jsonOf(answer)) : null;
  }

  async followLog() {
    return this.#proving.log.follow();
  }

  /** @param {string} origin */
  async acceptLogEpoch(origin) {
    return this.#proving.log.acceptEpoch(origin);
  }

  async verificationKeys() {
    return this.#proving.keys();
  }

  /** @param {Record<string, string>} named @param {number} wait @param {AbortSignal} [signal] */
  async #status(named, wait, signal) {
    return this.#get(STATUS, "/consent-status", { ...named, wait: wait || undefined }, wait, signal);
  }

  /** @param {import("./shapes.js").Shape} shape @param {string} path @param {Record<string, unknown>} [params] @param {number} [extraSeconds] @param {AbortSignal} [signal] */
  async #get(shape, path, params = {}, extraSeconds = 0, signal = undefined) {
    return shaped(shape, jsonOf(await this.#transport.send(path, { params, extraSeconds, signal })));
  }
}

/** The header that names the app's own caller: as a hash, so that any text will do and none of it leaves the app. @param {string | undefined} hint @returns {Record<string, string>} */
function hintOf(hint) {
  return hint === undefined ? {} : { "X-Client-Hint": hashOf(hint) };
}

/** @param {string} text */
const hashOf = (text) => createHash("sha256").update(text).digest("hex");

/** The header that names a call's repetitions; the service reads ASCII alone there, so that a hash stands for other text. @param {string | undefined} key @returns {Record<string, string>} */
function repetitionOf(key) {
  if (!key) return {};
  if (!/^(?! )[^\x00-\x1f\x7f\p{Cs}]{1,128}(?<! )$/u.test(key)) {
    throw new Refused("the idempotency key is not 1 to 128 characters without control characters or spaces about it", "idempotency_key");
  }
  return { "Idempotency-Key": /^[ -~]+$/.test(key) ? key : hashOf(key) };
}

/** What the person's vault compares with its own, so that the service cannot take them for somebody else. @param {string} userId @returns {Record<string, string>} */
function invitationOf(userId) {
  return /^sh_[!-~]*$/.test(userId) ? { invitation_sha256: toBase64url(sha256(utf8(userId))) } : {};
}

/**
 * What was asked along is held to be our own request, of whom this very connection is the way to.
 * @param {import("./index.js").Connection} found @param {string} connectionId @param {import("./index.js").BegunWith} begunWith
 */
async function checkedConnection(found, connectionId, { request, returnUrl }) {
  compare("connection_id", found.connection_id, connectionId, "the answer");
  const returned = found.request;
  if (!returned) return found;
  if (!request) throw new Refused("a request was asked along; give the one that the connection was begun with", "request");
  compare("user_id", returned.user_id, found.user_id, "the answer");
  const given = { user_id: found.user_id, invitation_sha256: toBase64url(sha256(utf8(connectionId))), return_url: returnUrl ?? null };
  checkRequest(returned, { ...request, ...given }, await thumbprint(request.connector_public_key));
  return found;
}

/** @param {Record<string, unknown>} terms */
function wireTerms(terms) {
  const stray = Object.keys(terms).find((name) => !Object.hasOwn(TERMS, name));
  if (stray) throw new TypeError(`requestConsent does not know ${stray}`);
  const given = Object.entries(TERMS).filter(([name]) => terms[name] !== undefined && terms[name] !== null);
  return Object.fromEntries(given.map(([name, wire]) => [wire, terms[name]]));
}

/** @param {Envelope | null} envelope @returns {Envelope} */
function whole(envelope) {
  if (!envelope) throw new BadAnswer("the server answered 304 where nothing was known");
  return envelope;
}
