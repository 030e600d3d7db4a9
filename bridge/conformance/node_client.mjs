// The adapter of `bridge-js/`: what it does with each case of the suite.

import { createInterface } from "node:readline";
import { answer } from "../../bridge-js/src/formats/derived.js";
import { fromBase64, toBase64, toHex } from "../../bridge-js/src/formats/bytes.js";
import { requestDigest } from "../../bridge-js/src/formats/canonical.js";
import { isConsistent } from "../../bridge-js/src/formats/merkle.js";
import { checkProof, readCheckpoint, readHashes, readProof } from "../../bridge-js/src/formats/notes.js";
import { openSegment } from "../../bridge-js/src/formats/vault.js";
import { unwrap } from "../../bridge-js/src/formats/wrappers.js";
import * as bridge from "../../bridge-js/src/index.js";
import { Memory, trusted } from "../../bridge-js/src/memories.js";

const octets = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));

async function openEnvelope({ envelope, asked: request, key, known_owner_key: known, now }) {
  const nameOf = ({ issuer, user_id }) => `${new URL(issuer).origin} ${user_id}`;
  const pins = new bridge.KeyPins(known && { [nameOf(request)]: { key: known } });
  Date.now = () => now * 1000;
  const { scope, approved_attributes, data, sources, sealed_at, derived } = await bridge.openEnvelope(envelope, request, key, { pins });
  return { scope, approved_attributes, data, sources, sealed_at, derived };
}

function verifyWebhook({ body, headers, secret, now }) {
  const { webhookId, type, timestamp, status, processing, connection } = bridge.verifyWebhook(body, headers, secret, { now: now * 1000 });
  return { webhook_id: webhookId, type, timestamp, data: status ?? processing ?? connection };
}

async function checkpointOf({ note, ...trust }) {
  const { keys, witnesses, quorum } = trusted(trust);
  const found = await readCheckpoint(note, keys, witnesses);
  new Memory({ keys, witnesses, quorum, earlier: [] }).requireWitnesses(found);
  const { origin, size, root, cosignatures } = found;
  return { origin, size, root: toBase64(root), cosigned_by: cosignatures.map(({ witness }) => witness) };
}

async function proofOf({ proof, leaf, ...trust }) {
  const found = await readProof(proof, trusted(trust).keys);
  checkProof(found, fromBase64(leaf));
  const { origin, size, root } = found.checkpoint;
  return { index: found.index, origin, size, root: toBase64(root) };
}

async function proveReceipt({ claims, entry, proof, ...trust }) {
  const { index, log, entry: found } = await bridge.verifyReceiptProof(claims, { entry, proof }, trust);
  return { index, origin: log.origin, size: log.size, root: log.root, entry_hash: found.entry_hash };
}

const vaultOf = ({ expected, vault_key }) => ({ keyId: expected.kid, userId: expected.sub, key: octets(vault_key) });

const OPERATIONS = {
  open_export: ({ jwe, key, expected }) => bridge.openExport(jwe, key, expected),
  open_envelope: openEnvelope,
  request_digest: ({ request }) => requestDigest(request),
  check_connector_key: ({ key }) => bridge.checkConnectorKey(key),
  public_half: ({ key }) => bridge.publicHalf(key),
  thumbprint: ({ key }) => bridge.thumbprint(key),
  verify_receipt: ({ jws, jwks, expected }) => bridge.verifyReceipt(jws, jwks, expected),
  verify_webhook: verifyWebhook,
  read_checkpoint: checkpointOf,
  check_proof: proofOf,
  check_consistency: ({ old, new: now, hashes }) => isConsistent(old.size, fromBase64(old.root), now.size, fromBase64(now.root), readHashes(hashes)),
  prove_receipt: proveReceipt,
  derive: ({ rule, value, at }) => answer(rule, value, at),
  open_segment: (given) => openSegment(given.jwe, vaultOf(given), given.expected),
  unwrap: async ({ kind, jwe, secret, user_id, key_id }) =>
    toHex(await unwrap(kind, jwe, kind === "passkey" ? octets(secret) : secret, { userId: user_id, keyId: key_id })),
};

/** What the suite reads for one call. */
async function reply({ operation, input }) {
  if (!Object.hasOwn(OPERATIONS, operation)) return { unsupported: true };
  try {
    return { answer: await OPERATIONS[operation](input) };
  } catch (error) {
    if (!(error instanceof bridge.BridgeError)) throw error;
    const kind = error.constructor.name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
    return { refused: kind, member: error.member ?? null };
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await reply(JSON.parse(line))));
