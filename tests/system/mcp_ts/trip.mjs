// One whole consent trip by an official client: `node trip.mjs <client> <transport>`, the client being `newest` or
// `legacy` (of the SDK's second version) or `first` (its first version), the transport `http` or `stdio`. Prints what
// came of it. The person decides when asked to at PERSON.

import assert from "node:assert/strict";

const [which, transport] = process.argv.slice(2);
const { SERVICE, TOKEN, USER_ID, PERSON, PYTHON, KEY } = process.env;
const SCOPE = "attr.lifestyle.food.*";
const PURPOSE = "Suggest restaurants that you would like";
const NAME = { name: "consent-runtime-tests", version: "1.0.0" };
const opened = [];

async function connected() {
  if (which === "first") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return connect(new Client(NAME), StdioClientTransport, StreamableHTTPClientTransport);
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = which === "newest" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client(NAME, { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", async (request) => {
    opened.push(request.params.url);
    return { action: "accept" };
  });
  return connect(client, StdioClientTransport, StreamableHTTPClientTransport);
}

async function connect(client, Stdio, Http) {
  const made =
    transport === "stdio"
      ? new Stdio({ command: PYTHON, args: ["-m", "consent_bridge", "serve"], env: { ...process.env }, stderr: "inherit" })
      : new Http(new URL(`${SERVICE}/mcp?token=${TOKEN}`));
  await client.connect(made);
  return [client, made];
}

async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

async function refused(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.isError, JSON.stringify(result));
  return result.structuredContent.code;
}

/** The bridge fills in the connector's fields; over HTTP the app does. */
function connector() {
  if (transport === "stdio") return {};
  const { d, ...open } = JSON.parse(KEY);
  return { connector_public_key: open, connector_key_id: "tests", connector_wrapping_alg: "ECDH-ES+A256KW" };
}

const [client, made] = await connected();
const { tools } = await client.listTools();
const found = await call(client, "discover_user_scopes", { user_id: USER_ID });
assert.ok(found.scopes.includes(SCOPE));
const madeRequest = await call(client, "request_consent", { user_id: USER_ID, scope: SCOPE, purpose: PURPOSE, ...connector() });
const request = { request_id: madeRequest.request_id };
const early = await refused(client, "get_encrypted_export", request);
const waiting = call(client, "check_consent_status", { ...request, wait_seconds: 30 });
const body = JSON.stringify({ ...request, attributes: ["lifestyle.food.favorite_cuisine"] });
assert.equal((await fetch(`${PERSON}/approve`, { method: "POST", body })).status, 200);
const status = await waiting;
const sealed = await call(client, "get_encrypted_export", request);
const read = transport === "stdio" ? await call(client, "read_approved_data", request) : null;
await call(client, "end_consent", request);
const late = await refused(client, "get_encrypted_export", request);
await assert.rejects(client.callTool({ name: "approve", arguments: request }), /There is no such tool/);
const revision = client.getNegotiatedProtocolVersion?.() ?? made.protocolVersion ?? null;
await client.close();

console.log(
  JSON.stringify({
    revision,
    tools: tools.map((tool) => tool.name),
    status: status.status,
    early,
    late,
    madeRequest,
    jwe: sealed.jwe,
    data: read?.data ?? null,
    opened,
  }),
);
