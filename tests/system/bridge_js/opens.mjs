// Opens the exports of a file, one after the other with the same pins, and prints what became of each: its data, or the
// member for which it was refused.

import { readFileSync } from "node:fs";
import { KeyPins, openEnvelope, Refused } from "../../../bridge-js/src/index.js";

const { made_request: madeRequest, key, pins: stored, envelopes } = JSON.parse(readFileSync(process.argv[2], "utf8"));

const outcomes = {};
for (const [name, { envelope, known }] of Object.entries(envelopes)) {
  const pins = new KeyPins(known ? stored : {});
  try {
    outcomes[name] = (await openEnvelope(envelope, madeRequest, key, { pins })).data;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    outcomes[name] = error.reset ? "reset" : error.member;
  }
}
console.log(JSON.stringify(outcomes));
