// Compiled, never run: what a program in TypeScript writes, and what the compiler must not let it write.

import { Client, generateConnectorKey, Problem, Refused, verifyReceipt, verifyWebhook } from "../../../bridge-js/src/index.js";
import type { MadeRequest, ConsentEvent, Slice, Status } from "../../../bridge-js/src/index.js";

export async function shop(userId: string): Promise<Slice | null> {
  const key = await generateConnectorKey("P-256");
  const client = new Client("https://consent.example/api/v1", "token", { attempts: 5 });
  const { scope_entries } = await client.discover(userId);
  const [entry] = scope_entries;
  if (!entry) return null;
  const madeRequest: MadeRequest = await client.requestConsent({
    userId,
    scope: entry.scope,
    purpose: "Suggest restaurants",
    key,
    refreshPolicy: "continuous",
  });
  const status: Status = await client.waitForDecision(madeRequest.request_id, { timeoutSeconds: 60 });
  if (status.grant === null) return null;
  const cuisine: unknown = (await client.read(madeRequest, key)).data["lifestyle"]?.["food"]?.["favorite_cuisine"];
  return typeof cuisine === "string" ? await client.readNewer(madeRequest, key, await client.read(madeRequest, key)) : null;
}

export async function follow(client: Client): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of client.events({ lastEventId: 7 })) seen.push((event satisfies ConsentEvent).id);
  return seen;
}

export async function refuse(client: Client): Promise<string> {
  try {
    await client.end("req_a");
  } catch (error) {
    if (error instanceof Problem) return `${error.code} ${error.retryAfter ?? 0}`;
    if (error instanceof Refused) return error.member ?? "";
  }
  // @ts-expect-error: a duration is a number
  await client.waitForDecision("req_a", { timeoutSeconds: "60" });
  // @ts-expect-error: an unknown term
  await client.requestConsent({ userId: "", scope: "", purpose: "", key: await generateConnectorKey(), color: "red" });
  // @ts-expect-error: a grant may be null
  return (await client.status("req_a")).grant.status;
}

export const event = verifyWebhook("{}", { "webhook-id": "a" }, "whsec_").status?.sequence satisfies number | null | undefined;
export const claims = verifyReceipt("", { keys: [] });
