// Reads an export with a client made by openapi-typescript; what it reads is typed.
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./api.js";

type EventOf<Name extends keyof webhooks> = webhooks[Name] extends {
  post: { requestBody: { content: { "application/json": infer Event } } };
}
  ? Event
  : never;

const { SERVICE, TOKEN, REQUEST_ID } = process.env as Record<string, string>;
const client = createClient<paths>({ baseUrl: SERVICE, headers: { Authorization: `Bearer ${TOKEN}` } });

const read = await client.GET("/api/v1/consent-export", { params: { query: { request_id: REQUEST_ID } } });
if (!read.data) throw new Error(read.error.code);
const jwe: string = read.data.jwe;
const paths_: string[] = read.data.approved_attributes;

const refused = await client.GET("/api/v1/consent-export", { params: { query: { request_id: "req_nothing" } } });
const code: string | undefined = refused.error?.code;

/** Each event has a type of its own. */
function ends(event: EventOf<"consent.approved"> | EventOf<"consent.revoked">): boolean {
  switch (event.type) {
    case "consent.approved":
      return false;
    case "consent.revoked":
      return event.data.grant?.status === "revoked";
  }
}
const streamed: components["schemas"]["ConsentEvent"]["event"] = "consent";

console.log(JSON.stringify({ jwe, paths: paths_, code, ends: ends.name, streamed }));
