// @ts-check
// Shapes that the vault's modules pass to each other; nothing here runs.

/** @typedef {Record<string, unknown>} Json */
/** @typedef {"passphrase" | "recovery" | "passkey"} WrapperKind */

/**
 * A vault key that can open and seal but never be read. `hasNotes`: the way in says that the vault was made with notes.
 * @typedef {{userId: string, keyId: string, key: CryptoKey, hasNotes?: boolean}} VaultKey
 */

/** @typedef {{kty: string, crv: string, x: string}} PublicKey an Ed25519 key, exactly these members */
/** @typedef {{approval: string, approval_key: PublicKey, approval_key_certificate: string}} Signed */

/**
 * What the server keeps of one way to unlock.
 * @typedef {{wrapper_id: string, kind: WrapperKind, label: string, credential_id: string | null, jwe: string,
 *   created_at: string, last_used_at: string | null}} StoredWrapper
 */

/**
 * What is posted to add one.
 * @typedef {{kind: WrapperKind, label: string, jwe: string, credential_id?: string}} NewWrapper
 */

/**
 * @typedef {{user_id: string, key_id: string, vault_status: string, primary_wrapper_id: string, wrappers:
 *   StoredWrapper[], signing_public_key: PublicKey | null, signing_jwe: string | null, rotation: {key_id: string, done: number, total: number} | null}} Keys
 */

/**
 * A change of the vault's key that is under way: the key to come, its ways in, and what is sealed under it.
 * @typedef {{key_id: string, started_at: string, done: number, total: number, wrappers: StoredWrapper[],
 *   segments: {domain: string, segment_id: string, content_revision: number, resealed: boolean}[]}} Rotation
 */

/** @typedef {{jwe: string, base_revision: number}} NewNotes the next revision of the vault's notes, as a body has it */

/** @typedef {{domain: string, segment_id: string, content_revision: number}} Source */

/**
 * @typedef {Source & {manifest_revision: number, attributes: string[], jwe: string, size_bytes: number,
 *   updated_at: string}} StoredSegment
 */

/**
 * @typedef {{domain: string, segment_id: string, content_revision: number, manifest_revision: number,
 *   updated_at: string, values: Json}} OpenedSegment
 */

/**
 * The members of the digest, exactly these.
 * @typedef {{request_id: string, app_id: string, app_name: string, user_id: string, scope: string, attributes:
 *   string[],
 *   purpose: string, connector_thumbprint: string, access_duration: number, expires_at: string,
 *   required_attributes: string[] | null, optional_attributes: string[] | null, max_reads: number | null,
 *   refresh_policy: string, binding_message: string | null, invitation_sha256?: string,
 *   required_because?: string, return_url?: string,
 *   accepts?: Record<string, string[]>, derived?: import("../formats/derived.js").Derived}} FrozenRequest
 */

/**
 * @typedef {{request: FrozenRequest, request_digest: string, status: string, connector_public_key: JsonWebKey,
 *   connector_key_id: string, app: Json & {app_id: string, name: string}, scope_entry: Json, issuer: string,
 *   export_revision: number, vouching: Vouching}} RequestData
 */

/**
 * Who vouches for the connector key; `domain` is the app's proved one, `entry` that of its chain which says that it was registered.
 * @typedef {{by: "published" | "registered" | "sandbox" | "nobody", domain: string | null, since: string | null, entry?: unknown}} Vouching
 */

/**
 * @typedef {{scope: string, approved_attributes: string[], data: Json, sources: Source[], sealed_at: string,
 *   derived?: import("../formats/derived.js").Derived}}
 *   ExportPlaintext
 */

/** @typedef {{written: number, aside: number}} OldCounts what a browser counts as it goes; `kept` and `moved` go with a row */
/** @typedef {{domain: string, segments: Record<string, number>}} OldCheckpoint */
/** @typedef {{domain: string, jwe: string, updated_at: string}} OldBlob */

/**
 * What the browser tells while it moves old data; `last_error` is a code.
 * @typedef {{status: "waiting_for_unlock" | "running" | "failed", at: OldCheckpoint | null, counts: OldCounts,
 *   last_error: string}} OldProgress
 */

/**
 * @typedef {{status: string, moved: string[], at: OldCheckpoint | null, counts: Partial<OldCounts & {kept: number, moved: number}>,
 *   last_error: string}} OldState
 */

/** @typedef {OldState & {blobs: OldBlob[]}} OldData */

export {};
