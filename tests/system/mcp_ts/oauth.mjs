// An official client lets itself in, with nothing pasted: `node oauth.mjs <client>`, `newest` of the SDK's second version
// or `first` of its first. DOCUMENT is the address of its metadata, where it has one; else it registers itself. The
// person is sent to the page by BROWSER, which answers where the page sent them back to.

import assert from "node:assert/strict";

const { SERVICE, BROWSER, DOCUMENT } = process.env;
const REDIRECT = "http://127.0.0.1:33418/callback";
const first = process.argv[2] === "first";
const kept = {};

const { Client, StreamableHTTPClientTransport, UnauthorizedError } = first
  ? {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
    }
  : await import("@modelcontextprotocol/client");

const provider = {
  redirectUrl: REDIRECT,
  clientMetadataUrl: DOCUMENT || undefined,
  clientMetadata: {
    client_name: "A host of the SDK",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "as it was",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async (url) => {
    kept.brought = new URL(await (await fetch(BROWSER, { method: "POST", body: url.href })).text()).searchParams;
  },
};

async function connected() {
  const made = new StreamableHTTPClientTransport(new URL(`${SERVICE}/mcp`), { authProvider: provider });
  const client = new Client({ name: "consent-runtime-tests", version: "1.0.0" });
  try {
    await client.connect(made);
    return client;
  } catch (refused) {
    assert.ok(refused instanceof UnauthorizedError, String(refused));
    assert.equal(kept.brought.get("state"), "as it was");
    await made.finishAuth(first ? kept.brought.get("code") : kept.brought);
    return null;
  }
}

async function discovers(client) {
  const { tools } = await client.listTools();
  const { structuredContent } = await client.callTool({ name: "discover_user_scopes", arguments: { compact: true } });
  await client.close();
  const schema = tools.find((tool) => tool.name === "discover_user_scopes").inputSchema;
  return { scopes: structuredContent.scope_entries.length, names: Object.keys(schema.properties) };
}

assert.equal(await connected(), null);
const found = await discovers(await connected());
const before = kept.tokens;
kept.tokens = { ...before, access_token: "cr_oauth_gone" };
await discovers(await connected()); // it refreshes by itself
assert.notEqual(kept.tokens.access_token, before.access_token);
console.log(JSON.stringify({ ...found, scope: before.scope, client_id: kept.client?.client_id ?? null }));
