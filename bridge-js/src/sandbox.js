// @ts-check
// People to play: somebody of a test app, whose vault key this process makes and holds, for tests without a browser.

import { BadAnswer, Problem } from "./errors.js";
import { decodeBase64url, toBase64url } from "./formats/bytes.js";
import { requestDigest } from "./formats/canonical.js";
import { withAnswers } from "./formats/derived.js";
import { KeyRefused, Refused } from "./formats/errors.js";
import { definitionsOf, exportHeader, sealExport } from "./formats/exports.js";
import { thumbprint } from "./formats/keys.js";
import { newRoot, signApproval, signResumption } from "./formats/signing.js";
import { openRoot, openSegment, rootMembers, sealSegment } from "./formats/vault.js";
import { newRecoveryCode, newVaultKey, wrap } from "./formats/wrappers.js";
import { CONNECTION_ANSWER, DATA, PERSON, PROCESSING, REVISIONS, SEGMENTS, shaped, STATUS } from "./shapes.js";
import { SYNTHETIC_PROFILE } from "./synthetic.js";
import { jsonOf, part } from "./transport.js";

/** @typedef {import("./index.js").Status} Status */
/** @typedef {import("./index.js").VaultKey} VaultKey */
/** @typedef {{domain: string, segment_id: string, content_revision: number, values: Record<string, unknown>}} Segment */

export const PEOPLE = "/sandbox/people";
const ATTEMPTS_AT_A_SEGMENT = 3;

/** A sandbox person of the app whose token the client holds. Each call is described in index.d.ts. */
export class SandboxPerson {
  #transport;
  #before;

  /** @param {import("./transport.js").Transport} transport @param {string} userId @param {string} label @param {VaultKey | null} vaultKey */
  constructor(transport, userId, label, vaultKey) {
    this.#transport = transport;
    this.#before = `${PEOPLE}/${part(userId)}`;
    this.userId = userId;
    this.label = label;
    this.vaultKey = vaultKey;
  }

  /** @returns {Promise<VaultKey>} */
  async makeVault() {
    const { keyId, bytes } = newVaultKey();
    const vault = { userId: this.userId, keyId, key: bytes };
    const jwe = await wrap("recovery", bytes, newRecoveryCode(), vault); // a code that nobody keeps: a vault has a way in
    const wrappers = [{ kind: "recovery", label: "Recovery code", jwe }];
    await this.#send("POST", "/keys", { key_id: keyId, wrappers, ...(await rootMembers(newRoot(), vault)) });
    this.vaultKey = { key_id: keyId, secret: toBase64url(bytes) };
    return this.vaultKey;
  }

  /** @param {Record<string, Record<string, unknown>>} [segments] domain.segment → attribute → value */
  async fill(segments = SYNTHETIC_PROFILE) {
    for (const [place, values] of Object.entries(segments)) {
      const [domain = "", segmentId = ""] = place.split(".");
      try {
        await this.#write(domain, segmentId, values, 0);
      } catch (error) {
        if (!isStale(error)) throw error;
        await this.#update(domain, segmentId, values);
      }
    }
  }

  /** @param {string} requestId @param {{attributes?: string[], accessDuration?: number}} [options] @returns {Promise<Status>} */
  async approve(requestId, { attributes, accessDuration } = {}) {
    const review = await this.#review(requestId);
    const { request } = review;
    const values = valuesOf(withAnswers(await this.#segments({ scope: request.scope }), request.derived, sealedAt()));
    const named = [...(request.required_attributes ?? []), ...(request.optional_attributes ?? [])];
    const offered = named.length ? named : request.attributes;
    const approved = attributes ?? offered.filter((/** @type {string} */ path) => values.has(path));
    const missing = approved.find((/** @type {string} */ path) => !values.has(path));
    if (missing !== undefined) throw new Refused(`the vault does not hold ${missing}`);
    if (!approved.length) throw new Refused("the vault holds none of the attributes that are asked for");
    const content = {
      ...contentOf(request.scope, approved, values),
      derived: definitionsOf(request.derived, approved),
    };
    const members = exportHeader(review);
    const jwe = await sealExport(content, members, review.connector_public_key);
    const duration = accessDuration ?? request.access_duration;
    const what = { attributes: approved, accessDuration: duration, jwe };
    return this.#status("POST", `/requests/${part(requestId)}/decision`, {
      decision: "approve",
      request_digest: review.request_digest,
      access_duration: duration,
      approved_attributes: approved,
      sources: content.sources,
      jwe,
      ...(await signApproval(await this.#root(), members, what)),
    });
  }

  /** @param {string} requestId @param {{reason?: string}} [options] @returns {Promise<Status>} */
  async deny(requestId, { reason } = {}) {
    const body = { decision: "deny", ...(reason ? { reason } : {}) };
    return this.#status("POST", `/requests/${part(requestId)}/decision`, body);
  }

  /** @param {string} connectionId @returns {Promise<import("./contract.js").ConnectionAnswer>} */
  connect = (connectionId) => this.#answer(connectionId, "connect");
  /** @param {string} connectionId @returns {Promise<import("./contract.js").ConnectionAnswer>} */
  decline = (connectionId) => this.#answer(connectionId, "decline");

  /** @param {string} connectionId @param {string} decision */
  async #answer(connectionId, decision) {
    const answer = await this.#send("POST", "/connections", { connection_id: connectionId, decision });
    return shaped(CONNECTION_ANSWER, answer);
  }

  /** @param {string} grantId */
  revoke = (grantId) => this.#move(grantId, "revoke");
  /** @param {string} grantId */
  pause = (grantId) => this.#move(grantId, "pause");
  /** Opening reading again is signed. @param {string} grantId @returns {Promise<Status>} */
  resume = async (grantId) => {
    const grant = `/grants/${part(grantId)}`;
    const { request_id } = await this.#send("GET", `${grant}/approval`);
    const { iss, sub, aud, request_digest } = exportHeader(await this.#review(request_id));
    const { nonce } = await this.#send("GET", `${grant}/nonce`);
    const names = { iss, sub, aud, grant_id: grantId, request_digest, nonce };
    return this.#status("POST", `${grant}/resume`, await signResumption(await this.#root(), names));
  };

  /** @param {number} seconds */
  async expire(seconds) {
    await this.#send("POST", "/clock", { seconds });
  }

  async deletePerson() {
    await this.#send("DELETE", "");
    this.vaultKey = null;
  }

  /** @param {string} domain @param {string} segmentId @param {Record<string, unknown>} values @param {number} base */
  async #write(domain, segmentId, values, base) {
    const place = { domain, segment_id: segmentId, content_revision: base + 1 };
    const body = {
      jwe: await sealSegment(values, this.#unlocked(), place),
      base_content_revision: base,
      attributes: Object.keys(values),
    };
    shaped(REVISIONS, await this.#send("PUT", `/segments/${domain}/${segmentId}`, body));
  }

  /** Keeps the attributes that are not given, also those that somebody else writes meanwhile. @param {string} domain @param {string} segmentId @param {Record<string, unknown>} values */
  async #update(domain, segmentId, values) {
    let least = 0;
    for (let attempt = 1; ; attempt++) {
      const current = (await this.#segments({ domain })).find(({ segment_id }) => segment_id === segmentId);
      try {
        return await this.#write(domain, segmentId, { ...current?.values, ...values }, Math.max(current?.content_revision ?? 0, least));
      } catch (error) {
        if (!isStale(error) || attempt === ATTEMPTS_AT_A_SEGMENT) throw error;
        // A deleted segment is not listed, but its counting goes on: only the refusal tells how far.
        const found = error.body.current_content_revision;
        least = Number.isSafeInteger(found) ? found : 0;
      }
    }
  }

  /** @param {{scope: string} | {domain: string}} query @returns {Promise<Segment[]>} */
  async #segments(query) {
    const key = this.#unlocked();
    const listed = shaped(SEGMENTS, await this.#send("GET", `/segments?${new URLSearchParams(query)}`)).segments;
    return Promise.all(
      listed.map(async (/** @type {import("./contract.js").SealedSegment} */ { domain, segment_id, content_revision, jwe }) => {
        const place = { domain, segment_id, content_revision };
        return { ...place, values: await openSegment(jwe, key, place) };
      }),
    );
  }

  /** What is asked, believed only after the digest and the key's thumbprint were recomputed here. @param {string} requestId */
  async #review(requestId) {
    const body = shaped(DATA, await this.#send("GET", `/requests/${part(requestId)}/data`));
    const own = {
      request_digest: requestDigest(body.request),
      connector_thumbprint: await thumbprint(body.connector_public_key),
      request_id: requestId,
      user_id: this.userId,
    };
    for (const [member, value] of Object.entries(own)) {
      if ((member === "request_digest" ? body : body.request)[member] !== value) {
        throw new Refused(`${member} does not fit the request`, member);
      }
    }
    return body;
  }

  /** Out of the vault, once its public half is the one that the service names; made where there is none yet. */
  async #root() {
    const vault = this.#unlocked();
    const found = await openRoot(await this.#send("GET", "/keys"), vault);
    if (found) return found;
    const made = newRoot();
    await this.#send("PUT", "/signing-key", await rootMembers(made, vault));
    return made;
  }

  #unlocked() {
    if (!this.vaultKey) throw new KeyRefused("the vault is locked");
    const key = decodeBase64url(this.vaultKey.secret, "the vault key");
    if (key.length !== 32) throw new KeyRefused(`the vault key has ${key.length} bytes, not 32`);
    return { userId: this.userId, keyId: this.vaultKey.key_id, key };
  }

  /** @param {string} grantId @param {string} verb @returns {Promise<Status>} */
  async #move(grantId, verb) {
    return this.#status("POST", `/grants/${part(grantId)}/${verb}`, {});
  }

  /** @param {string} method @param {string} path @param {unknown} body @returns {Promise<Status>} */
  async #status(method, path, body) {
    return shaped(STATUS, await this.#send(method, path, body));
  }

  /** @param {string} method @param {string} path @param {unknown} [body] */
  async #send(method, path, body) {
    const answer = await this.#transport.send(this.#before + path, { method, body, repeatable: method === "GET" });
    return answer.status === 204 ? {} : jsonOf(answer);
  }
}

/** Whether the segment has a later revision than the one written over. @param {unknown} error @returns {error is Problem} */
const isStale = (error) => error instanceof Problem && error.code === "stale_revision";

/** A new one, with a vault that is empty. @param {import("./transport.js").Transport} transport @param {string} label */
export async function makePerson(transport, label) {
  const answer = await transport.send(PEOPLE, { method: "POST", body: { label }, repeatable: false });
  const made = shaped(PERSON, jsonOf(answer));
  const person = new SandboxPerson(transport, made.user_id, made.label, null);
  await person.makeVault();
  return person;
}

/** @param {import("./transport.js").Transport} transport @param {string} type */
export async function tellEvent(transport, type) {
  return shaped(PROCESSING, jsonOf(await transport.send("/sandbox/events", { method: "POST", body: { type }, repeatable: false })));
}

/** attribute path → its value and the segment that holds it @param {Segment[]} segments */
function valuesOf(segments) {
  return new Map(
    segments.flatMap((segment) =>
      Object.entries(segment.values).map(([name, value]) => [`${segment.domain}.${segment.segment_id}.${name}`, { value, segment }]),
    ),
  );
}

/** @param {string} scope @param {string[]} approved @param {ReturnType<typeof valuesOf>} values @returns {import("./index.js").ExportContent} */
function contentOf(scope, approved, values) {
  /** @type {import("./index.js").Data} */
  const data = {};
  const sources = new Map();
  for (const path of approved) {
    const [domain = "", segment_id = "", attribute = ""] = path.split(".");
    const found = values.get(path);
    if (!found) throw new BadAnswer(`nothing is held at ${path}`);
    ((data[domain] ??= {})[segment_id] ??= {})[attribute] = found.value;
    sources.set(`${domain}.${segment_id}`, { domain, segment_id, content_revision: found.segment.content_revision });
  }
  return { scope, approved_attributes: approved, data, sources: [...sources.values()], sealed_at: sealedAt() };
}

const sealedAt = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");
