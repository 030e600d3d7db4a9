// What readers that are not the server's say of its log: sigstore's own verifier, and our own modules for Node and the browser.
// Standard input is {"key", "spki", "note", "proofs": [{"entry", "text"}], "consistency": [{"old", "new", "proof"}]}.

import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isConsistent } from "../../../bridge-js/src/formats/merkle.js";
import { proves, readCheckpoint, readHashes, readKeys, readProof } from "../../../bridge-js/src/formats/notes.js";

const require = createRequire(new URL("../../node/package.json", import.meta.url));
const { verifyCheckpoint } = require("@sigstore/verify/dist/tlog/checkpoint");
const { verifyMerkleInclusion } = require("@sigstore/verify/dist/tlog/merkle");

const given = JSON.parse(readFileSync(0, "utf-8"));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));

/** Whether sigstore takes this entry for the leaf of this proof. */
function sigstoreTakes(entry, { index, hashes, checkpoint }) {
  const [name, id] = given.key.split("+");
  const publicKey = createPublicKey({ key: Buffer.from(given.spki, "base64"), format: "der", type: "spki" });
  const tlogs = [{ logID: Buffer.from(id, "hex"), baseURL: `https://${name}`, publicKey }];
  const inclusionProof = { logIndex: String(index), hashes: hashes.map((hash) => Buffer.from(hash)), checkpoint: { envelope: checkpoint.note } };
  try {
    const seen = verifyCheckpoint({ inclusionProof }, tlogs);
    verifyMerkleInclusion({ inclusionProof, canonicalizedBody: Buffer.from(entry) }, seen);
    return true;
  } catch (error) {
    if (error.name !== "VerificationError" && error.code !== "TLOG_INCLUSION_PROOF_ERROR") throw error;
    return false;
  }
}

const keys = readKeys(`${given.key}\n`);
const answers = { browser: [], sigstore: [], other: [], consistent: [], inconsistent: [] };
for (const { entry, text } of given.proofs) {
  const proof = await readProof(text, keys);
  answers.browser.push(proves(proof, bytes(entry)));
  answers.sigstore.push(sigstoreTakes(bytes(entry), proof));
  answers.other.push((proves(proof, new Uint8Array(32))) || sigstoreTakes(new Uint8Array(32), proof));
}
for (const { old, new: size, proof } of given.consistency) {
  const [before, after] = await Promise.all([old, size].map((note) => readCheckpoint(note, keys)));
  const hashes = readHashes(proof.split("\n").filter(Boolean));
  answers.consistent.push(isConsistent(before.size, before.root, after.size, after.root, hashes));
  answers.inconsistent.push(isConsistent(before.size, new Uint8Array(32), after.size, after.root, hashes));
}
process.stdout.write(JSON.stringify(answers));
