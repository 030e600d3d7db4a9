// One look of the Node client at a log, as the environment asks for it; prints what was found, or what was refused.

import { BridgeError, Client, LogReader, Refused } from "../../../bridge-js/src/index.js";

const { SERVICE, TOKEN, QUESTION } = process.env;
const { wish, memory, trust, receiptId, history, origin } = JSON.parse(QUESTION);
const options = { logMemory: memory, logTrust: trust };
const client = new Client(`${SERVICE}/api/v1`, TOKEN, options);

const WISHES = {
  follow: () => client.followLog(),
  accept: () => client.acceptLogEpoch(origin),
  receipt: () => client.receiptWithProof(receiptId),
  history: () => new LogReader(`${SERVICE}/api/v1`, options).verifyHistory(history),
};

try {
  console.log(JSON.stringify({ found: await WISHES[wish]() }));
} catch (error) {
  if (!(error instanceof BridgeError)) throw error;
  console.log(JSON.stringify({ refused: [error.name, error instanceof Refused ? error.member : null, error.message] }));
}
