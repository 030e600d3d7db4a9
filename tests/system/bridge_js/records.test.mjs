// What a vault remembers of its own approvals, by the steps that the Python client is held to as well.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { recordOf, withoutRecords, withRecord } from "../../../bridge-js/src/formats/records.js";

const { requests, steps } = JSON.parse(readFileSync(new URL("../../vectors/records.json", import.meta.url), "utf8"));
const approved = ({ attributes, ends_at, revision, approval_sha256 }) => ({ attributes, endsAt: ends_at, revision, approvalSha256: approval_sha256 });

/** @type {any} */
let records;
for (const step of steps) {
  test(`a step leaves ${step.does}`, () => {
    if ("end" in step) {
      records = withoutRecords(records, step.end, step.now);
    } else {
      const [name, expected] = step.add;
      const { request, digest } = requests[name];
      const add = () => withRecord(records, request, digest, approved(expected), step.now);
      if (step.refused) assert.throws(add, (error) => error.member === step.refused && error.reason === "request_changed");
      else records = add();
    }
    if (step.leaves) assert.deepEqual(records, step.leaves);
    for (const [name, expected] of Object.entries(step.reads ?? {})) {
      const { request, digest } = requests[name];
      assert.deepEqual(recordOf(records, request, digest), expected && approved(expected), name);
    }
  });
}

test("a vault remembers nothing where it has no records, whatever an app is called", () => {
  const { request, digest } = requests.food;
  assert.equal(recordOf(undefined, request, digest), null);
  assert.equal(recordOf({}, { ...request, app_id: "constructor" }, digest), null);
  assert.deepEqual(withoutRecords(undefined, [], 1000), {});
});
