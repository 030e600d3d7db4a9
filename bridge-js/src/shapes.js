// @ts-check
// The service's answers, member by member: what is not the contract's is a BadAnswer. Members that came later are kept.

import { BadAnswer } from "./errors.js";
import { isObject } from "./formats/json.js";
import { SCHEMAS } from "./schemas.js";

/**
 * As much of JSON Schema as the contract's answers need.
 * @typedef {{type?: string, properties?: Record<string, Shape>, required?: string[], items?: Shape, anyOf?: Shape[],
 *   $ref?: string}} Shape
 */

/** @type {Shape} */
const TEXT = { type: "string" };

/** @param {Record<string, Shape>} properties @returns {Shape} */
const record = (properties) => ({ type: "object", required: Object.keys(properties), properties });

/** @param {keyof typeof SCHEMAS} name @returns {Shape} */
const named = (name) => SCHEMAS[name];

export const STATUS = named("Status");
export const PROCESSING = named("Processing");
export const MADE_CONNECTION = named("MadeConnection");
export const CONNECTION = named("Connection");
export const CONNECTION_EVENT = named("ConnectionNotice");
export const CONNECTION_ANSWER = named("ConnectionAnswer");
export const DISCOVERY = named("Discovery");
export const MADE_REQUEST = named("MadeRequest");
export const ENVELOPE = named("Envelope");
export const PAGE = named("RequestPage");
export const FOUND = named("PeoplePage");
export const CATALOG = record({ scope_entries: { type: "array", items: named("ScopeEntry") } });
export const SIGNED = record({ jws: TEXT });
export const PERSON = named("SandboxEntry");
export const REVISIONS = named("Revisions");
export const PEOPLE = record({ people: { type: "array", items: PERSON } });
export const SEGMENTS = record({ segments: { type: "array", items: named("SealedSegment") } });
export const DATA = record({
  request: { type: "object" },
  request_digest: TEXT,
  connector_public_key: { type: "object" },
  connector_key_id: TEXT,
  issuer: TEXT,
  export_revision: { type: "integer" },
});
export const KEYS = record({ keys: { type: "array", items: { type: "object" } } });
export const NOTICE = record({ type: TEXT, timestamp: TEXT, data: STATUS });
export const CONNECTION_NOTICE = record({ type: TEXT, timestamp: TEXT, data: CONNECTION_EVENT });
export const PROCESSING_NOTICE = record({ type: TEXT, timestamp: TEXT, data: PROCESSING });

/** What a value has to be, by the word for it. @type {Record<string, [string, (value: any) => boolean]>} */
const KINDS = {
  string: ["text", (value) => typeof value === "string"],
  integer: ["a whole number", Number.isSafeInteger],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  array: ["a list", Array.isArray],
  object: ["an object", isObject],
};

/** @param {Shape} shape @param {any} value @param {string} where */
function hold(shape, value, where) {
  if (shape.$ref) {
    const name = /** @type {keyof typeof SCHEMAS} */ (shape.$ref.slice("#/components/schemas/".length));
    hold(named(name), value, where);
    return;
  }
  if (shape.anyOf) {
    const choice = shape.anyOf.find(({ type }) => type !== "null") ?? {};
    if (value !== null) hold(choice, value, where);
    return;
  }
  const known = KINDS[shape.type ?? ""];
  if (!known) throw new TypeError(`${where}: the contract has no kind ${shape.type}`);
  if (!known[1](value)) throw new BadAnswer(`${where} is not ${known[0]}`);
  if (shape.items) for (const item of value) hold(shape.items, item, where);
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(value, name)) throw new BadAnswer(`${where} has no ${name}`);
    const own = shape.properties?.[name];
    if (own) hold(own, value[name], `${where}'s ${name}`);
  }
}

/** The same body, if it has this shape. @param {Shape} shape @param {any} body @param {string} [where] @returns {any} */
export function shaped(shape, body, where = "the answer") {
  hold(shape, body, where);
  return body;
}

/** The optional members of a request by the names that they have here. @type {Record<string, string>} */
export const TERMS = Object.fromEntries(
  Object.keys(SCHEMAS.Terms.properties).map((name) => [name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), name]),
);
