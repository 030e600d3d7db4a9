// A host on the official TypeScript client. Arguments: the client's folder, the address, the negotiation mode.
// Each line on stdin is {"tool", "arguments"}; each line on stdout is what came of it.
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, address, mode] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(join(folder, "dist/index.mjs")));

const opened = [];
const client = new Client(
  { name: "tests", version: "1" },
  {
    capabilities: { elicitation: { url: {} } },
    versionNegotiation: { mode: mode === "legacy" ? "legacy" : { pin: mode } },
  },
);
client.setRequestHandler("elicitation/create", async (request) => {
  opened.push(request.params.url);
  return { action: "accept" };
});
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

await client.connect(new StreamableHTTPClientTransport(new URL(address)));
const { tools } = await client.listTools();
say({ revision: client.getNegotiatedProtocolVersion(), tools: tools.map((tool) => tool.name) });
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: given } = JSON.parse(line);
  const result = await client.callTool({ name: tool, arguments: given });
  say({ isError: result.isError ?? false, answer: result.structuredContent, opened });
}
await client.close();
