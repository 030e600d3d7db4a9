// The client against a service that follows a script: what is sent, what is tried again, what is refused.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { after, before, beforeEach, test } from "node:test";
import * as bridge from "../../../bridge-js/src/index.js";
import { sleep, Transport } from "../../../bridge-js/src/transport.js";

const TOKEN = `cr_live_abcdefgh_${"s".repeat(43)}`;
const DROP = "drop the connection";
const HANG = "never answer";
const KEY = await bridge.generateConnectorKey("P-256");
const PRINT = await bridge.thumbprint(KEY);
const SCOPE = "attr.lifestyle.food.*";
// as Node writes it: the names are in order already
const digestOf = (request) => createHash("sha256").update(JSON.stringify(request, Object.keys(request).sort())).digest("base64url");
const FROZEN = {
  request_id: "req_a", app_id: "app_a", app_name: "Food guide", user_id: "usr_a", scope: SCOPE,
  attributes: ["lifestyle.food.diet_preference"], purpose: "Suggest food", connector_thumbprint: PRINT,
  access_duration: 86400, expires_at: "2026-11-21T10:00:00Z", required_attributes: null, optional_attributes: null,
  max_reads: null, refresh_policy: "snapshot", binding_message: null,
};
const MADE_REQUEST = {
  request_id: "req_a", status: "pending", app_id: "app_a", issuer: "https://consent.example", user_id: "usr_a",
  scope: SCOPE, scope_label: "Food", approval_url: "https://consent.example/consent/requests/req_a/", interval: 5,
  expires_in: 86400, expires_at: "2026-11-21T10:00:00Z", access_duration: 86400, connector_key_id: PRINT,
  connector_fingerprint: PRINT, request: FROZEN, request_digest: digestOf(FROZEN),
  created_at: "2026-11-20T10:00:00Z",
};
const madeRequest = (frozen) => {
  const request = { ...FROZEN, ...frozen };
  const { user_id, scope, access_duration } = request;
  return { ...MADE_REQUEST, user_id, scope, access_duration, request, request_digest: digestOf(request) };
};
const PENDING = {
  request_id: "req_a", status: "pending", user_id: "usr_a", scope: SCOPE, interval: 5,
  created_at: "2026-11-20T10:00:00Z", expires_at: "2026-11-21T10:00:00Z", decided_at: null, receipt_id: null,
  sequence: 40, grant: null,
};
const DENIED = { ...PENDING, status: "denied", sequence: 41 };
const event = (id) => `event: consent\nid: ${id}\ndata: ${JSON.stringify(DENIED)}\n\n`;

let received = [];
let script = [];
let pauses = [];
let client;
let hasty; // gives an answer half a second
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    received.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() });
    const step = script.length > 1 ? script.shift() : script[0];
    if (step === HANG) return;
    if (step === DROP) return request.socket.destroy();
    const { status = 200, headers = {}, body = {}, open = false } = step;
    response.writeHead(status, headers);
    if (open) return response.write(body);
    response.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
});

before(() => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  pauses = [];
  const pause = async (milliseconds) => void pauses.push(milliseconds);
  const address = `http://127.0.0.1:${server.address().port}/api/v1/`;
  client = new bridge.Client(address, TOKEN, { pause });
  hasty = new bridge.Client(address, TOKEN, { timeoutSeconds: 0.5, pause });
});

const answers = (...steps) => void (script = steps);
const problem = (code, status, more = {}) => ({ status, body: { code, status, title: code, detail: "No such\nthing.", ...more } });
const ask = (more = {}, by = client) =>
  by.requestConsent({ userId: "usr_a", scope: SCOPE, purpose: "Suggest food", key: KEY, ...more });

test("what is sent is the contract's", async () => {
  const answer = madeRequest({ max_reads: 3 });
  answers({ status: 201, body: answer });
  assert.deepEqual(await ask({ maxReads: 3, accessDuration: 86400, bindingMessage: null }), answer);
  const [{ method, url, headers, body }] = received;
  assert.deepEqual([method, url, headers.authorization], ["POST", "/api/v1/request-consent", `Bearer ${TOKEN}`]);
  const { d, ...open } = KEY;
  assert.deepEqual(JSON.parse(body), {
    user_id: "usr_a", scope: SCOPE, purpose: "Suggest food", connector_public_key: open, connector_key_id: PRINT,
    connector_wrapping_alg: "ECDH-ES+A256KW", max_reads: 3, access_duration: 86400,
  });
  assert.ok(!body.includes(d));
});

for (const member of ["user_id", "scope", "connector_key_id", "connector_fingerprint", "access_duration"]) {
  test(`a frozen request with another ${member} is refused`, async () => {
    answers({ body: { ...MADE_REQUEST, [member]: member === "access_duration" ? 7 : "other" } });
    await assert.rejects(ask({ accessDuration: 86400 }), (error) => error instanceof bridge.Refused && error.member === member);
  });
}

const OTHER_WORDS = {
  user_id: "usr_b", scope: "attr.lifestyle.*", attributes: ["financial.income.salary"], purpose: "Sell what you like",
  connector_thumbprint: "other", access_duration: 31536000, required_attributes: ["lifestyle.food.diet_preference"],
  optional_attributes: ["lifestyle.food.diet_preference"], max_reads: 7, refresh_policy: "continuous", binding_message: "Blue cat",
};
for (const [member, other] of Object.entries(OTHER_WORDS)) {
  test(`another ${member} than was asked is refused, whatever digest the server makes`, async () => {
    answers({ status: 201, body: madeRequest({ [member]: other }) });
    await assert.rejects(ask(), (error) => error instanceof bridge.Refused && error.member === member);
  });
}

const digestOfName = (name) => createHash("sha256").update(name).digest("base64url");

test("the sharing ID that was used goes into what the person signs for", async () => {
  const answer = madeRequest({ invitation_sha256: digestOfName("sh_alices") });
  answers({ status: 201, body: answer });
  assert.deepEqual(await ask({ userId: "sh_alices" }), answer);
  assert.equal(JSON.parse(received[0].body).invitation_sha256, digestOfName("sh_alices"));
});

for (const frozen of [{ invitation_sha256: digestOfName("sh_bobs") }, {}]) {
  test(`whom another invitation or none led to is refused: ${Object.keys(frozen).join()}`, async () => {
    answers({ status: 201, body: madeRequest({ user_id: "usr_bob", ...frozen }) });
    await assert.rejects(ask({ userId: "sh_alices" }), (error) => error instanceof bridge.Refused && error.member === "invitation_sha256");
  });
}

test("a digest over anything else is refused", async () => {
  const request_digest = digestOf({ ...FROZEN, purpose: "Sell what you like" });
  answers({ status: 201, body: { ...MADE_REQUEST, request_digest } });
  await assert.rejects(ask(), (error) => error instanceof bridge.Refused && error.member === "request_digest");
});

for (const member of ["request_id", "app_id", "expires_at"]) {
  test(`an answer that says two things of ${member} is refused`, async () => {
    answers({ status: 201, body: { ...MADE_REQUEST, request: { ...FROZEN, [member]: "other" } } });
    await assert.rejects(ask(), (error) => error instanceof bridge.Refused && error.member === member);
  });
}

test("unknown terms and bad keys never leave", async () => {
  answers({ body: MADE_REQUEST });
  await assert.rejects(ask({ color: "red" }), TypeError);
  await assert.rejects(ask({ key: { kty: "RSA" } }), bridge.KeyRefused);
  assert.equal(received.length, 0);
});

for (const failure of [DROP, problem("temporarily_unavailable", 503), { status: 502, body: "" }]) {
  test(`a read is tried again after ${JSON.stringify(failure).slice(0, 25)}`, async () => {
    answers(failure, failure, { body: { scope_entries: [] } });
    assert.deepEqual(await client.catalog(), []);
    assert.equal(pauses.length, 2);
  });

  test(`a write is not tried again after ${JSON.stringify(failure).slice(0, 25)}`, async () => {
    answers(failure);
    await assert.rejects(ask(), bridge.BridgeError);
    assert.equal(received.length, 1);
  });
}

test("a write under a key is tried again", async () => {
  answers(DROP, { body: MADE_REQUEST });
  await ask({ idempotencyKey: "once" });
  assert.deepEqual(received.map((one) => one.headers["idempotency-key"]), ["once", "once"]);
});

test("a key of any text is sent as the service reads it", async () => {
  answers({ body: MADE_REQUEST });
  for (const [idempotencyKey, sent] of [["trip 42/a", "trip 42/a"], ["ключ", createHash("sha256").update("ключ").digest("hex")]]) {
    await ask({ idempotencyKey });
    assert.equal(received.at(-1).headers["idempotency-key"], sent);
  }
});

for (const idempotencyKey of ["a\nb", " a", "a ", "x".repeat(129), "\ud800"]) {
  test(`no key of a write: ${JSON.stringify(idempotencyKey).slice(0, 10)}`, async () => {
    await assert.rejects(ask({ idempotencyKey }), (error) => error instanceof bridge.Refused && error.member === "idempotency_key");
    assert.equal(received.length, 0);
  });
}

test("what no JSON can say is the caller's error, and is not tried again", async () => {
  for (const maxReads of [3n, NaN, Infinity]) await assert.rejects(ask({ maxReads, idempotencyKey: "once" }), bridge.Refused);
  await assert.rejects(client.events({ lastEventId: "4\n1" }).next(), bridge.Refused);
  await assert.rejects(client.discover("usr_\ud800"), bridge.Refused);
  assert.deepEqual([received, pauses], [[], []]);
});

test("a hint of one's own caller leaves as a hash", async () => {
  answers({ body: MADE_REQUEST }, problem("unknown_user", 404), { body: MADE_REQUEST });
  await ask({ clientHint: "Zoë at the form" });
  await assert.rejects(client.discover("usr_a", { clientHint: "Zoë at the form" }));
  await ask();
  const hint = createHash("sha256").update("Zoë at the form").digest("hex");
  assert.deepEqual(received.map((one) => one.headers["x-client-hint"]), [hint, hint, undefined]);
});

test("a refusal says what the service said, in one line", async () => {
  answers(problem("invalid_request", 400, { errors: [{ field: "scope", code: "x", message: "unknown" }], trace_id: "t1" }));
  await assert.rejects(client.discover("usr_a/b"), (error) => {
    assert.equal(received[0].url, "/api/v1/user-scopes/usr_a%2Fb");
    assert.deepEqual([error.name, error.code, error.status, error.traceId], ["Problem", "invalid_request", 400, "t1"]);
    assert.equal(error.message, "invalid_request (400): No such thing.: scope: unknown");
    return true;
  });
  assert.equal(received.length, 1);
});

test("a refusal without a trace is found by its request", async () => {
  const headers = { "X-Request-Id": "r1" };
  answers({ status: 500, headers, body: "<html>" }, { ...problem("unknown_user", 404, { trace_id: "t1" }), headers });
  await assert.rejects(client.catalog(), (error) => error.code === "unexpected_answer" && error.traceId === "r1");
  await assert.rejects(client.catalog(), (error) => error.traceId === "t1");
});

for (const [body, reason] of [
  ["", /not JSON/], ["[]", /not a JSON object/], ['{"scope_entries":7}', /not a list/], ["{}", /has no scope_entries/],
  ['{"scope_entries":[{}]}', /has no scope/], ['{"a":1,"a":2}', /given twice/], [Buffer.from([0xff]), /not UTF-8/],
]) {
  test(`a bad answer: ${String(body)}`, async () => {
    answers({ body });
    await assert.rejects(client.catalog(), (error) => error instanceof bridge.BadAnswer && reason.test(error.message));
  });
}

test("redirects are not followed, long answers are given up, late ones too", async () => {
  answers({ status: 302, headers: { Location: "/elsewhere" } });
  await assert.rejects(client.catalog(), /redirect/);
  assert.equal(received.length, 1);
  answers({ body: Buffer.alloc(24 * 1024 * 1024, " ") });
  await assert.rejects(client.catalog(), /larger than/);
  answers(HANG);
  await assert.rejects(ask({}, hasty), /in time/);
});

test("a certificate that is not trusted is told from no connection", async (context) => {
  const made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -keyout - -out -";
  const pem = execFileSync("openssl", made.split(" "), { stdio: ["ignore", "pipe", "ignore"] });
  const untrusted = createTlsServer({ key: pem, cert: pem }).listen(0, "127.0.0.1");
  context.after(() => untrusted.close());
  await once(untrusted, "listening");
  const address = `https://127.0.0.1:${untrusted.address().port}`;
  await assert.rejects(new bridge.Client(address, TOKEN, { attempts: 1 }).catalog(), (error) => {
    assert.equal(error.cause.cause.code, "DEPTH_ZERO_SELF_SIGNED_CERT");
    return error instanceof bridge.Unreachable && /certificate was not accepted$/.test(error.message);
  });
  answers(DROP);
  await assert.rejects(ask(), (error) => error.cause instanceof TypeError && /no connection$/.test(error.message));
});

for (const token of ["", "a b", "a\r\nb", "tökèn", undefined]) {
  test(`no token: ${token}`, () => assert.throws(() => new bridge.Client("http://127.0.0.1:9/", token), /developer token/));
}

for (const url of ["", "localhost", "ftp://a", "http://u:p@a/", "http://a/?q"]) {
  test(`no base address: ${url}`, () => assert.throws(() => new bridge.Client(url, TOKEN), /base address/));
}

for (const timeoutSeconds of [16.1, 30.0001, 2 ** 40, Infinity]) {
  test(`an answer has ${timeoutSeconds} seconds`, async () => {
    answers({ body: { scope_entries: [] } });
    assert.deepEqual(await new bridge.Client(`http://127.0.0.1:${server.address().port}`, TOKEN, { timeoutSeconds }).catalog(), []);
  });
}

for (const timeoutSeconds of [0, -1, NaN, "30", null]) {
  test(`no time to answer in: ${JSON.stringify(timeoutSeconds)}`, () => {
    assert.throws(() => new bridge.Client("http://127.0.0.1:9/", TOKEN, { timeoutSeconds }), bridge.Refused);
    assert.throws(() => new bridge.LogReader("http://127.0.0.1:9/", { timeoutSeconds }), bridge.Refused);
  });
}

test("an origin alone is taken for its REST base", async () => {
  answers({ body: { scope_entries: [] } });
  await new bridge.Client(`http://127.0.0.1:${server.address().port}/`, TOKEN).catalog();
  assert.equal(received[0].url, "/api/v1/scope-catalog");
});

test("people are found by how they begin, page by page", async () => {
  const zoe = { handle: "zoe", display_name: "Zoe", headline: "", location_hint: "" };
  answers({ body: { people: [zoe], next_cursor: "c2" } }, { body: { people: [] } });
  assert.deepEqual((await client.people("zo", { limit: 1 })).people, [zoe]);
  await assert.rejects(client.people(undefined, { cursor: "c2" }), bridge.BadAnswer);
  assert.deepEqual(received.map((one) => one.url), ["/api/v1/people?query=zo&limit=1", "/api/v1/people?cursor=c2"]);
});

test("waiting outlives a restart and ends with the decision", async () => {
  answers(DROP, DROP, DROP, DROP, problem("slow_down", 429, {}), { body: PENDING }, { body: DENIED });
  assert.equal((await client.waitForDecision("req_a", { timeoutSeconds: 60 })).status, "denied");
  assert.ok(received.every((one) => /wait=\d+/.test(one.url)));
});

test("zero seconds to wait are the usual pause", async () => {
  const busy = (code, status) => ({ ...problem(code, status), headers: { "Retry-After": "0" } });
  answers(busy("slow_down", 429), { body: DENIED });
  await client.waitForDecision("req_a", { timeoutSeconds: 60 });
  answers(busy("temporarily_unavailable", 503), { body: { scope_entries: [] } });
  await client.catalog();
  answers(busy("temporarily_unavailable", 503), { body: event(41) });
  for await (const { id } of client.events()) if (id === 41) break;
  const [poll, attempt, stream] = pauses;
  assert.ok(poll === 1000 && attempt >= 100 && stream >= 1000, String(pauses));
});

test("waiting ends with its time, and hides no error", async () => {
  answers({ body: PENDING });
  await assert.rejects(client.waitForDecision("req_a", { timeoutSeconds: 0 }), bridge.WaitTimeout);
  answers(problem("unknown_request", 404));
  await assert.rejects(client.waitForDecision("req_a", { timeoutSeconds: 60 }), bridge.Problem);
  answers(DROP);
  await assert.rejects(client.waitForDecision("req_a", { timeoutSeconds: 0 }), bridge.Unreachable);
});

test("waiting for ever asks as any other", async () => {
  answers({ body: PENDING }, { body: DENIED });
  assert.equal((await client.waitForDecision("req_a", { timeoutSeconds: Infinity })).status, "denied");
  assert.ok(received.every((one) => one.url.includes("wait=30")));
});

for (const timeoutSeconds of [NaN, -1, -Infinity]) {
  test(`no time to wait: ${timeoutSeconds}`, async () => {
    await assert.rejects(client.waitForDecision("req_a", { timeoutSeconds }), bridge.Refused);
    assert.equal(received.length, 0);
  });
}

test("a read with another key never leaves", async () => {
  await assert.rejects(client.read(MADE_REQUEST, await bridge.generateConnectorKey("P-256")), bridge.KeyRefused);
  assert.equal(received.length, 0);
});

for (const [what, half] of [["without d", async () => bridge.publicHalf(KEY)], ["with another's d", async () => ({ ...KEY, d: (await bridge.generateConnectorKey("P-256")).d })]]) {
  test(`a read with the request's key ${what} never leaves`, async () => {
    await assert.rejects(client.read(MADE_REQUEST, await half()), (error) => error instanceof bridge.KeyRefused && error.member === "d");
    assert.equal(received.length, 0);
  });
}

test("events go on after they broke off, each one once", async () => {
  answers({ body: "id: 40\nretry: 100\n\n" }, DROP, { body: event(41) }, problem("x", 503), { body: event(41) + event(42) });
  const seen = [];
  for await (const { id, status } of client.events()) {
    seen.push([id, status.status]);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, [[41, "denied"], [42, "denied"]]);
  assert.deepEqual(received.map((one) => one.headers["last-event-id"]), [undefined, "40", "40", "41", "41"]);
});

test("a slow consumer finds its stream again", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  answers({ body: `retry: 100\n\n${event(41)}` }, DROP, { body: event(42) });
  const seen = [];
  for await (const { id } of client.events({ patienceSeconds: 4 })) {
    seen.push(id);
    if (seen.length === 2) break;
    context.mock.timers.tick(4100);
  }
  assert.deepEqual(seen, [41, 42]);
});

test("only waiting for the server is silence", async (context) => {
  const limits = { timeoutSeconds: 1, attempts: 1, pause: sleep };
  const transport = new Transport(`http://127.0.0.1:${server.address().port}`, {}, limits);
  const body = "x".repeat(2_000_000); // more than one chunk
  answers({ body });
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let length = 0;
  for await (const chunk of transport.stream("/", {}, 4)) {
    if (length === 0) context.mock.timers.tick(4100);
    length += chunk.length;
  }
  context.mock.timers.reset();
  assert.equal(length, body.length);
  answers(HANG);
  await assert.rejects(transport.stream("/", {}, 0.2).next(), bridge.Unreachable);
});

test("events end where another connection would be no use", async () => {
  answers(problem("invalid_token", 401));
  await assert.rejects(client.events().next(), bridge.Problem);
  received = [];
  answers(problem("invalid_request", 400));
  await assert.rejects(client.events({ lastEventId: 99 }).next(), (error) => error.code === "invalid_request");
  assert.deepEqual(received.map((one) => one.headers["last-event-id"]), ["99"]);
  answers({ body: "id: x\ndata: {}\n\n" });
  await assert.rejects(client.events().next(), bridge.BadAnswer);
  answers(DROP);
  await assert.rejects(client.events({ patienceSeconds: 1.5 }).next(), bridge.Unreachable);
});

const ENOUGH = new Error("enough");
const isEnough = (error) => error === ENOUGH;
for (const [what, begin] of [
  ["a wait", (by, signal) => by.waitForDecision("req_a", { timeoutSeconds: Infinity, signal })],
  ["a stream", (by, signal) => by.events({ signal }).next()],
]) {
  test(`${what} is stopped while no answer comes`, { timeout: 10_000 }, async () => {
    answers(HANG);
    const stop = new AbortController();
    const stopped = assert.rejects(begin(client, stop.signal), isEnough);
    const [{ socket }] = await once(server, "request");
    const closed = once(socket, "close");
    stop.abort(ENOUGH);
    await Promise.all([stopped, closed]);
    assert.equal(getEventListeners(stop.signal, "abort").length, 0);
    await assert.rejects(begin(client, stop.signal), isEnough);
    assert.equal(received.length, 1);
  });

  test(`${what} is stopped in a pause`, { timeout: 10_000 }, async () => {
    answers({ ...problem("slow_down", 429), headers: { "Retry-After": "200" } });
    const stop = new AbortController();
    const pause = (milliseconds, signal) => {
      const pausing = sleep(milliseconds, signal);
      stop.abort(ENOUGH);
      return pausing;
    };
    const own = new bridge.Client(`http://127.0.0.1:${server.address().port}`, TOKEN, { pause });
    await assert.rejects(begin(own, stop.signal), isEnough);
  });
}

for (const [when, body] of [["between two events", event(41) + event(42)], ["while none comes", event(41)]]) {
  test(`a stream is stopped ${when}`, { timeout: 10_000 }, async () => {
    answers({ body, open: true });
    const stop = new AbortController();
    const events = client.events({ signal: stop.signal });
    const [{ value }, [{ socket }]] = await Promise.all([events.next(), once(server, "request")]);
    assert.equal(value.id, 41);
    const closed = once(socket, "close");
    stop.abort(ENOUGH);
    await Promise.all([assert.rejects(events.next(), isEnough), closed]);
    assert.equal(getEventListeners(stop.signal, "abort").length, 0);
  });
}

test("pages are followed", async () => {
  answers({ body: { requests: [DENIED], next_cursor: "c" } }, { body: { requests: [PENDING], next_cursor: null } });
  const seen = [];
  for await (const status of client.allRequests({ status: "denied" })) seen.push(status.status);
  assert.deepEqual(seen, ["denied", "pending"]);
  assert.deepEqual(received.map((one) => one.url), [
    "/api/v1/consent-requests?status=denied&limit=100",
    "/api/v1/consent-requests?status=denied&cursor=c&limit=100",
  ]);
});
