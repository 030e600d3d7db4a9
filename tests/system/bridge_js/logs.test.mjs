// What the client takes of a log: only what is signed, cosigned, in the tree, and consistent with what it saw before.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { readChain, readEntry } from "../../../bridge-js/src/formats/entries.js";
import { LogEpochChanged, NothingPublished, Refused, verifyReceiptProof } from "../../../bridge-js/src/index.js";
import { newestInLog, withFollowingWitnesses } from "../../../bridge-js/src/formats/trust.js";
import { LogKeyChanged, Memories, Memory, trusted } from "../../../bridge-js/src/memories.js";
import { includes, isConsistent } from "../../../bridge-js/src/formats/merkle.js";
import { missing, readCheckpoint, readHashes, readKey, readKeys } from "../../../bridge-js/src/formats/notes.js";
import { canonical } from "../../../bridge-js/src/formats/canonical.js";

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const node = (left, right) => sha256(Uint8Array.of(1), left, right);
const splitOf = (count) => 2 ** Math.floor(Math.log2(count - 1));

/** The tree by the definition of the RFC, 2.1.1 to 2.1.4. */
function mth(leaves) {
  if (leaves.length < 2) return leaves.length ? sha256(Uint8Array.of(0), leaves[0]) : sha256("");
  const at = splitOf(leaves.length);
  return node(mth(leaves.slice(0, at)), mth(leaves.slice(at)));
}
function path(index, leaves) {
  if (leaves.length === 1) return [];
  const at = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)];
  return index < at ? [...path(index, left), mth(right)] : [...path(index - at, right), mth(left)];
}
function between(old, leaves, whole = true) {
  if (old === leaves.length) return whole ? [] : [mth(leaves)];
  const at = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)];
  return old <= at ? [...between(old, left, whole), mth(right)] : [...between(old - at, right, false), mth(left)];
}

/** Who signs notes: a log, or a witness with `kind` 4. */
class Signer {
  constructor(name = "log.example/log", kind = 1) {
    this.pair = generateKeyPairSync("ed25519");
    const raw = Buffer.from(this.pair.publicKey.export({ format: "jwk" }).x, "base64url");
    const material = Buffer.from([kind, ...raw]);
    this.name = name;
    this.id = sha256(`${name}\n`, material).subarray(0, 4);
    this.text = `${name}+${this.id.toString("hex")}+${material.toString("base64")}`;
    this.key = readKey(this.text);
  }
  line(text, stamp = Buffer.alloc(0)) {
    const raw = Buffer.concat([this.id, stamp, sign(null, Buffer.from(text), this.pair.privateKey)]);
    return `\u2014 ${this.name} ${raw.toString("base64")}\n`;
  }
  cosign(text, at) {
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(at));
    return this.line(`cosignature/v1\ntime ${at}\n${text}`, stamp);
  }
}

const LOG = new Signer();
const LEAVES = Array.from({ length: 40 }, (_, index) => sha256(`leaf ${index}`));
const textOf = (size, leaves = LEAVES, origin = LOG.name) => `${origin}\n${size}\n${mth(leaves.slice(0, size)).toString("base64")}\n`;
const noteOf = (size, signers = [LOG], leaves = LEAVES) => `${textOf(size, leaves)}\n${signers.map((signer) => signer.line(textOf(size, leaves))).join("")}`;
const proofOf = (index, size, note = noteOf(size)) =>
  ["c2sp.org/tlog-proof@v1", `index ${index}`, ...path(index, LEAVES.slice(0, size)).map((hash) => hash.toString("base64")), "", note].join("\n");
const seen = (size, signers, leaves) => readCheckpoint(noteOf(size, signers, leaves), [LOG.key]);
const refused = (work, member) => assert.rejects(async () => work(), (error) => error instanceof Refused && (member === undefined || error.member === member));
const memoryOf = async (size, more = {}) => new Memory({ ...trusted({ keys: [LOG.text] }), ...more }, size ? await seen(size) : null);

test("every leaf of every size has its proof, and no other", () => {
  for (let size = 1; size <= 20; size += 1) {
    const root = mth(LEAVES.slice(0, size));
    for (let index = 0; index < size; index += 1) {
      const proof = path(index, LEAVES.slice(0, size));
      assert.ok(includes(LEAVES[index], index, size, proof, root));
      assert.ok(!includes(LEAVES[index + 1], index, size, proof, root));
      assert.ok(!includes(LEAVES[index], index, size, [...proof, root], root));
      if (proof.length) assert.ok(!includes(LEAVES[index], index, size, proof.slice(1), root));
    }
    assert.ok(!includes(LEAVES[0], size, size, [], root));
  }
});

test("every two sizes are consistent, and no other trees", () => {
  for (let size = 1; size <= 20; size += 1) {
    const root = mth(LEAVES.slice(0, size));
    for (let old = 1; old <= size; old += 1) {
      const [before, proof] = [mth(LEAVES.slice(0, old)), between(old, LEAVES.slice(0, size))];
      assert.ok(isConsistent(old, before, size, root, proof));
      assert.ok(!isConsistent(old, sha256("another"), size, root, proof));
      assert.ok(!isConsistent(old, before, size, sha256("another"), proof));
      assert.ok(!isConsistent(old, before, size, root, [...proof, root]));
    }
    assert.ok(!isConsistent(0, mth([]), size, root, []));
    assert.ok(!isConsistent(size + 1, root, size, root, []));
  }
});

test("a checkpoint says who, how many and which root", async () => {
  const read = await seen(7);
  assert.deepEqual([read.origin, read.size, Buffer.from(read.root)], [LOG.name, 7, mth(LEAVES.slice(0, 7))]);
  assert.deepEqual(readKeys(`${LOG.text}\n`).map(({ text }) => text), [LOG.text]);
});

test("a note that is too long is refused", () => refused(() => readCheckpoint(noteOf(3).padEnd(1024 * 1024 + 1, "x"), [LOG.key])));

test("a proof has no more hashes than a tree is deep", () =>
  refused(async () => readHashes(Array.from({ length: 65 }, () => sha256("").toString("base64")))));

test("witnesses cosign at a time, and as many as must", async () => {
  const [one, other] = [new Signer("witness.example/1", 4), new Signer("witness.example/2", 4)];
  const now = Math.floor(Date.now() / 1000);
  const note = noteOf(5) + one.cosign(textOf(5), now);
  const read = await readCheckpoint(note, [LOG.key], [one.key, other.key]);
  assert.deepEqual(read.cosignatures, [{ witness: one.name, at: now }]);
  assert.deepEqual(missing(read, [one.key, other.key], null), [other.name]);
  assert.deepEqual(missing(read, [one.key, other.key], 1), []);
  const late = noteOf(5) + one.cosign(textOf(5), now - 90000);
  const fresh = async (text) => new Memory({ ...trusted({ keys: [LOG.text], witnesses: [one.text] }) }, await readCheckpoint(text, [LOG.key], [one.key])).isFresh();
  assert.deepEqual([await fresh(note), await fresh(late), (await memoryOf(5)).isFresh()], [true, false, null]);
  await refused(() => readCheckpoint(noteOf(5) + one.cosign(textOf(6), now), [LOG.key], [one.key]), "signature");
  await refused(async () => (await memoryOf(0, { witnesses: [other.key] })).requireWitnesses(await readCheckpoint(note, [LOG.key], [other.key])), "cosignatures");
});

test("what is shown has to begin with what was seen", async () => {
  const memory = await memoryOf(6);
  assert.equal(memory.gap(await seen(6)), null);
  assert.deepEqual(memory.gap(await seen(11)), [6, 11]);
  assert.equal(memory.tie(await seen(11), between(6, LEAVES.slice(0, 11))).checkpoint?.size, 11);
  assert.equal(memory.tie(await seen(3), between(3, LEAVES.slice(0, 6))).checkpoint?.size, 6); // an older proof takes nothing back
  const fork = [sha256("another"), ...LEAVES.slice(1)];
  await refused(async () => memory.tie(await seen(11, [LOG], fork), between(6, fork.slice(0, 11))), "root");
  await refused(async () => memory.tie(await seen(6, [LOG], fork), []), "root");
  await refused(async () => memory.tie({ ...(await seen(11)), origin: "other.example/log" }, []), "origin");
  await refused(async () => memory.requireNoRollback(await seen(5)), "size");
  memory.requireNoRollback(await seen(6));
});

test("a new key is learned from the known one's word", async () => {
  const next = new Signer();
  const both = (await memoryOf(6)).tie(await readCheckpoint(noteOf(9, [next, LOG]), [LOG.key]), between(6, LEAVES.slice(0, 9)));
  assert.ok(await both.asksForKeys());
  const learned = await both.withKeys([next.key, LOG.key]);
  assert.deepEqual(learned.trust.keys.map(({ text }) => text), [next.text, LOG.text]);
  const after = learned.tie(await learned.read(noteOf(12, [next])), between(9, LEAVES.slice(0, 12)));
  assert.ok(await after.asksForKeys());
  const alone = await after.withKeys([next.key]);
  assert.deepEqual([alone.trust.keys, alone.trust.earlier].map((keys) => keys.map(({ text }) => text)), [[next.text], [LOG.text]]);
  assert.ok(!(await alone.asksForKeys()));
  assert.equal((await alone.readProof(proofOf(2, 6))).checkpoint.size, 6); // of the old key's time
  await refused(async () => alone.readProof(proofOf(2, 20)), "signature");
  assert.deepEqual((await Memory.of(alone.dump())).dump(), alone.dump());
  await assert.rejects(async () => alone.read(noteOf(20)), LogKeyChanged);
  await assert.rejects(async () => (await memoryOf(6)).read(noteOf(9, [next])), LogKeyChanged);
});

test("a memory that cannot be written leaves nothing behind", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "memory-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "logs.json");
  new Memories(path, null).keep("https://one.example", { dump: () => ({}) });
  assert.deepEqual(readdirSync(folder), ["logs.json"]);
  const taken = join(folder, "taken");
  const inTheWay = { dump: () => (mkdirSync(taken), {}) }; // after the file was looked for
  assert.throws(() => new Memories(taken, null).keep("https://one.example", inTheWay), { code: "EISDIR" });
  assert.deepEqual(readdirSync(folder).sort(), ["logs.json", "taken"]);
});

test("a log without a checkpoint is new, or was taken away", async () => {
  assert.ok((await memoryOf(0)).ofNoCheckpoint() instanceof NothingPublished);
  const taken = (await memoryOf(6)).ofNoCheckpoint();
  assert.deepEqual([taken instanceof Refused, taken.member], [true, "size"]);
});

test("a log that began anew is taken by its reader's word alone", async () => {
  const anew = new Signer("log.example/log/one");
  anew.pair = LOG.pair;
  const same = new Signer("log.example/log/one");
  const note = (signer, size, leaves = LEAVES) => `${textOf(size, leaves, signer.name)}\n${signer.line(textOf(size, leaves, signer.name))}`;
  const raw = Buffer.from(LOG.key.publicKey);
  anew.id = sha256(`${anew.name}\n`, Buffer.from([1, ...raw])).subarray(0, 4);
  await assert.rejects(async () => (await memoryOf(6)).read(note(anew, 4)), (error) => {
    assert.ok(error instanceof LogEpochChanged);
    assert.deepEqual([error.last, error.newest], [{ origin: LOG.name, size: 6 }, { origin: anew.name, size: 4 }]);
    return true;
  });
  await assert.rejects(async () => (await memoryOf(6)).read(note(same, 4)), LogKeyChanged); // no key that was known
  assert.equal(await (await memoryOf(6)).begunAnew(note(same, 4)), null);
  assert.equal(await (await memoryOf(6)).begunAnew(noteOf(7)), null); // the same log
  const accepted = (await memoryOf(6)).accepting(await (await memoryOf(6)).begunAnew(note(anew, 4)));
  assert.equal(accepted.tie(await accepted.read(note(anew, 9)), between(4, LEAVES.slice(0, 9))).checkpoint?.size, 9);
  assert.deepEqual(accepted.ended, [noteOf(6)]);
  assert.deepEqual((await Memory.of(accepted.dump())).dump(), accepted.dump());
});

test("the newest entry in a log is found with few questions", async () => {
  for (let count = 0; count < 40; count += 1) {
    for (let there = 0; there <= count; there += 1) {
      let calls = 0;
      const found = await newestInLog(count, async (number) => ((calls += 1), number <= there));
      assert.equal(found, there);
      assert.ok(calls <= 13);
    }
  }
});

test("a proof of an unknown key says which key it takes", async () => {
  const other = new Signer();
  await assert.rejects(async () => (await memoryOf(6)).readProof(proofOf(2, 6, noteOf(6, [other]))), (error) => {
    assert.match(error.message, new RegExp(`signed by the key ${other.id.toString("hex")} of`));
    assert.match(error.message, new RegExp(`known are ${LOG.id.toString("hex")}`));
    return error.member === "signature";
  });
});

test("a proof of a key that was never known counts where it is tied", async () => {
  const next = new Signer();
  const memory = new Memory(trusted({ keys: [next.text] }), await readCheckpoint(noteOf(12, [next]), [next.key]));
  await refused(async () => memory.readProof(proofOf(2, 6)), "signature");
  const { checkpoint } = await memory.readProof(proofOf(2, 6), { tied: true });
  assert.equal(memory.tie(checkpoint, between(6, LEAVES.slice(0, 12))).checkpoint?.size, 12);
  const fork = [sha256("another"), ...LEAVES.slice(1)];
  const { checkpoint: forged } = await memory.readProof(proofOf(2, 6, noteOf(6, [new Signer()], fork)), { tied: true });
  await refused(async () => memory.tie(forged, between(6, LEAVES.slice(0, 12))), "root");
  await refused(async () => memory.readProof(proofOf(2, 20), { tied: true }), "signature");
});

test("a key that nobody vouches for is not learned", async () => {
  const [next, elsewhere] = [new Signer(), new Signer("elsewhere.example/log")];
  assert.ok(!(await (await memoryOf(6)).asksForKeys()));
  assert.deepEqual((await (await memoryOf(6)).withKeys([next.key])).trust.keys, (await memoryOf(6)).trust.keys); // named, and did not sign
  const greased = (await memoryOf(6)).tie(await readCheckpoint(noteOf(9, [LOG, elsewhere]), [LOG.key]), between(6, LEAVES.slice(0, 9)));
  assert.ok(!(await greased.asksForKeys()));
  assert.deepEqual((await greased.withKeys([elsewhere.key])).trust.keys.map(({ text }) => text), [LOG.text]);
  const named = new Memory((await memoryOf(6)).trust, await readCheckpoint(noteOf(6, [next, LOG]), [LOG.key]), true);
  assert.ok(!(await named.asksForKeys()));
  const [line] = next.line("another text").split("\n");
  const forged = new Memory((await memoryOf(6)).trust, await readCheckpoint(`${noteOf(6)}${line}\n`, [LOG.key]));
  await refused(async () => forged.withKeys([next.key, LOG.key]), "signature");
});

const b64 = (value) => Buffer.from(value).toString("base64url");

/** An entry with facts, and the receipt that it holds. */
function event(claims = { receipt_id: "rct_a", purpose: "Vorschläge", event: { type: "approved" } }) {
  const salt = b64(sha256("salt"));
  const facts = { receipt_id: claims.receipt_id, receipt_digest: b64(sha256(canonical(claims))) };
  const facts_hash = b64(sha256(sha256("salt"), canonical(facts)));
  const links = { chain: "chn_a", sequence: 1, prev_hash: "", kind: "approved", actor: "person", at: "2026-11-20T10:00:00Z" };
  const entry_hash = b64(sha256(canonical({ v: 2, ...links, facts_hash })));
  const audit = { chain: "chn_a", sequence: 1, entry_hash };
  return { claims: { ...claims, audit }, entry: { v: 2, ...links, entry_hash, facts_hash, facts, salt } };
}

test("a receipt is proved by its entry without a network", async () => {
  const { claims, entry } = event();
  const leaves = [...LEAVES.slice(0, 3), Buffer.from(entry.entry_hash, "base64url")];
  const note = `${textOf(4, leaves)}\n${LOG.line(textOf(4, leaves))}`;
  const lines = path(3, leaves).map((hash) => hash.toString("base64"));
  const answer = { entry, proof: ["c2sp.org/tlog-proof@v1", "index 3", ...lines, "", note].join("\n") };
  const proven = await verifyReceiptProof(claims, answer, { keys: [LOG.text] });
  assert.deepEqual([proven.index, proven.log.size, proven.entry.facts], [3, 4, entry.facts]);
  const erased = { ...entry, facts: {}, salt: "" };
  assert.equal(readEntry(erased).facts, null);
  await refused(() => verifyReceiptProof(claims, { ...answer, entry: erased }, { keys: [LOG.text] }), "facts");
});

test("facts are gone from a history where an entry says so", async () => {
  const chainWith = (ranges) => {
    let before = "";
    return ["denied", "denied", "erased"].map((kind, index) => {
      const facts = kind === "erased" ? { ranges } : { request_id: `req_${index}` };
      const facts_hash = b64(sha256(sha256("salt"), canonical(facts)));
      const links = { v: 2, chain: "chn_a", sequence: index + 1, prev_hash: before, kind, actor: "person", at: "2026-11-20T10:00:00Z", facts_hash };
      before = b64(sha256(canonical(links)));
      return { ...links, entry_hash: before, ...(kind === "erased" ? { facts, salt: b64(sha256("salt")) } : { facts: {}, salt: "" }) };
    });
  };
  for (const ranges of [[[1, 2]], [[2, 2], [1, 1]]]) assert.deepEqual(readChain(chainWith(ranges)).map(({ facts }) => facts), [null, null, { ranges }]);
  for (const ranges of [[[2, 2]], [[1, 1]], [[1, 3]], [[true, 2]], "all"]) await refused(async () => readChain(chainWith(ranges)), "facts");
});

/** Changes of who watches, all in one checkpoint, which both of them cosigned. */
function changesOf(...named) {
  const entries = named.map(([sequence, witness, chain = "chn_d"]) => {
    const [facts, salt] = [{ witnesses: [witness.text], quorum: 1 }, sha256(`salt ${sequence}`)];
    const links = { v: 2, chain, sequence, prev_hash: "", kind: "witnesses", actor: "system", at: "2026-11-20T10:00:00Z" };
    const facts_hash = b64(sha256(salt, canonical(facts)));
    return { ...links, facts_hash, entry_hash: b64(sha256(canonical({ ...links, facts_hash }))), facts, salt: b64(salt) };
  });
  const leaves = entries.map(({ entry_hash }) => Buffer.from(entry_hash, "base64url"));
  const text = textOf(leaves.length, leaves);
  const note = `${text}\n${LOG.line(text)}${[FORMER, LATTER].map((witness) => witness.cosign(text, 1)).join("")}`;
  return entries.map((entry, index) => {
    const hashes = path(index, leaves).map((hash) => hash.toString("base64"));
    return { entry, proof: ["c2sp.org/tlog-proof@v1", `index ${index}`, ...hashes, "", note].join("\n") };
  });
}
const [FORMER, LATTER] = [new Signer("witness.example/former", 4), new Signer("witness.example/latter", 4)];

test("witnesses are followed in the order of the chain alone", async () => {
  const from = async (known, changes) => {
    const { witnesses } = await withFollowingWitnesses({ keys: [LOG.key], earlier: [], witnesses: [known.key], quorum: 1 }, changes, async () => true);
    return witnesses.map(({ name }) => name);
  };
  const changes = changesOf([1, FORMER], [4, LATTER], [9, FORMER]);
  const [first, second, third] = changes;
  assert.deepEqual(await from(FORMER, [first, second]), [LATTER.name]);
  assert.deepEqual(await from(LATTER, changes), [FORMER.name]);
  for (const misordered of [[second, first], [first, second, first], [first, third, second, first], [first, second, third, third]]) {
    assert.deepEqual(await from(LATTER, misordered), [LATTER.name]);
  }
  assert.deepEqual(await from(FORMER, [first, second, second]), [FORMER.name]);
  assert.deepEqual(await from(FORMER, changesOf([1, FORMER], [4, LATTER, "chn_e"])), [FORMER.name]);
});

test("witnesses who had to go are not brought back by a list without its end", async () => {
  const follow = (trust, changes) => withFollowingWitnesses(trust, changes, async () => true);
  const [first, second, third, fourth] = changesOf([1, FORMER], [4, LATTER], [9, FORMER], [12, LATTER]);
  const former = { keys: [LOG.key], earlier: [], witnesses: [FORMER.key], quorum: 1 };
  const latter = await follow(await follow(former, [first, second, third]), [first, second, third, fourth]);
  assert.deepEqual([latter.witnesses, latter.named], [[LATTER.key], fourth.entry.entry_hash]);
  for (const truncated of [[first, second, third], [second, third], [first], []]) assert.equal(await follow(latter, truncated), latter);
  const [, , , , fifth] = changesOf([1, FORMER], [4, LATTER], [9, FORMER], [12, LATTER], [15, FORMER]);
  assert.deepEqual((await follow(latter, [fourth, fifth])).witnesses, [FORMER.key]);
  const unwatched = { ...latter, witnesses: [], quorum: 0 };
  assert.equal(await follow(unwatched, [first, second, third, fourth]), unwatched);
});
