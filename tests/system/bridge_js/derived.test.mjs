// Answers in place of values: where they stand in a segment, and that their size tells nothing of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTimed, knownAnswers, repeatedAnswers, withAnswers, withGiven } from "../../../bridge-js/src/formats/derived.js";
import { acceptedAnswers, definitionsOf, sealExport } from "../../../bridge-js/src/formats/exports.js";
import { generateConnectorKey, publicHalf } from "../../../bridge-js/src/index.js";

const PATH = "identity.basic.age_over_18";
const ADULT = { from: "identity.basic.birth_date", rule: { kind: "at_least", of: "age", value: 18 }, rule_version: 1 };
const NOW = "2026-11-28T12:00:00Z";
const basic = (values) => [{ domain: "identity", segment_id: "basic", content_revision: 3, values }];

test("an answer stands beside its source and takes the place of a value of its name", () => {
  const [found] = withAnswers(basic({ birth_date: "1990-05-17", age_over_18: "as I like" }), { [PATH]: ADULT }, NOW);
  assert.deepEqual(found, basic({ birth_date: "1990-05-17", age_over_18: true })[0]);
});

test("without a source, or with a definition that is none, there is no answer", () => {
  for (const made of [{ ...ADULT, from: "contact.email.email" }, { ...ADULT, from: [ADULT.from] }, null, {}]) {
    const derived = { [PATH]: made };
    assert.deepEqual(withAnswers(basic({ age_over_18: 1, birth_date: "1990-05-17" }), derived, NOW)[0].values, { birth_date: "1990-05-17" });
  }
  assert.deepEqual(withAnswers(basic({ age_over_18: 1 }), undefined, NOW)[0].values, { age_over_18: 1 });
});

test("a later version of a rule cannot be said", () => {
  for (const rule_version of [2, true, "1", null]) {
    const [found] = withAnswers(basic({ birth_date: "1990-05-17" }), { [PATH]: { ...ADULT, rule_version } }, NOW);
    assert.equal(found.values.age_over_18, "cannot_say");
  }
});

test("of the definitions those are kept that were approved", () => {
  assert.deepEqual(definitionsOf({ [PATH]: ADULT, "identity.basic.x": ADULT }, [PATH]), { [PATH]: ADULT });
  assert.equal(definitionsOf({ [PATH]: ADULT }, []), undefined);
  assert.equal(definitionsOf(undefined, [PATH]), undefined);
});

test("what is accepted in place of a value is made from that value", () => {
  const request = { accepts: { "identity.basic.birth_date": [PATH] }, derived: { [PATH]: ADULT } };
  assert.deepEqual(acceptedAnswers(request), [PATH]);
  assert.throws(() => acceptedAnswers({ ...request, accepts: { "identity.basic.age": [PATH] } }), /is not made from identity.basic.age/);
});

const BIRTH = "identity.basic.birth_date";
const GIVEN = { app_a: { [BIRTH]: { [PATH]: [true, "2026-11", "6KYbXSDS"] } } }; // as in test_derived.py

test("a vault remembers what an app was answered", () => {
  const data = { identity: { basic: { age_over_18: true, full_name: "Zoe" } } };
  const given = withGiven(undefined, "app_a", { derived: { [PATH]: ADULT, "identity.basic.other": ADULT }, data }, NOW);
  assert.deepEqual(given, GIVEN);
  const bracket = { ...ADULT, rule: { kind: "bracket", of: "age", bounds: [18] } };
  const more = withGiven(given, "app_a", { derived: { "identity.basic.bracket": bracket }, data: { identity: { basic: { bracket: "18+" } } } }, NOW);
  assert.deepEqual(knownAnswers(more, "app_a", [BIRTH, "a.b.c"]), { [PATH]: true, "identity.basic.bracket": "18+" });
  for (const [notes, app] of [[more, "app_b"], [more, "constructor"], [undefined, "app_a"]]) assert.deepEqual(knownAnswers(notes, app, [BIRTH]), {});
});

test("an answer is repeated within its month where it is made the same way", () => {
  const rules = { [PATH]: ADULT, "identity.basic.x": null };
  assert.deepEqual(repeatedAnswers(GIVEN, "app_a", rules, "2026-11-01T00:00:00Z"), { [PATH]: true });
  const another = { [PATH]: { ...ADULT, rule: { kind: "is_set" } } };
  for (const [app, derived, at] of [["app_a", rules, "2026-12-01T00:00:00Z"], ["app_b", rules, NOW], ["app_a", another, NOW]]) {
    assert.deepEqual(repeatedAnswers(GIVEN, app, derived, at), {});
  }
  const [found] = withAnswers(basic({ birth_date: "2020-05-17" }), { [PATH]: ADULT }, NOW, { [PATH]: true });
  assert.deepEqual(found.values, { birth_date: "2020-05-17", age_over_18: true });
});

test("an age changes by itself", () => {
  assert.equal(isTimed(ADULT), true);
  for (const other of [null, {}, { rule: 7 }, { ...ADULT, rule: { ...ADULT.rule, of: "number" } }]) assert.equal(isTimed(other), false);
});

test("the size of an export tells nothing of the answer, whatever else is in it", async () => {
  const key = await publicHalf(await generateConnectorKey());
  const members = { kid: "k", iss: "https://a.example", sub: "usr_a", aud: "app_a", request_id: "req_a", scope: "attr.identity.*", revision: 1, request_digest: "A".repeat(43) };
  for (let beside = 0; beside < 256; beside++) {
    const sizes = await Promise.all([true, false, "cannot_say"].map(async (age_over_18) => {
      const data = { identity: { basic: { full_name: "x".repeat(beside), age_over_18 } } };
      const content = { scope: members.scope, approved_attributes: [PATH, "identity.basic.full_name"], data, sources: [], sealed_at: "2026-11-28T12:00:00Z", derived: { [PATH]: ADULT } };
      return (await sealExport(content, members, key)).length;
    }));
    assert.equal(new Set(sizes).size, 1, `${beside} bytes beside it: ${sizes}`);
  }
});
