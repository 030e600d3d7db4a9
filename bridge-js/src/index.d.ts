// The public API. Results have the wire's own names, durations are whole seconds, times are RFC 3339 in UTC.

import type { Connection, ConnectionAnswer, ConnectionNotice, Discovery, Envelope, Grant, MadeConnection, MadeRequest, PeoplePage, Processing, RequestPage, SandboxEntry, ScopeEntry, Status, Terms } from "./contract.js";

export type { Connection, ConnectionAnswer, ConnectionNotice, Discovery, Envelope, FoundPerson, Grant, MadeConnection, MadeRequest, PeoplePage, Processing, RequestPage, SandboxEntry, ScopeEntry, Status } from "./contract.js";
export type RequestStatus = Status["status"];
export type GrantStatus = Grant["status"];

export interface PublicKey {
  kty: "OKP" | "EC";
  crv: "X25519" | "P-256";
  x: string;
  y?: string;
}

/** A connector's key pair. Who holds it can open what is sealed to it. */
export interface PrivateKey extends PublicKey {
  d: string;
}

/** `refresh_policy` as `refreshPolicy`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** The contract's optional members of a request, described in contract.d.ts; null leaves one out. */
export type ConsentTerms = { [Name in keyof Terms as Camel<Name>]: Terms[Name] };

export interface ConsentRequest extends ConsentTerms {
  userId: string;
  /** Exactly one, as discovered for this person. */
  scope: string;
  /** 8 to 280 characters, shown to the person as your own words. */
  purpose: string;
  /** The connector's JWK, of which the public half is sent. */
  key: PublicKey | PrivateKey;
  /** Your name for the key; its thumbprint if left out. */
  connectorKeyId?: string;
  /** The same text repeats the first answer for a day; the call is then tried again where the connection fails. */
  idempotencyKey?: string;
  /** As in `discover`. */
  clientHint?: string;
}

export interface Source {
  domain: string;
  segment_id: string;
  /** Of a segment of one's own; no export tells it to an app. */
  content_revision?: number;
}

/** domain → segment → attribute → value */
export type Data = Record<string, Record<string, Record<string, unknown>>>;

export interface ExportContent {
  scope: string;
  approved_attributes: string[];
  data: Data;
  sources: Source[];
  sealed_at: string;
  /** By path, where the value in `data` is an answer in place of another value; it may be "cannot_say". */
  derived?: Record<string, { from: string; rule: Record<string, unknown>; rule_version: number }>;
}

/** What an export is bound to; `iss` is the origin of the consent app. */
export interface ExportHeader {
  kid: string;
  iss: string;
  sub: string;
  aud: string;
  request_id: string;
  scope: string;
  revision: number;
  request_digest: string;
}

/** The approved slice, opened and checked. */
export interface Slice extends ExportContent {
  request_id: string;
  grant_id: string;
  export_id: string;
  revision: number;
  user_id: string;
  expires_at: string;
  reads_remaining: number | null;
  /** Give it back to `readNewer`. */
  etag: string;
}

/** A request that is sent with a connection: whoever connects is asked it as well. */
export type AlongRequest = Omit<ConsentRequest, "userId" | "idempotencyKey" | "clientHint" | "invitationSha256" | "returnUrl">;

/** The same as it is sent: JSON without anything secret, to be kept until the connection is completed. */
export type RequestAlong = { connector_public_key: PublicKey } & Record<string, unknown>;

/** What a connection was begun with: what was asked along is compared with it. */
export interface BegunWith {
  request?: RequestAlong;
  returnUrl?: string;
}

/** What a notice or webhook contains: the request as it was at that moment, where a connection stands, or what became of processing by agents. */
export type NoticeContents =
  | { status: Status; processing?: undefined; connection?: undefined }
  | { status?: undefined; processing: Processing; connection?: undefined }
  | { status?: undefined; processing?: undefined; connection: ConnectionNotice };

/**
 * A notice of the app with its sequence number. `type` is "consent" for requests, else that of its webhook;
 * `webhookType` is the type of the webhook about the same.
 */
export type ConsentEvent = { id: number; type: string; webhookType: string } & NoticeContents;

export type Webhook = {
  /** The same for each repetition of a delivery. */
  webhookId: string;
  type: string;
  timestamp: string;
} & NoticeContents;

export type Claims = Record<string, any>;

export interface KeySet {
  keys: Record<string, any>[];
}

/** Whom to believe about a log: verifier keys as C2SP's signed-note writes them; `/log/key` tells the log's own. */
export interface LogTrust {
  keys: string[];
  /** Those who must have cosigned what a proof is against. */
  witnesses?: string[];
  /** How many of them must; all if left out. */
  quorum?: number | null;
}

export interface LogOptions {
  /** The file that keeps the log's keys and the last checkpoint seen; else they last as long as the object. */
  logMemory?: string;
  /** Whom to believe; else the keys of the first look, and those that they vouch for later. */
  logTrust?: LogTrust;
  /** Of one answer; 30 if left out. */
  timeoutSeconds?: number;
  /** How often a read is tried where the connection fails or the service is away; 3 if left out. */
  attempts?: number;
  /** Waits between two attempts or polls, or throws the signal's reason once that is aborted. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** What a look at a log showed. */
export interface LogSight {
  origin: string;
  /** How many entries it has. */
  size: number;
  /** In base64. */
  root: string;
  cosigned_by: string[];
  /** Whether a witness cosigned it within a day; null where no witness is known. */
  fresh: boolean | null;
}

/** An entry of an audit chain, whose hashes were computed again; `facts` is null where they were erased. */
export interface Entry {
  chain: string;
  sequence: number;
  entry_hash: string;
  prev_hash: string;
  kind: string;
  at: string;
  facts: Record<string, any> | null;
}

/** Where an event stands: its entry, the number of its leaf, and the checkpoint that holds it. */
export interface ProvenEvent {
  entry: Entry;
  index: number;
  log: LogSight;
}

export interface ProvenHistory {
  chain: string;
  /** How many there are; each was computed again. */
  entries: number;
  /** The number of the newest one that the log has, which holds all before it; 0 where all are on their way. */
  in_log: number;
  /** Whether one that the log does not have is older than ten minutes, though it takes new ones every few seconds. */
  late: boolean;
  /** null where nothing was published yet, so that the chain alone is proved. */
  log: LogSight | null;
}

export interface ClientOptions extends LogOptions {
  /** The key that each person signs with: keep `dump()`, and give the same ones to the next client. */
  pins?: KeyPins;
}

/** A person's key for your app: Ed25519, exactly these members. */
export interface OwnerKey {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

/** The key of one person, and the approvals under earlier ones that were taken while they counted. */
export interface Pin {
  key: OwnerKey;
  earlier: string[];
  approvals: string[];
}

/** The key that came last in place of a person's own, and when this client first met it (seconds since 1970). */
export interface NewKey {
  x: string;
  met_at: number;
}

/** What `dump` gives of one person: without a key where none was taken yet. */
export interface StoredPin extends Partial<Pin> {
  new?: NewKey;
}

/** The key of each person by issuer and user_id, as it was first met. */
export class KeyPins {
  /** `stored` is what `dump` gave; `now` the clock, in milliseconds. */
  constructor(stored?: Record<string, StoredPin>, options?: { now?: () => number });
  readonly entries: Map<string, Pin>;
  /** Plain JSON. */
  dump(): Record<string, StoredPin>;
  find(issuer: string, userId: string): Pin | undefined;
  /** Take this key as the person's, by somebody's decision; KeyRefused until seven days after this client met it. */
  accept(issuer: string, userId: string, key: unknown): void;
  /** Note that this key came in place of the person's own: when it can be accepted (seconds since 1970). */
  meet(issuer: string, userId: string, key: OwnerKey): number;
  /** Remember what was checked. */
  keep(issuer: string, userId: string, key: OwnerKey, approval: string): Promise<void>;
}


/**
 * Calls of one app with one developer token; it never holds the private key.
 *
 * Errors: Problem (the service said no), Unreachable, BadAnswer, Refused (an export that is not what was asked for).
 */
export class Client {
  /** @param baseUrl ends in /api/v1; of an origin alone, that is added */
  constructor(baseUrl: string, token: string, options?: ClientOptions);
  /**
   * Which scopes this person could approve. `clientHint` is whatever tells your own callers apart; only a hash of it is
   * sent. Who asks about too many unknown people then locks themselves out, and not your whole app.
   */
  discover(userId: string, options?: { clientHint?: string }): Promise<Discovery>;
  /** Every scope of this deployment that can be asked for, of nobody in particular. */
  catalog(): Promise<ScopeEntry[]>;
  /** One page of the people who let apps find them, by how their handle or name begins; all of them without `query`. */
  people(query?: string, options?: { cursor?: string; limit?: number }): Promise<PeoplePage>;
  /** Ask for one scope; keep the answer, an export is checked against it. */
  requestConsent(request: ConsentRequest): Promise<MadeRequest>;
  /** What to ask of whoever connects; the private half of `key` stays here. */
  requestAlong(request: AlongRequest): Promise<RequestAlong>;
  /** Let somebody connect: send them to `connect_url`, or, without a `returnUrl`, show `code` and `code_url`. */
  beginConnection(options?: BegunWith & { bindingMessage?: string }): Promise<MadeConnection>;
  /** Where it stands; `waitSeconds` (0 to 30) holds the answer. */
  connection(connectionId: string, options?: BegunWith & { waitSeconds?: number }): Promise<Connection>;
  /** Complete it with the code of the return: only in the browser session that began it. Its `request` is what to read by. */
  completeConnection(connectionId: string, connectionCode: string, begunWith?: BegunWith): Promise<Connection>;
  /** Forget this person: what waits is cancelled, what may be read is released, and the name leads nowhere. */
  endConnection(userId: string): Promise<void>;
  /** Where a request stands; `waitSeconds` (0 to 30) holds the answer until that changes. */
  status(requestId: string, options?: { waitSeconds?: number }): Promise<Status>;
  /** The same for the app's newest request for this person and scope. */
  newestStatus(userId: string, scope: string, options?: { waitSeconds?: number }): Promise<Status>;
  /**
   * The status once it is no longer pending; WaitTimeout when the time is up, Infinity waits for ever.
   * Outlives restarts of the service. Throws the reason of `signal` once that is aborted.
   */
  waitForDecision(requestId: string, options: { timeoutSeconds: number; signal?: AbortSignal }): Promise<Status>;
  /**
   * The app's events as they happen, in order, each one once, over as many connections as it takes. Give the `id` of
   * the last event that you dealt with, and the stream goes on after it without a gap.
   * Gives up after `patienceSeconds` (300) of waiting for the service; the time that you take for an event does not count.
   * Throws the reason of `signal` once that is aborted.
   */
  events(options?: { lastEventId?: number | null; patienceSeconds?: number; signal?: AbortSignal }): AsyncGenerator<ConsentEvent, void, undefined>;
  /** The sealed export; counts as one read. */
  fetchExport(requestId: string): Promise<Envelope>;
  /** Fetch the export, compare it with what was asked, open it with the connector's private key. */
  read(request: MadeRequest, key: PrivateKey, options?: { seenRevision?: number }): Promise<Slice>;
  /** The same, or null where nothing changed since `known` was read; that counts no read. */
  readNewer(request: MadeRequest, key: PrivateKey, known: Slice): Promise<Slice | null>;
  /** Cancel a pending request or release a live grant; repeated, the same answer. */
  end(requestId: string): Promise<Status>;
  /** What is kept of the people's keys. */
  readonly pins: KeyPins;
  /**
   * Take another key as this person's, as `OwnerKeyChanged` has it, where they told you that it is theirs; KeyRefused until
   * seven days after `pins` met it.
   */
  acceptOwnerKey(request: MadeRequest, key: OwnerKey): void;
  /** One page of this app's requests, newest first. */
  requests(options?: { status?: RequestStatus; cursor?: string; limit?: number }): Promise<RequestPage>;
  /** Every request of this app, newest first. */
  allRequests(options?: { status?: RequestStatus }): AsyncGenerator<Status, void, undefined>;
  /** A new person to play, with an empty vault; of a test app alone. `fill()` gives them a whole profile. */
  makeSandboxPerson(label?: string): Promise<SandboxPerson>;
  /** One that was made before. Without the vault key they can deny, pause and stop, but not approve. */
  sandboxPerson(userId: string, vaultKey?: VaultKey | null): SandboxPerson;
  /** All of the app's, the newest first. */
  sandboxPeople(): Promise<SandboxEntry[]>;
  /** Have this test app told of an event of agents, such as `analysis.completed`, by stream and webhook: its notice. */
  tellSandboxEvent(type: string): Promise<Processing>;
  /** The signed proof of one event, verified. */
  receipt(receiptId: string): Promise<{ receipt_id: string; jws: string; claims: Claims }>;
  /**
   * The same with the proof that its event is in the public log, which has to fit what this client saw of it last; null
   * where it is not there yet.
   */
  receiptWithProof(receiptId: string): Promise<({ receipt_id: string; jws: string; claims: Claims } & ProvenEvent) | null>;
  /**
   * Look at the public log: signed, cosigned by whom, and consistent with what this client saw of it last. Refused where it
   * was rewritten or rolled back, LogKeyChanged where its key changed and no known one vouches for it, LogEpochChanged where it
   * began anew, NothingPublished where it has no checkpoint yet.
   */
  followLog(): Promise<LogSight>;
  /**
   * Go on with the log that began anew under this name, as `LogEpochChanged` has it in `newest.origin`. For somebody who was
   * told what was restored: nothing shows that the new tree has what was seen of the old one.
   */
  acceptLogEpoch(origin: string): Promise<LogSight>;
  /** The service's public keys, for `verifyReceipt`. */
  verificationKeys(): Promise<KeySet>;
}

/** Looks at the log of one service, without a token. Every call refuses what does not fit what was seen before. */
export class LogReader {
  /** @param service any address of it; the log is under its origin */
  constructor(service: string, options?: LogOptions);
  /** As the client's `followLog`. */
  follow(): Promise<LogSight>;
  /** As the client's `acceptLogEpoch`. */
  acceptEpoch(origin: string): Promise<LogSight>;
  /** That a verified receipt's event is in the log; `answer` has `entry` and `proof` as `?proof=1` answers them. */
  proveReceipt(claims: Claims, answer: Record<string, any>): Promise<ProvenEvent>;
  /** A person's own history, as `/consent/history/chain` answers it, in one page or several: computed again, and in the log. */
  verifyHistory(history: Record<string, any> | Record<string, any>[]): Promise<ProvenHistory>;
}

/** The same of a receipt without a network, by keys that one has: `claims` are those that `verifyReceipt` gave. */
export function verifyReceiptProof(claims: Claims, answer: Record<string, any>, trust: LogTrust): Promise<ProvenEvent>;

/** What opens all that a person keeps; `secret` is 32 bytes in base64url. */
export interface VaultKey {
  key_id: string;
  secret: string;
}

/** A sandbox person of the app whose token the client holds; `makeSandboxPerson` makes one. Decides at once. */
export class SandboxPerson {
  private constructor();
  readonly userId: string;
  readonly label: string;
  /** Keep it to play this person again; null where nobody gave it. */
  vaultKey: VaultKey | null;
  /** Make their vault, once; its key is held from now on. */
  makeVault(): Promise<VaultKey>;
  /** Keep these values, `domain.segment` → attribute → value; without any, a whole synthetic profile. */
  fill(segments?: Record<string, Record<string, unknown>>): Promise<void>;
  /** Approve: `attributes` of those asked for, or all that the vault has; for as long as asked, or less. */
  approve(requestId: string, options?: { attributes?: string[]; accessDuration?: number }): Promise<Status>;
  /** Refuse; `reason` is the person's own note, which the app does not see. */
  deny(requestId: string, options?: { reason?: string }): Promise<Status>;
  /** Connect with the app; `request_id` is of what rode along, which they decide on before they go back. */
  connect(connectionId: string): Promise<ConnectionAnswer>;
  /** Decline to connect. */
  decline(connectionId: string): Promise<ConnectionAnswer>;
  revoke(grantId: string): Promise<Status>;
  pause(grantId: string): Promise<Status>;
  resume(grantId: string): Promise<Status>;
  /** Let so much time pass for them: what would end within it ends as `expired` now. */
  expire(seconds: number): Promise<void>;
  /** End all that stands, destroy the vault, and forget them. */
  deletePerson(): Promise<void>;
}

/** What `fill` keeps unless told otherwise. */
export const SYNTHETIC_PROFILE: Record<string, Record<string, unknown>>;

/** A fetched export, opened: header, content and envelope all have to say what was asked for. */
export function openEnvelope(
  envelope: Envelope,
  request: MadeRequest,
  key: PrivateKey,
  options?: { seenRevision?: number; etag?: string; pins?: KeyPins },
): Promise<Slice>;

/** The approved slice; refuses an export that is not for exactly this request, naming the member that differs. */
export function openExport(sealed: string, privateKey: unknown, expected: ExportHeader): Promise<ExportContent>;

/** A fresh key pair for one app or one machine. */
export function generateConnectorKey(curve?: "X25519" | "P-256"): Promise<PrivateKey>;
/** The public JWK of an app, reduced to the members that count; KeyRefused otherwise. */
export function checkConnectorKey(jwk: unknown, options?: { tolerate?: boolean }): Promise<PublicKey>;
/** A private JWK; KeyRefused where its halves do not belong together. */
export function checkPrivateKey(jwk: unknown): Promise<PrivateKey>;
export function publicHalf(jwk: unknown): Promise<PublicKey>;
/** RFC 7638, SHA-256, of either half. */
export function thumbprint(jwk: unknown): Promise<string>;

/** The claims of a receipt; `expected` maps members, dotted where nested, to their values. */
export function verifyReceipt(jws: string, jwks: KeySet, expected?: Record<string, unknown>): Promise<Claims>;

/**
 * The notice in a request's exact body, if it was signed with the endpoint's `secret` (whsec_…) and is at most five
 * minutes old. Refused otherwise: answer 400 then and do nothing.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
  options?: { toleranceSeconds?: number; now?: number },
): Webhook;

/** The base of every error that this package throws on purpose. */
export class BridgeError extends Error {}
/** Sealed data, a key or a body that is not what it has to be; `member` names what differs, where one does. */
export class Refused extends BridgeError {
  constructor(message: string, member?: string | null, reason?: string);
  member: string | null;
  /** A word for programs: `mismatch`, `cannot_open`, `unexpected_member` and others. */
  reason: string;
}
export class KeyRefused extends Refused {}
export class CannotOpen extends Refused {}
export class UnknownKey extends Refused {}
/** Another key than this person's; `reset` where they lost their vault. */
export class OwnerKeyChanged extends KeyRefused {
  constructor(reason: string, key: OwnerKey, reset: boolean);
  key: OwnerKey;
  reset: boolean;
}
/** The log is signed with a key that none vouches for which this reader knows. */
export class LogKeyChanged extends Refused {}
/** A known key signed the tree of another name: a log begins anew after a restore without a mirror. */
export class LogEpochChanged extends Refused {
  constructor(last: { origin: string; size: number }, newest: { origin: string; size: number });
  /** What was seen of the log last. */
  last: { origin: string; size: number };
  newest: { origin: string; size: number };
}
/** The log has no checkpoint yet, and this reader never saw one. */
export class NothingPublished extends BridgeError {}
/** The server did not answer, or not in time. */
export class Unreachable extends BridgeError {}
/** The server answered something that is not the contract's. */
export class BadAnswer extends BridgeError {}
/** The person has not decided within the time that the caller was ready to wait. */
export class WaitTimeout extends BridgeError {}
/** An error answer of the server (RFC 9457). */
export class Problem extends BridgeError {
  code: string;
  status: number;
  detail: string;
  errors: { field: string; code: string; message: string }[];
  traceId: string;
  /** Seconds. */
  retryAfter: number | null;
  body: Record<string, any>;
}
