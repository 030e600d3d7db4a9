// @ts-check
// Made by `./run types` from the OpenAPI document; not to be edited.

/** What the digest covers where the app gave it: the contract gained these after its first version. */
export const LATER_MEMBERS = /** @type {string[]} */ (["invitation_sha256", "required_because", "return_url", "accepts"]);
