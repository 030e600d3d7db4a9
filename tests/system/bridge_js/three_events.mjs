// Prints the id of each event until three have come, over as many connections as it takes.

import { Client } from "../../../bridge-js/src/index.js";

const client = new Client(`${process.env.SERVICE}/api/v1`, process.env.TOKEN);
let count = 0;
for await (const event of client.events({ lastEventId: 0 })) {
  console.log(event.id);
  if (++count === 3) break;
}
